//! Orders after they were written: reading. They end in `endings.rs` and are paid in `payments.rs`.

use super::db::{OptionalExtension as _, Row, Transaction};
use async_trait::async_trait;
use seckill_ledger::{
    Cancelled, Error, Expired, Order, OrderFilter, Orders, Page, PageRequest, PaidOutcome, Payment, UnitsOnCancel,
};
use seckill_sale::{Currency, EpochMs, OrderNo, Refund, RefundState, UserId};

use super::endings::{cancel, expire_due};
use super::errors::{Stop, found};
use super::pages::{limit, number_cursor, page};
use super::rows::{SqlResult, maybe_moment, moment, number, order_state, small, text, unsigned, user};
use super::{Database, Lane, payments};

/// An order with what it has to pay back, and the number that pages go by.
const ORDER: &str =
    "SELECT o.order_no, o.activity_id, o.product_id, o.user_id, o.quantity, o.price_cents, o.amount_cents,
    o.currency, o.state, o.created_at, o.pay_deadline, o.paid_at, o.ended_at,
    (SELECT CAST(sum(r.amount_cents) AS BIGINT) FROM refunds r WHERE r.order_no = o.order_no),
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
    let mut bind = |at: usize, value: &dyn super::db::ToSql| statement.raw_bind_parameter(at, value);
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
impl Orders for Database {
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
