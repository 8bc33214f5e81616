//! Money that arrived. The provider's id makes it count once; an order is paid once, and only while it waits for payment.

use super::db::{OptionalExtension as _, Transaction, params};
use seckill_ledger::{Conflict, PaidOutcome, Payment, UnitsOnCancel};
use seckill_sale::{OrderEvent, OrderState, Transition};

use super::dialect;
use super::endings::leave_pending;
use super::errors::Stop;
use super::orders::order;
use super::returns::return_cancelled;
use super::rows::{signed, word, word_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Paid,
    RefundRequired,
}

const OUTCOMES: [(&str, Outcome); 2] = [("paid", Outcome::Paid), ("refund_required", Outcome::RefundRequired)];

pub(super) fn pay(
    transaction: &Transaction<'_>,
    payment: &Payment,
    on_cancel: UnitsOnCancel,
) -> Result<PaidOutcome, Stop> {
    dialect::lock_order(transaction, payment.order_no)?;
    let before = order(transaction, payment.order_no, payment.user.as_ref())?;
    if payment.currency != before.currency {
        return Err(Conflict::Payment("another currency").into());
    }
    if payment.amount_cents != before.amount_cents {
        return Err(Conflict::Payment("another amount").into());
    }
    let outcome = if let Some(outcome) = earlier(transaction, payment)? {
        outcome
    } else {
        let outcome = decide(transaction, payment, &before, on_cancel)?;
        note(transaction, payment, outcome)?;
        outcome
    };
    let after = order(transaction, payment.order_no, None)?;
    Ok(match outcome {
        Outcome::Paid => PaidOutcome::Paid(after),
        Outcome::RefundRequired => PaidOutcome::RefundRequired(after),
    })
}

/// What this same payment did when it came before.
fn earlier(transaction: &Transaction<'_>, payment: &Payment) -> Result<Option<Outcome>, Stop> {
    let mut statement = transaction.prepare_cached("SELECT order_no, outcome FROM payments WHERE id = ?1")?;
    let row = statement.query_row([&payment.id], |row| {
        Ok((row.get::<_, String>(0)?, word(row, 1, &OUTCOMES)?))
    });
    match row.optional()? {
        None => Ok(None),
        Some((order_no, outcome)) if order_no == payment.order_no.to_string() => Ok(Some(outcome)),
        Some(_) => Err(Conflict::Payment("its id was used for another order").into()),
    }
}

/// Changes a pending order: paid in time, else expired.
fn decide(
    transaction: &Transaction<'_>,
    payment: &Payment,
    before: &seckill_ledger::Order,
    on_cancel: UnitsOnCancel,
) -> Result<Outcome, Stop> {
    let now = payment.received_at;
    if before.state == OrderState::PendingPayment && before.pay_deadline <= now {
        leave_pending(transaction, before.order_no, OrderState::Expired, now)?;
        return_cancelled(transaction, before.activity, before.quantity.get(), now, on_cancel)?;
        return Ok(Outcome::RefundRequired);
    }
    match before.state.on(OrderEvent::Paid) {
        Transition::To(state) => {
            leave_pending(transaction, before.order_no, state, now)?;
            Ok(Outcome::Paid)
        }
        // Paid before by another payment, or ended.
        Transition::Unchanged | Transition::RefundRequired | Transition::Conflict => Ok(Outcome::RefundRequired),
    }
}

fn note(transaction: &Transaction<'_>, payment: &Payment, outcome: Outcome) -> Result<(), Stop> {
    let order_no = payment.order_no.to_string();
    let amount = signed("amount", payment.amount_cents)?;
    let mut statement = transaction.prepare_cached(
        "INSERT INTO payments (id, order_no, amount_cents, currency, outcome, received_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let outcome_word = word_of(&outcome, &OUTCOMES);
    statement.execute(params![
        payment.id,
        order_no,
        amount,
        payment.currency.as_str(),
        outcome_word,
        payment.received_at.0
    ])?;
    if outcome == Outcome::RefundRequired {
        let mut statement = transaction.prepare_cached(
            "INSERT INTO refunds (payment_id, order_no, amount_cents, state, required_at) VALUES (?1, ?2, ?3, 'required', ?4)",
        )?;
        statement.execute(params![payment.id, order_no, amount, payment.received_at.0])?;
    }
    Ok(())
}
