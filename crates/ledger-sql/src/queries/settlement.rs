//! Tickets become orders: one transaction a batch.

use std::collections::HashMap;

use super::db::{Transaction, params};
use async_trait::async_trait;
use seckill_ledger::{Error, LedgerRecord, MovementKind, Page, PageRequest, SettleBatch, Settled, Settlement, Tally};
use seckill_sale::{ActivityId, Delivery, Epoch, FailureReason, Ticket, UserId};

use super::dialect;
use super::errors::Stop;
use super::inserts::{Binder, ORDERS, RECORDS, RECORDS_OF};
use super::offer::{Offer, offer};
use super::rows::{record_state, signed, small, ticket, units, user};
use super::{Database, Lane, activities, parking, records, stock, tally};
use crate::settle_plan::{Known, Plan, SaleLock, plan};

/// How a batch is settled besides the ordinary way.
#[derive(Default)]
struct Rule {
    /// The state that handed its tickets out; none: whichever.
    epoch: Option<Epoch>,
    /// Whether no ticket gets a unit.
    without_units: bool,
}

/// Where batches of one sale are written side by side, rows come first and the stock row, which they all want, is locked at the end:
/// unique keys keep a ticket from being written twice, and the guard keeps units from being sold twice. Whatever is not plain then is
/// undone and done again with the lock first. A newer state is begun under the same lock, so the epoch is checked under it, too.
fn settle(transaction: &Transaction<'_>, batch: &SettleBatch, rule: &Rule) -> Result<Settled, Stop> {
    let lock = match rule.without_units {
        true => SaleLock::First,
        false => dialect::sale_lock(transaction),
    };
    if lock == SaleLock::First {
        dialect::lock_sale(transaction, batch.activity)?;
        check(transaction, batch, rule)?;
    }
    let offer = offer(transaction, batch.activity)?;
    offer.check_sale(batch.created_at)?;
    let known = match lock {
        SaleLock::Last if batch.tickets.iter().all(|delivery| delivery.deliveries < 2) => HashMap::new(),
        SaleLock::First | SaleLock::Last => known(transaction, batch)?,
    };
    let available = if rule.without_units { 0 } else { offer.available };
    let mut plan = plan(&batch.tickets, known, available);
    if lock == SaleLock::Last {
        if !(plan.parked.is_empty() && plan.oversold.is_empty()) {
            return Err(dialect::overtaken());
        }
        // In one order everywhere: batches with the same tickets wait for each other, and not in a circle.
        plan.sold
            .sort_unstable_by(|&one, &other| batch.tickets[one].user.cmp(&batch.tickets[other].user));
    }
    for &place in &plan.parked {
        parking::make_way(transaction, &batch.tickets[place])?;
    }
    insert_orders(transaction, batch, &plan, &offer)?;
    insert_records(transaction, batch, &plan.sold, 1, None)?;
    let oversold = Some(FailureReason::StoreOversold);
    insert_records(transaction, batch, &plan.oversold, 2, oversold)?;
    if !rule.without_units {
        follow_the_store(transaction, batch, &plan.again)?;
    }
    if 0 < plan.units_sold {
        let version = (lock == SaleLock::First).then_some(offer.version);
        if !stock::take_settled(transaction, batch.activity, plan.units_sold, version)? {
            return Err(dialect::overtaken());
        }
        let (kind, units) = (MovementKind::Settled, plan.units_sold);
        stock::note_movement(transaction, batch.activity, kind, units, batch.now)?;
    }
    if lock == SaleLock::Last && rule.epoch.is_some() {
        if plan.units_sold == 0 {
            dialect::lock_sale(transaction, batch.activity)?;
        }
        check(transaction, batch, rule)?;
    }
    Ok(Settled {
        batch: dialect::count_batch(transaction)?,
        results: plan.results,
        orders_written: plan.sold.len() as u64,
    })
}

/// Refuses tickets of an older state than the newest that was begun; to be called with the stock row locked.
fn check(transaction: &Transaction<'_>, batch: &SettleBatch, rule: &Rule) -> Result<(), Stop> {
    match rule.epoch {
        Some(epoch) => activities::check_epoch(transaction, batch.activity, epoch),
        None => Ok(()),
    }
}

/// The records of the batch's users.
fn known<'a>(transaction: &Transaction<'_>, batch: &'a SettleBatch) -> Result<HashMap<&'a UserId, Known>, Stop> {
    // Keyed by the batch's own copies of the users, which outlive the plan.
    let mut found: Vec<(UserId, Known)> = Vec::new();
    RECORDS_OF.each(transaction, &batch.tickets, |statement, slice| {
        statement.raw_bind_parameter(1, small(batch.activity.get()))?;
        for (place, delivery) in slice.iter().enumerate() {
            statement.raw_bind_parameter(place + 2, delivery.user.as_str())?;
        }
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let reason = row.get_ref(5)?.as_str_or_null().ok().flatten();
            let state = record_state(row.get(4)?, reason)?;
            found.push((
                user(row, 0)?,
                Known {
                    ticket: ticket(row, 1)?,
                    state,
                },
            ));
        }
        Ok(())
    })?;
    if found.is_empty() {
        return Ok(HashMap::with_capacity(batch.tickets.len()));
    }
    let found: HashMap<UserId, Known> = found.into_iter().collect();
    let known = batch.tickets.iter();
    Ok(known
        .filter_map(|delivery| found.get(&delivery.user).map(|known| (&delivery.user, *known)))
        .collect())
}

