//! Orders leave the state in which they wait for payment: cancelled, expired, or (by `payments.rs`) paid.

use std::collections::BTreeMap;

use super::db::{Transaction, params};
use seckill_ledger::{Cancelled, Conflict, Error, Expired, UnitsOnCancel};
use seckill_sale::{ActivityId, EpochMs, OrderEvent, OrderNo, OrderState, Transition, UserId};

use super::dialect;
use super::errors::Stop;
use super::orders::order;
use super::returns::return_cancelled;
use super::rows::{number, order_state_number, unsigned};

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

pub(super) fn cancel(
    transaction: &Transaction<'_>,
    order_no: OrderNo,
    user: &UserId,
    now: EpochMs,
    on_cancel: UnitsOnCancel,
) -> Result<Cancelled, Stop> {
    dialect::lock_order(transaction, order_no)?;
    let before = order(transaction, order_no, Some(user))?;
    match before.state.on(OrderEvent::Cancelled) {
        Transition::Unchanged => Ok(Cancelled {
            order: before,
            movement: None,
        }),
        Transition::To(state) => {
            leave_pending(transaction, order_no, state, now)?;
            let units = before.quantity.get();
            let movement = return_cancelled(transaction, before.activity, units, now, on_cancel)?;
            Ok(Cancelled {
                order: order(transaction, order_no, Some(user))?,
                movement: Some(movement),
            })
        }
        Transition::RefundRequired | Transition::Conflict => Err(Conflict::OrderState(word(before.state)).into()),
    }
}

pub(super) fn expire_due(
    transaction: &Transaction<'_>,
    now: EpochMs,
    limit: u32,
    on_cancel: UnitsOnCancel,
) -> Result<Expired, Stop> {
    let mut expired = Expired::default();
    let mut units: BTreeMap<ActivityId, u64> = BTreeMap::new();
    dialect::expire_orders(transaction, now, limit, |row| {
        expired.orders += 1;
        *units.entry(number(row, 0)?).or_default() += unsigned(row, 1)?;
        Ok(())
    })?;
    for (activity, units) in units {
        let movement = return_cancelled(transaction, activity, units, now, on_cancel)?;
        expired.movements.push(movement);
    }
    Ok(expired)
}
