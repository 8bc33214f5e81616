//! Orders after they were written: reading, cancelling, expiring. Paying is in `payments.rs`.

use std::collections::BTreeMap;

use async_trait::async_trait;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use seckill_ledger::{
    Cancelled, Conflict, Error, Expired, Order, OrderFilter, Orders, Page, PageRequest, PaidOutcome, Payment,
    UnitsOnCancel,
};
use seckill_sale::{
    ActivityId, Currency, EpochMs, OrderEvent, OrderNo, OrderState, Refund, RefundState, Transition, UserId,
};

use super::errors::{Stop, found};
use super::pages::{limit, number_cursor, page};
use super::rows::{
    SqlResult, maybe_moment, moment, number, order_state, order_state_number, small, text, unsigned, user,
};
use super::threads::Lane;
use super::{Sqlite, payments, stock};

/// An order with what it has to pay back, and the number that pages go by.
const ORDER: &str =
    "SELECT o.order_no, o.activity_id, o.product_id, o.user_id, o.quantity, o.price_cents, o.amount_cents,
    o.currency, o.state, o.created_at, o.pay_deadline, o.paid_at, o.ended_at,
    (SELECT sum(r.amount_cents) FROM refunds r WHERE r.order_no = o.order_no),
    EXISTS (SELECT 1 FROM refunds r WHERE r.order_no = o.order_no AND r.state = 'required'), o.id
    FROM orders o";

fn read_order(row: &Row<'_>) -> SqlResult<Order> {
    let owed: Option<i64> = row.get(13)?;
    let state = if row.get(14)? {
        RefundState::Required
    } else {
        RefundState::Done
    };
    Ok(Order {
        order_no: text(row, 0, str::parse)?,
        activity: number(row, 1)?,
        product_id: number(row, 2)?,
        user: user(row, 3)?,
        quantity: number(row, 4)?,
        price: number(row, 5)?,
        amount_cents: unsigned(row, 6)?,
        currency: text(row, 7, Currency::new)?,
        state: order_state(row.get(8)?)?,
        created_at: moment(row, 9)?,
        pay_deadline: moment(row, 10)?,
        paid_at: maybe_moment(row, 11)?,
        ended_at: maybe_moment(row, 12)?,
        refund: owed.map(|amount| Refund {
            state,
            amount_cents: amount.cast_unsigned(),
        }),
    })
}

/// An order; another user's is no order.
pub(super) fn order(transaction: &Transaction<'_>, order_no: OrderNo, user: Option<&UserId>) -> Result<Order, Stop> {
    let mut statement = transaction.prepare_cached(&format!("{ORDER} WHERE o.order_no = ?1"))?;
    let order = found(statement.query_row([order_no.to_string()], read_order), "order")?;
    if user.is_some_and(|user| *user != order.user) {
        return Err(Error::NotFound("order").into());
    }
    Ok(order)
}

/// Ends or pays a pending order; whoever comes second finds another state and changes nothing.
pub(super) fn leave_pending(
    transaction: &Transaction<'_>,
    order_no: OrderNo,
    to: OrderState,
    now: EpochMs,
) -> Result<(), Stop> {
    let paid_at = (to == OrderState::Paid).then_some(now.0);
    let ended_at = (to != OrderState::Paid).then_some(now.0);
    let mut statement = transaction.prepare_cached(
        "UPDATE orders SET state = ?2, paid_at = ?3, ended_at = ?4 WHERE order_no = ?1 AND state = 0",
    )?;
    let changed = statement.execute(params![order_no.to_string(), order_state_number(to), paid_at, ended_at])?;
    match changed {
        1 => Ok(()),
        _ => Err(Error::Outage("the order changed under its lock".to_owned()).into()),
    }
}

/// The word of a state in which something else was wanted.
const fn word(state: OrderState) -> &'static str {
    match state {
        OrderState::PendingPayment => "waiting for payment",
        OrderState::Paid => "paid",
        OrderState::Cancelled => "cancelled",
        OrderState::Expired => "expired",
    }
}

fn cancel(
    transaction: &Transaction<'_>,
    order_no: OrderNo,
    user: &UserId,
    now: EpochMs,
    on_cancel: UnitsOnCancel,
) -> Result<Cancelled, Stop> {
    let before = order(transaction, order_no, Some(user))?;
    match before.state.on(OrderEvent::Cancelled) {
        Transition::Unchanged => Ok(Cancelled {
            order: before,
            movement: None,
        }),
        Transition::To(state) => {
            leave_pending(transaction, order_no, state, now)?;
            let units = before.quantity.get();
            let movement = stock::return_cancelled(transaction, before.activity, units, now, on_cancel)?;
            Ok(Cancelled {
                order: order(transaction, order_no, Some(user))?,
                movement: Some(movement),
            })
        }
        Transition::RefundRequired | Transition::Conflict => Err(Conflict::OrderState(word(before.state)).into()),
    }
}