fn insert_orders(transaction: &Transaction<'_>, batch: &SettleBatch, plan: &Plan, offer: &Offer) -> Result<(), Stop> {
    ORDERS.each(transaction, &plan.sold, |statement, places| {
        let mut binder = Binder::new(statement);
        binder.bind(small(batch.activity.get()))?;
        binder.bind(small(offer.product.get()))?;
        binder.bind(small(offer.price.cents()))?;
        binder.bind(offer.currency.as_str())?;
        binder.bind(batch.now.0)?;
        binder.bind(batch.now.plus(batch.pay_within_ms).0)?;
        for delivery in places.iter().map(|&place| &batch.tickets[place]) {
            binder.bind(delivery.ticket.order_no().to_string())?;
            binder.bind(delivery.user.as_str())?;
            binder.bind(units(delivery.quantity))?;
            binder.bind(small(offer.price.amount_cents(delivery.quantity)))?;
        }
        binder.execute()
    })
}

fn insert_records(
    transaction: &Transaction<'_>,
    batch: &SettleBatch,
    places: &[usize],
    state: i64,
    reason: Option<FailureReason>,
) -> Result<(), Stop> {
    RECORDS.each(transaction, places, |statement, places| {
        let mut binder = Binder::new(statement);
        binder.bind(small(batch.activity.get()))?;
        binder.bind(state)?;
        binder.bind(reason.map(FailureReason::as_str))?;
        for delivery in places.iter().map(|&place| &batch.tickets[place]) {
            bind_record(&mut binder, delivery)?;
        }
        binder.execute()
    })
}

/// A buyer has one record, and here it is of a ticket that failed before the store admitted him again: what failed is what the store has of
/// him. Otherwise the two would differ by the units that he wanted more or less the second time.
fn follow_the_store(transaction: &Transaction<'_>, batch: &SettleBatch, places: &[usize]) -> Result<(), Stop> {
    for delivery in places.iter().map(|&place| &batch.tickets[place]) {
        let mut statement = transaction.prepare_cached(
            "UPDATE records SET quantity = ?3 WHERE activity_id = ?1 AND user_id = ?2 AND state = 2 AND quantity <> ?3",
        )?;
        let activity = small(batch.activity.get());
        statement.execute(params![activity, delivery.user.as_str(), units(delivery.quantity)])?;
    }
    Ok(())
}

fn bind_record(binder: &mut Binder<'_, '_>, delivery: &Delivery) -> Result<(), Stop> {
    binder.bind(delivery.user.as_str())?;
    binder.bind(small(delivery.ticket.epoch.get()))?;
    binder.bind(signed("sequence", delivery.ticket.sequence)?)?;
    binder.bind(units(delivery.quantity))?;
    binder.bind(&delivery.key.0[..])?;
    binder.bind(delivery.accepted_at.0)
}

impl Database {
    async fn settle_by(&self, batch: SettleBatch, rule: Rule) -> Result<Settled, Error> {
        self.write(Lane::Sale(batch.activity), move |transaction| {
            settle(transaction, &batch, &rule)
        })
        .await
    }
}

#[async_trait]
impl Settlement for Database {
    async fn settle(&self, batch: SettleBatch) -> Result<Settled, Error> {
        self.settle_by(batch, Rule::default()).await
    }

    async fn settle_of(&self, epoch: Epoch, batch: SettleBatch) -> Result<Settled, Error> {
        let rule = Rule {
            epoch: Some(epoch),
            without_units: false,
        };
        self.settle_by(batch, rule).await
    }

    async fn fail_of(&self, epoch: Epoch, batch: SettleBatch) -> Result<Settled, Error> {
        let rule = Rule {
            epoch: Some(epoch),
            without_units: true,
        };
        self.settle_by(batch, rule).await
    }

    async fn record(&self, activity: ActivityId, user: &UserId) -> Result<Option<LedgerRecord>, Error> {
        let user = user.clone();
        self.read(move |transaction| records::record(transaction, activity, &user))
            .await
    }

    async fn records(&self, activity: ActivityId, request: PageRequest) -> Result<Page<LedgerRecord>, Error> {
        self.read(move |transaction| records::page_of_records(transaction, activity, &request))
            .await
    }

    async fn records_of(&self, activity: ActivityId, users: Vec<UserId>) -> Result<Vec<LedgerRecord>, Error> {
        self.read(move |transaction| {
            let records = users.iter().map(|user| records::record(transaction, activity, user));
            records.filter_map(Result::transpose).collect()
        })
        .await
    }

    async fn newest_ticket(&self, activity: ActivityId) -> Result<Option<Ticket>, Error> {
        self.read(move |transaction| records::newest_ticket(transaction, activity))
            .await
    }

    async fn tally(&self, activity: ActivityId) -> Result<Tally, Error> {
        self.read(move |transaction| tally::tally(transaction, activity)).await
    }
}
