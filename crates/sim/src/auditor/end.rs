//! The last audit: all has healed, every worker is idle, nothing waits. Store, ledger and what people were told must say the same.

use std::collections::BTreeMap;

use super::commits::{FAILED, LIVE, PARKED, SUCCEEDED};
use super::history::{End, Progress};
use super::order_number::order_number;
use super::rows::RETURNS;
use super::{Auditor, Books, TicketNumber};

/// A buyer as the store answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoreBuyer {
    pub(crate) user: String,
    pub(crate) ticket: TicketNumber,
    pub(crate) key: Vec<u8>,
    pub(crate) quantity: i64,
    /// `queued`, `dead`, `succeeded`, or the reason of a failure.
    pub(crate) state: &'static str,
}

/// A sale as the store answers, with the results that its buyers are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SaleAtEnd {
    pub(crate) left: i64,
    pub(crate) accepted: i64,
    pub(crate) queued: i64,
    pub(crate) dead: i64,
    pub(crate) applied_movement: i64,
    pub(crate) buyers: Vec<StoreBuyer>,
}

impl Auditor {
    /// The database is an older copy of itself. What people were told stays.
    pub(crate) fn database_restored(&mut self, books: Books) {
        self.books = books;
    }

    /// What the store says of a sale; none where it has no state of it.
    pub(crate) fn at_end(&mut self, activity: i64, sale: Option<&SaleAtEnd>) {
        self.check_tickets(activity);
        let never_opened = || !self.holdings.keys().any(|holder| holder.0 == activity);
        let Some(store) = sale else {
            let closed = self.books.activities[&activity].1 == "closed";
            let fine = closed || never_opened();
            self.check(fine, "the store keeps a sale until it is closed", || {
                format!("activity {activity}")
            });
            return;
        };
        self.check_store(activity, store);
        self.check_buyers(activity, store);
    }

    /// Every ticket that somebody was told of has ended once, or is parked.
    fn check_tickets(&mut self, activity: i64) {
        let books = self.books.clone();
        let holdings = self.holdings.clone();
        for (holder, held) in holdings.iter().filter(|(holder, _)| holder.0 == activity) {
            let record = books.records.get(holder);
            let whole = record.is_some_and(|record| {
                let same = record.ticket == held.ticket && record.quantity == held.quantity;
                same && record.key == held.key
            });
            self.check(whole, "every accepted ticket ends", || {
                format!("{holder:?} holds {held:?}: {record:?}")
            });
            let number = order_number(held.ticket);
            let orders = books.orders.values().filter(|order| order.order_no == number).count();
            let letters = books.letters.values();
            let parked = letters
                .filter(|one| one.ticket == held.ticket && one.state == "parked")
                .count();
            let wanted = match record.map(|record| record.state) {
                Some(SUCCEEDED) => (1, 0),
                Some(PARKED) => (0, 1),
                _ => (0, 0),
            };
            let detail = || format!("{holder:?}, {held:?}: {record:?}, {orders} orders, {parked} letters");
            self.check((orders, parked) == wanted, "a ticket has one end", detail);
        }
        for (id, (units, told)) in self.sales[&activity].added.clone() {
            let movements = books.movements.values();
            let rows = movements.filter(|row| row.activity == activity && row.kind == "added");
            let count = rows.filter(|row| row.units == units).count();
            let keys = self.sales[&activity]
                .added
                .values()
                .filter(|one| one.0 == units)
                .count();
            let fine = count <= keys && (!told || 0 < count);
            self.check(fine, "units are added once by each key", || {
                format!("{id}: {units} units, {count} rows")
            });
        }
    }