fn expire_due(
    transaction: &Transaction<'_>,
    now: EpochMs,
    limit: u32,
    on_cancel: UnitsOnCancel,
) -> Result<Expired, Stop> {
    // The literal state is what lets SQLite use the index of pending orders.
    let mut statement = transaction.prepare_cached(
        "UPDATE orders SET state = 3, ended_at = ?1 WHERE id IN (
            SELECT id FROM orders WHERE state = 0 AND pay_deadline <= ?1 ORDER BY pay_deadline, id LIMIT ?2
         ) RETURNING activity_id, quantity",
    )?;
    let mut rows = statement.query(params![now.0, limit])?;
    let mut expired = Expired::default();
    let mut units: BTreeMap<ActivityId, u64> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        expired.orders += 1;
        *units.entry(number(row, 0)?).or_default() += unsigned(row, 1)?;
    }
    for (activity, units) in units {
        let movement = stock::return_cancelled(transaction, activity, units, now, on_cancel)?;
        expired.movements.push(movement);
    }
    Ok(expired)
}

/// Newest first. Each filter has its index; a user has few orders.
fn orders(transaction: &Transaction<'_>, filter: &OrderFilter, request: &PageRequest) -> Result<Page<Order>, Stop> {
    let mut sql = format!("{ORDER} WHERE o.id < ?1");
    if filter.activity.is_some() {
        sql.push_str(" AND o.activity_id = ?3");
    }
    if filter.user.is_some() {
        sql.push_str(" AND o.user_id = ?4");
    }
    sql.push_str(" ORDER BY o.id DESC LIMIT ?2");
    let mut statement = transaction.prepare_cached(&sql)?;
    let below = number_cursor(request, i64::MAX)?;
    let mut bind = |at: usize, value: &dyn rusqlite::ToSql| statement.raw_bind_parameter(at, value);
    bind(1, &below)?;
    bind(2, &limit(request))?;
    if let Some(activity) = filter.activity {
        bind(3, &small(activity.get()))?;
    }
    if let Some(user) = &filter.user {
        bind(4, &user.as_str())?;
    }
    let numbered = |row: &Row<'_>| Ok((read_order(row)?, row.get::<_, i64>(15)?));
    let rows = statement.raw_query().mapped(numbered).collect::<SqlResult<Vec<_>>>()?;
    let Page { rows, next } = page(request, rows, |(_, id)| id.to_string());
    Ok(Page {
        rows: rows.into_iter().map(|(order, _)| order).collect(),
        next,
    })
}

#[async_trait]
impl Orders for Sqlite {
    async fn order(&self, order_no: OrderNo, user: Option<UserId>) -> Result<Order, Error> {
        self.read(move |transaction| order(transaction, order_no, user.as_ref()))
            .await
    }

    async fn orders(&self, filter: OrderFilter, request: PageRequest) -> Result<Page<Order>, Error> {
        self.read(move |transaction| orders(transaction, &filter, &request))
            .await
    }

    async fn pay(&self, payment: Payment, on_cancel: UnitsOnCancel) -> Result<PaidOutcome, Error> {
        self.write(Lane::Person, move |transaction| {
            payments::pay(transaction, &payment, on_cancel)
        })
        .await
    }

    async fn cancel(
        &self,
        order_no: OrderNo,
        user: &UserId,
        now: EpochMs,
        on_cancel: UnitsOnCancel,
    ) -> Result<Cancelled, Error> {
        let user = user.clone();
        self.write(Lane::Person, move |transaction| {
            cancel(transaction, order_no, &user, now, on_cancel)
        })
        .await
    }

    async fn expire_due(&self, now: EpochMs, limit: u32, on_cancel: UnitsOnCancel) -> Result<Expired, Error> {
        self.write(Lane::Batch, move |transaction| {
            expire_due(transaction, now, limit, on_cancel)
        })
        .await
    }

    async fn next_deadline(&self) -> Result<Option<EpochMs>, Error> {
        self.read(|transaction| {
            let sql = "SELECT pay_deadline FROM orders WHERE state = 0 ORDER BY pay_deadline LIMIT 1";
            let mut statement = transaction.prepare_cached(sql)?;
            Ok(statement.query_row([], |row| moment(row, 0)).optional()?)
        })
        .await
    }

    async fn refunds_required(&self) -> Result<u64, Error> {
        self.read(|transaction| {
            let sql = "SELECT count(*) FROM refunds WHERE state = 'required'";
            Ok(transaction.prepare_cached(sql)?.query_row([], |row| unsigned(row, 0))?)
        })
        .await
    }
}
