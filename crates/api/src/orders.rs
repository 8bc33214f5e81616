//! A buyer's own orders: read, pay by the built-in sandbox, give up. Somebody else's order is not there for him.

use axum::extract::{Query, Request};
use http::request::Parts;
use seckill_gate::Identified;
use seckill_ledger::{Order, OrderFilter, PageRequest, PaidOutcome};
use seckill_sale::{ActivityId, Code, OrderNo, OrderState, Refusal, UserId};
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::call::Call;
use crate::error::Error;
use crate::extract;
use crate::order_view::OrderView;
use crate::path;

/// Orders of a page, where the query says nothing, and at the most.
const LIMIT_DEFAULT: u32 = 20;
const LIMIT_MAX: u32 = 100;
/// Longest cursor that is handed on, in characters.
const CURSOR_LENGTH_MAX: usize = 256;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    limit: Option<u32>,
    cursor: Option<String>,
    activity_id: Option<u64>,
}

#[derive(Serialize)]
struct OrderList {
    orders: Vec<OrderView>,
    /// Cursor of the next page; null at the end.
    next_cursor: Option<String>,
}

/// Nothing is to be said about a payment or a cancellation.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// The buyer's orders, newest first.
pub(crate) async fn list(call: Call, head: Parts) -> Result<Answer, Error> {
    let user = call.reader(&head.headers)?.into_user();
    let (filter, page) = wanted(&head, user)?;
    let page = call
        .shared()
        .ledger()
        .orders(filter, page)
        .await
        .map_err(|error| match error {
            // The only thing of a caller's in this question is the cursor.
            seckill_ledger::Error::Rejected(_) => Error::Malformed("the cursor is not one of this list".into()),
            error => error.into(),
        })?;
    Ok(Answer::fine(&OrderList {
        orders: page.rows.iter().map(OrderView::new).collect(),
        next_cursor: page.next,
    }))
}

fn wanted(head: &Parts, user: UserId) -> Result<(OrderFilter, PageRequest), Error> {
    let Query(query) = Query::<ListQuery>::try_from_uri(&head.uri)
        .map_err(|_| Error::Malformed("the query takes limit, cursor and activity_id".into()))?;
    let limit = query.limit.unwrap_or(LIMIT_DEFAULT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(Error::Malformed("limit must be from 1 to 100".into()));
    }
    if query
        .cursor
        .as_ref()
        .is_some_and(|cursor| CURSOR_LENGTH_MAX < cursor.len())
    {
        return Err(Error::Malformed("the cursor is not one of this list".into()));
    }
    let activity = query.activity_id.map(ActivityId::new).transpose();
    let filter = OrderFilter {
        activity: activity.map_err(|error| Error::Malformed(error.to_string().into()))?,
        user: Some(user),
    };
    let page = PageRequest {
        cursor: query.cursor,
        limit,
    };
    Ok((filter, page))
}

/// One order.
pub(crate) async fn one(call: Call, head: Parts) -> Result<Answer, Error> {
    let user = call.reader(&head.headers)?.into_user();
    let order_no = path::order_no(path::segment(head.uri.path(), 2))?;
    let order = call.shared().ledger().order(order_no, Some(user)).await?;
    Ok(Answer::fine(&OrderView::new(&order)))
}

/// Pays an order without a provider, where the settings allow it.
pub(crate) async fn pay(call: Call, request: Request) -> Result<Answer, Error> {
    let (user, order_no) = own_order(&call, request).await?;
    let shared = call.shared();
    let order = shared.ledger().order(order_no, Some(user.clone())).await?;
    if !shared.settings.sandbox_payments {
        return Err(Error::Conflict(
            "orders are paid at the payment provider; the sandbox is off".into(),
        ));
    }
    let now = shared.stock.now();
    let late = order.state == OrderState::PendingPayment && order.pay_deadline <= now;
    if late || matches!(order.state, OrderState::Cancelled | OrderState::Expired) {
        return Ok(conflict(&order));
    }
    match shared.operator.pay_in_sandbox(order_no, user, now).await? {
        PaidOutcome::Paid(order) => Ok(Answer::fine(&OrderView::new(&order))),
        // It ended while it was being paid.
        PaidOutcome::RefundRequired(order) => Ok(conflict(&order)),
    }
}

/// Gives a pending order up.
pub(crate) async fn cancel(call: Call, request: Request) -> Result<Answer, Error> {
    let (user, order_no) = own_order(&call, request).await?;
    let cancelled = call.shared().operator.cancel(order_no, &user, call.moment.now).await?;
    Ok(Answer::fine(&OrderView::new(&cancelled.order)))
}

/// Who writes, and to which order, in the order of the refusals.
async fn own_order(call: &Call, request: Request) -> Result<(UserId, OrderNo), Error> {
    let (head, body) = request.into_parts();
    let user = call.reader(&head.headers).map(Identified::into_user)?;
    let Nothing {} = extract::optional_json(call, &head.headers, body).await?;
    let order_no = path::order_no(path::segment(head.uri.path(), 2))?;
    writable(call)?;
    Ok((user, order_no))
}

/// Whether anything may be changed now.
pub(crate) fn writable(call: &Call) -> Result<(), Refusal> {
    if call.shared().gate.switches().read_only {
        return Err(Refusal::Paused { resumes_at: None });
    }
    Ok(())
}

fn conflict(order: &Order) -> Answer {
    Answer::error(Code::Conflict).data(&OrderView::new(order))
}