    /// Units of the store against the rows.
    fn check_store(&mut self, activity: i64, store: &SaleAtEnd) {
        let books = &self.books;
        let stock = books.stock[&activity];
        let live = books.ordered(activity, &LIVE);
        let parked = books.recorded(activity, PARKED);
        let ended = books.recorded(activity, SUCCEEDED) + books.recorded(activity, FAILED);
        let returned = books.moved(activity, &RETURNS);
        let movements = books
            .movements
            .iter()
            .filter(|(_, row)| row.activity == activity && row.units != 0);
        let of_store = ["added", "unsold_returned", "cancelled_to_sale"];
        let last = movements
            .filter(|(_, row)| of_store.contains(&row.kind.as_str()))
            .map(|(id, _)| *id)
            .max();
        let detail =
            || format!("activity {activity}: {stock:?}, live {live}, parked {parked}, returned {returned}, {store:?}");
        let detail = detail();
        let shown = || detail.clone();
        self.check(store.queued == 0, "nothing waits when all is quiet", shown);
        self.check(store.dead == parked, "dead letters are the same on both sides", shown);
        let conserved = stock.total == store.left + store.queued + store.dead + live + returned;
        self.check(conserved, "units are conserved", shown);
        self.check(store.accepted == parked + ended, "every admission has a record", shown);
        let applied = last.is_none_or(|last| last <= store.applied_movement);
        self.check(applied, "every movement reaches the store", shown);
    }

    /// Buyers of the store against the rows, and against what they were told.
    fn check_buyers(&mut self, activity: i64, store: &SaleAtEnd) {
        let books = self.books.clone();
        let buyers: BTreeMap<_, _> = store.buyers.iter().map(|buyer| (buyer.user.clone(), buyer)).collect();
        let records = books.records.iter().filter(|(holder, _)| holder.0 == activity);
        let records: BTreeMap<_, _> = records.map(|((_, user), record)| (user.clone(), record)).collect();
        let same_people = buyers.keys().eq(records.keys());
        self.check(same_people, "every admission has a record", || {
            format!("activity {activity}: {:?} and {:?}", buyers.keys(), records.keys())
        });
        for (user, buyer) in &buyers {
            let Some(record) = records.get(user) else { continue };
            let state = match record.state {
                PARKED => "dead",
                SUCCEEDED => "succeeded",
                _ => record.reason.as_deref().unwrap_or("failed"),
            };
            let same = buyer.ticket == record.ticket && buyer.quantity == record.quantity;
            let same = same && buyer.key == record.key && buyer.state == state;
            self.check(same, "store and ledger know the same", || {
                format!("{buyer:?} and {record:?}")
            });
        }
    }

    /// What a buyer is told at the end.
    pub(crate) fn result_at_end(&mut self, activity: i64, user: &str, seen: Option<(TicketNumber, Progress)>) {
        let record = self.books.records.get(&(activity, user.to_owned())).cloned();
        let told = seen.as_ref().map(|(ticket, progress)| (*ticket, progress));
        let honest = match (&record, told) {
            (None, None) => true,
            (Some(record), Some((ticket, progress))) => {
                let end = match progress {
                    Progress::Queued { .. } => record.state == PARKED,
                    Progress::Ended(End::Succeeded { .. }) => record.state == SUCCEEDED,
                    Progress::Ended(End::Failed { .. }) => record.state == FAILED,
                };
                end && ticket == record.ticket
            }
            _ => false,
        };
        self.check(honest, "a result that is told stands in the ledger", || {
            format!("{user} in activity {activity} hears {seen:?}: {record:?}")
        });
        let began = self.looks();
        self.looked(activity, user, began, seen);
    }

    /// Everybody who was told what a payment did was told the truth.
    pub(crate) fn payments_at_end(&mut self) {
        for (id, paid) in self.payments.clone() {
            let row = self.books.payments.get(&id);
            let stands = row.is_some_and(|row| (row.outcome == "paid") == paid);
            let owed = paid || self.books.refunds.contains_key(&id);
            let detail = format!("{id}, told {paid}: {row:?}, refunds {:?}", self.books.refunds);
            self.check(stands && owed, "money is booked as its payer was told", || detail);
        }
    }

    /// Every holder of a ticket, by activity and user.
    pub(crate) fn holders(&self) -> Vec<(i64, String)> {
        self.holdings.keys().cloned().collect()
    }
}
