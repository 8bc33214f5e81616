//! Settlement, with poisoned tickets and the planted faults that concern what is written.

use async_trait::async_trait;
use rusqlite::Connection;
use seckill_ledger::{
    Conflict, Error, LedgerRecord, Page, PageRequest, SettleBatch, Settled, Settlement, Tally, TicketResult,
};
use seckill_sale::{ActivityId, Epoch, Ticket, UserId};

use super::SimLedger;
use crate::fault::Fault;
use crate::weather::Poison;

impl SimLedger {
    fn poisoned(&self, batch: &SettleBatch) -> Result<(), Error> {
        let mut poisons = batch
            .tickets
            .iter()
            .filter_map(|delivery| self.weather.poison_of(delivery.user.as_str()));
        match poisons.next() {
            None => Ok(()),
            Some(Poison::Row) => Err(Error::Rejected("a simulated bad row".to_owned())),
            Some(Poison::Attempts) => Err(Conflict::StaleVersion.into()),
        }
    }

    async fn settle_with_faults(&self, batch: SettleBatch) -> Result<Settled, Error> {
        if self.weather.strikes(Fault::BatchLost, 4) {
            return Ok(Settled {
                batch: 0,
                results: vec![TicketResult::Succeeded; batch.tickets.len()],
                orders_written: batch.tickets.len() as u64,
            });
        }
        let activity = i64::try_from(batch.activity.get()).expect("a small number");
        if self.weather.has(Fault::GuardSkipped) {
            let units: u64 = batch.tickets.iter().map(|delivery| delivery.quantity.get()).sum();
            self.by_hand(|connection| without_guard(connection, activity, units));
        }
        if self.weather.has(Fault::DeliveredTwice) {
            for delivery in &batch.tickets {
                self.by_hand(|connection| forget_record(connection, activity, delivery.user.as_str()));
            }
        }
        let settled = self.inner.settle(batch).await?;
        if self.weather.has(Fault::GuardSkipped) {
            self.by_hand(|connection| as_if_counted(connection, activity));
        }
        if settled.orders_written != 0 && self.weather.strikes(Fault::MovementMissing, 3) {
            let sql = "DELETE FROM stock_movements
                WHERE id = (SELECT max(id) FROM stock_movements WHERE activity_id = ?1 AND kind = 'settled')";
            self.by_hand(|connection| connection.execute(sql, [activity]));
        }
        if settled.orders_written != 0 && self.weather.strikes(Fault::WrongPrice, 3) {
            let sql = "UPDATE orders SET price_cents = price_cents + 1, amount_cents = (price_cents + 1) * quantity
                WHERE id = (SELECT max(id) FROM orders WHERE activity_id = ?1)";
            self.by_hand(|connection| connection.execute(sql, [activity]));
        }
        Ok(settled)
    }
}

/// As if the stock row had no guard: it always has as many units as are wanted.
fn without_guard(connection: &Connection, activity: i64, units: u64) -> rusqlite::Result<()> {
    let units = i64::try_from(units).expect("a small number");
    connection.pragma_update(None, "ignore_check_constraints", true)?;
    let sql = "UPDATE stock SET available = max(available, ?2) WHERE activity_id = ?1";
    connection.execute(sql, [activity, units]).map(drop)
}

/// Leaves the row as one that was counted down to nothing, and no further.
fn as_if_counted(connection: &Connection, activity: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE stock SET available = max(0, total
        - (SELECT coalesce(sum(quantity), 0) FROM orders WHERE activity_id = ?1 AND state IN (0, 1))
        - (SELECT coalesce(sum(units), 0) FROM stock_movements WHERE activity_id = ?1
            AND kind IN ('unsold_returned', 'failed_to_product', 'cancelled_to_product'))) WHERE activity_id = ?1";
    connection.execute(sql, [activity]).map(drop)
}

/// As if the ledger did not look whether it has settled a ticket before.
fn forget_record(connection: &Connection, activity: i64, user: &str) -> rusqlite::Result<()> {
    let sql = "DELETE FROM records WHERE activity_id = ?1 AND user_id = ?2";
    connection.execute(sql, (activity, user)).map(drop)
}

/// Makes the empty table of orders anew, without what is unique in it.
pub(crate) fn drop_unique(connection: &Connection) -> rusqlite::Result<()> {
    let sql: String = connection.query_row("SELECT sql FROM sqlite_schema WHERE name = 'orders'", [], |row| {
        row.get(0)
    })?;
    let is_unique = |line: &&str| line.contains(" UNIQUE (");
    let without: Vec<&str> = sql.lines().filter(|line| !is_unique(line)).collect();
    // Payments refer to the number that is no longer unique.
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.execute_batch(&format!("DROP TABLE orders; {}", without.join("\n")))
}

#[async_trait]
impl Settlement for SimLedger {
    async fn settle(&self, batch: SettleBatch) -> Result<Settled, Error> {
        self.poisoned(&batch)?;
        self.call(self.settle_with_faults(batch)).await
    }

    async fn settle_of(&self, epoch: Epoch, batch: SettleBatch) -> Result<Settled, Error> {
        self.call(self.inner.settle_of(epoch, batch)).await
    }

    async fn fail_of(&self, epoch: Epoch, batch: SettleBatch) -> Result<Settled, Error> {
        self.call(self.inner.fail_of(epoch, batch)).await
    }

    async fn record(&self, activity: ActivityId, user: &UserId) -> Result<Option<LedgerRecord>, Error> {
        self.call(self.inner.record(activity, user)).await
    }

    async fn records(&self, activity: ActivityId, page: PageRequest) -> Result<Page<LedgerRecord>, Error> {
        self.call(self.inner.records(activity, page)).await
    }

    async fn records_of(&self, activity: ActivityId, users: Vec<UserId>) -> Result<Vec<LedgerRecord>, Error> {
        self.call(self.inner.records_of(activity, users)).await
    }

    async fn newest_ticket(&self, activity: ActivityId) -> Result<Option<Ticket>, Error> {
        self.call(self.inner.newest_ticket(activity)).await
    }

    async fn tally(&self, activity: ActivityId) -> Result<Tally, Error> {
        self.call(self.inner.tally(activity)).await
    }
}
