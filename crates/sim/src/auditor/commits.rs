//! The rows after every commit: against themselves, against the rows before, and against what was asked.

use std::collections::BTreeSet;

use super::history::possible;
use super::order_number::order_number;
use super::rows::{OrderRow, RETURNS, RecordRow};
use super::{Auditor, Books};

/// States of an order row.
const PENDING: i64 = 0;
const PAID: i64 = 1;
const CANCELLED: i64 = 2;
const EXPIRED: i64 = 3;
pub(super) const LIVE: [i64; 2] = [PENDING, PAID];
pub(super) const ENDED: [i64; 2] = [CANCELLED, EXPIRED];

/// States of a record row.
pub(super) const PARKED: i64 = 0;
pub(super) const SUCCEEDED: i64 = 1;
pub(super) const FAILED: i64 = 2;

impl Auditor {
    /// Something was committed; gives the sales that are new.
    pub(crate) fn committed(&mut self, books: Books) -> Vec<i64> {
        let before = std::mem::replace(&mut self.books, books);
        let after = self.books.clone();
        let new = self.unknown_sales();
        self.check_rounds(&after);
        for activity in self.sales.keys().copied().collect::<Vec<_>>() {
            self.check_units(activity, &after);
        }
        self.check_products(&after);
        self.check_orders(&before, &after);
        self.check_records(&before, &after);
        self.check_histories(&before, &after);
        self.check_switches(&before, &after);
        new
    }

    /// Units of one sale, counted from rows in each way there is.
    fn check_units(&mut self, activity: i64, books: &Books) {
        let sale = &self.sales[&activity];
        let given = sale.units + sale.added.values().map(|(units, _)| units).sum::<i64>();
        let stock = books.stock[&activity];
        let live = books.ordered(activity, &LIVE);
        let ended = books.ordered(activity, &ENDED);
        let returned = books.moved(activity, &RETURNS);
        let detail = |what: &str| format!("activity {activity}: {what}; {stock:?}, live {live}, returned {returned}");
        self.check(live <= given && live + returned <= stock.total, "no oversell", || {
            detail(&format!("{given} were given"))
        });
        self.check(stock.total <= given, "nobody gives units but the operator", || {
            detail(&format!("{given} were given"))
        });
        let moved_in = books.moved(activity, &["created", "added"]);
        self.check(moved_in == stock.total, "every unit has a movement", || {
            detail(&format!("{moved_in} moved in"))
        });
        let settled = books.moved(activity, &["settled"]);
        self.check(settled == live + ended, "every unit has a movement", || {
            detail(&format!("{settled} settled, {ended} ended"))
        });
        let cancelled = books.moved(activity, &["cancelled_to_product", "cancelled_to_sale"]);
        self.check(cancelled == ended, "units come back once", || {
            detail(&format!("{cancelled} moved, {ended} ended"))
        });
        let failed = books.moved(activity, &["failed_to_product", "failed_to_sale"]);
        let discarded = books
            .letters
            .values()
            .filter(|one| one.ticket.activity == activity && one.unit_to.is_some());
        let discarded = discarded.map(|letter| letter.quantity).sum::<i64>();
        self.check(failed == discarded, "units come back once", || {
            detail(&format!("{failed} moved, {discarded} discarded"))
        });
        let kept = stock.available == stock.total - live - returned;
        self.check(kept, "units are conserved", || detail("available differs"));
    }

    fn check_products(&mut self, books: &Books) {
        for (product, units) in self.products.clone() {
            let sales = self.sales.iter().filter(|(_, sale)| sale.product == product);
            let out = sales
                .map(|(id, _)| books.stock[id].total - books.moved(*id, &RETURNS))
                .sum::<i64>();
            let left = books.products[&product];
            let detail = || format!("product {product} has {left} of {units}, {out} are out");
            self.check(left == units - out, "a product's units are conserved", detail);
        }
    }

    fn check_orders(&mut self, before: &Books, after: &Books) {
        let buyers: BTreeSet<_> = after
            .orders
            .values()
            .map(|order| (order.activity, &order.user))
            .collect();
        self.check(buyers.len() == after.orders.len(), "one order of a buyer", || {
            format!("{:?}", after.orders)
        });
        for (id, old) in &before.orders {
            let new = after.orders.get(id);
            let lawful = new.is_some_and(|new| may_follow(old, new));
            self.check(lawful, "an order ends once and is never changed", || {
                format!("{old:?} became {new:?}")
            });
        }
        for (id, order) in &after.orders {
            if before.orders.get(id) != Some(order) {
                self.check_order(order, after);
            }
        }
    }

