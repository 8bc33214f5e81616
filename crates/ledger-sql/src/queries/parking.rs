//! Puts tickets aside, and makes way for those that are settled after all.

use super::db::{Transaction, params};
use seckill_ledger::Parking;
use seckill_sale::{Delivery, EpochMs, Ticket};

use super::dialect;
use super::errors::Stop;
use super::rows::{small, units};

/// What is kept of a reason, in characters.
const REASON_LENGTH_MAX: usize = 500;

pub(super) fn short(reason: &str) -> String {
    reason.chars().take(REASON_LENGTH_MAX).collect()
}

/// The three columns that name a ticket. A sequence is kept as its 64 bits, so that every ticket can be parked.
pub(super) fn ticket_key(ticket: Ticket) -> [i64; 3] {
    let activity = small(ticket.activity.get());
    [activity, small(ticket.epoch.get()), ticket.sequence.cast_signed()]
}

/// Parks one ticket, unless it has a final result or is parked. Its record is written where one can be: the user has none yet and the
/// sequence is one that a record may have.
pub(super) fn park(transaction: &Transaction<'_>, parking: &Parking, now: EpochMs) -> Result<(), Stop> {
    let delivery = &parking.delivery;
    dialect::lock_sale(transaction, delivery.ticket.activity)?;
    let [activity, epoch, sequence] = ticket_key(delivery.ticket);
    let reason = short(&parking.reason);
    let mut statement = transaction.prepare_cached(
        "SELECT 1 FROM records WHERE activity_id = ?1 AND user_id = ?2 AND epoch = ?3 AND sequence = ?4
         UNION ALL SELECT 1 FROM dead_letters
         WHERE activity_id = ?1 AND sequence = ?4 AND epoch = ?3 AND state IN ('parked', 'discarded')",
    )?;
    if statement.exists(params![activity, delivery.user.as_str(), epoch, sequence])? {
        return Ok(());
    }
    if 0 < sequence {
        let mut statement = transaction.prepare_cached(
            "INSERT INTO records (activity_id, user_id, epoch, sequence, quantity, request_key, accepted_at, state, reason)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8) ON CONFLICT (activity_id, user_id) DO NOTHING",
        )?;
        statement.execute(params![
            activity,
            delivery.user.as_str(),
            epoch,
            sequence,
            units(delivery.quantity),
            delivery.key.0,
            delivery.accepted_at.0,
            reason,
        ])?;
    }
    let mut statement = transaction.prepare_cached(
        "INSERT INTO dead_letters (activity_id, epoch, sequence, user_id, quantity, request_id, attempts, reason, state, parked_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'parked', ?9)",
    )?;
    statement.execute(params![
        activity,
        epoch,
        sequence,
        delivery.user.as_str(),
        units(delivery.quantity),
        delivery.request_id.as_str(),
        delivery.attempts,
        reason,
        now.0,
    ])?;
    Ok(())
}

/// Removes the parked record of a ticket that is being settled after all, and takes its letter off the operator's list.
pub(super) fn make_way(transaction: &Transaction<'_>, delivery: &Delivery) -> Result<(), Stop> {
    unpark(transaction, delivery.ticket, delivery.user.as_str())?;
    let mut statement = transaction.prepare_cached(
        "UPDATE dead_letters SET state = 'retried'
         WHERE activity_id = ?1 AND epoch = ?2 AND sequence = ?3 AND state = 'parked'",
    )?;
    statement.execute(ticket_key(delivery.ticket))?;
    Ok(())
}

pub(super) fn unpark(transaction: &Transaction<'_>, ticket: Ticket, user: &str) -> Result<(), Stop> {
    let [activity, epoch, sequence] = ticket_key(ticket);
    let mut statement = transaction.prepare_cached(
        "DELETE FROM records WHERE activity_id = ?1 AND user_id = ?2 AND epoch = ?3 AND sequence = ?4 AND state = 0",
    )?;
    statement.execute(params![activity, user, epoch, sequence])?;
    Ok(())
}