    /// A new or changed order.
    fn check_order(&mut self, order: &OrderRow, books: &Books) {
        let sale = &self.sales[&order.activity];
        let fair = order.price == sale.price_cents && order.amount == order.price * order.quantity;
        let fair = fair && order.currency == "CNY";
        self.check(fair, "an order costs the sale's price by its quantity", || {
            format!("{order:?}")
        });
        let record = books.records.get(&(order.activity, order.user.clone()));
        let matched = record.is_some_and(|record| {
            let same = record.state == SUCCEEDED && record.quantity == order.quantity;
            same && order_number(record.ticket) == order.order_no
        });
        self.check(matched, "every order has the record of its ticket", || {
            format!("{order:?}: {record:?}")
        });
        let in_time = match order.state {
            PAID => order.paid_at.is_some_and(|at| at < order.pay_deadline),
            EXPIRED => order.ended_at.is_some_and(|at| order.pay_deadline <= at),
            _ => true,
        };
        self.check(
            in_time,
            "an order is paid before its deadline or expires after it",
            || format!("{order:?}"),
        );
        let pays = books
            .payments
            .values()
            .filter(|one| one.order_no == order.order_no && one.outcome == "paid");
        let pays = pays.map(|payment| payment.amount).collect::<Vec<_>>();
        let paid_right = match order.state {
            PAID => pays == [order.amount],
            _ => pays.is_empty(),
        };
        self.check(paid_right, "an order is paid once, by what it costs", || {
            format!("{order:?}: {pays:?}")
        });
    }

    fn check_records(&mut self, before: &Books, after: &Books) {
        for (holder, old) in &before.records {
            let new = after.records.get(holder);
            let lawful = match (old.state, new) {
                // A parked ticket may go back to the queue.
                (PARKED, None) => true,
                (PARKED, Some(new)) => new.ticket == old.ticket && new.quantity == old.quantity,
                (_, new) => new == Some(old),
            };
            self.check(lawful, "a final record stays", || {
                format!("{holder:?}: {old:?} became {new:?}")
            });
        }
        for (holder, record) in &after.records {
            if before.records.get(holder) != Some(record) {
                self.check_record(holder, record);
            }
        }
    }

    /// A new or changed record.
    fn check_record(&mut self, holder: &(i64, String), record: &RecordRow) {
        let (activity, user) = holder;
        let oversold = record.reason.as_deref() == Some("store_oversold");
        self.check(!oversold, "the store never admits more than the ledger has", || {
            format!("{holder:?}: {record:?}")
        });
        let asked = self.requests.iter().filter(|request| {
            let same = request.user == *user && request.key == record.key;
            same && request.activity == *activity && request.quantity == record.quantity
        });
        let Some(began) = asked.map(|request| request.span.began).min() else {
            self.fail("no ticket without a request", format!("{holder:?}: {record:?}"));
            return;
        };
        if let Some(held) = self.holdings.get(holder) {
            let same = held.ticket == record.ticket;
            let detail = format!("{holder:?} was told {held:?}, the ledger has {record:?}");
            self.check(same, "a buyer's ticket is the same for ever", || detail);
        }
        let told = self.holdings.get(holder).map(|held| held.accepted.1);
        let step = self.weather.step();
        let sale = &self.sales[activity];
        let last_end = possible(&sale.ends, began, told.unwrap_or(step))
            .copied()
            .max()
            .unwrap_or(i64::MIN);
        let within = sale.starts_at <= record.accepted_at && record.accepted_at < last_end;
        let window = (sale.starts_at, last_end);
        self.check(within, "admitted within the window only", || {
            format!("{holder:?}: {record:?}, {window:?}")
        });
        let shown = self.clock_between(began, told.unwrap_or(step));
        let true_moment = shown.0 <= record.accepted_at && record.accepted_at <= shown.1;
        self.check(true_moment, "a ticket carries the moment of its admission", || {
            format!("{record:?}: {shown:?}")
        });
    }

    /// Rows that are only ever added to.
    fn check_histories(&mut self, before: &Books, after: &Books) {
        let movements = before
            .movements
            .iter()
            .all(|(id, row)| after.movements.get(id) == Some(row));
        self.check(movements, "movements are never changed", || {
            format!("{:?}", after.movements)
        });
        let payments = before
            .payments
            .iter()
            .all(|(id, row)| after.payments.get(id) == Some(row));
        self.check(payments, "payments are never changed", || {
            format!("{:?}", after.payments)
        });
        let refunds = before.refunds.keys().all(|id| after.refunds.contains_key(id));
        self.check(refunds, "owed refunds are never forgotten", || {
            format!("{:?}", after.refunds)
        });
        let rises = before.settled_batch <= after.settled_batch;
        self.check(rises, "batches are counted up", || format!("{}", after.settled_batch));
        for (id, old) in &before.letters {
            let new = after.letters.get(id);
            let lawful = new.is_some_and(|new| new == old || (old.state == "parked" && new.ticket == old.ticket));
            self.check(lawful, "a dead letter is resolved once", || {
                format!("{old:?} became {new:?}")
            });
        }
    }
}

fn may_follow(old: &OrderRow, new: &OrderRow) -> bool {
    let lawful = old.state == new.state || old.state == PENDING;
    let unchanged = OrderRow {
        state: old.state,
        paid_at: old.paid_at,
        ended_at: old.ended_at,
        ..new.clone()
    };
    lawful && unchanged == *old
}
