//! Texts in which the scripts keep buyers and tickets: fields parted by a space, none of which may hold one.

use seckill_sale::{
    Buyer, Delivery, Epoch, EpochMs, FailureReason, Quantity, RequestId, RequestKey, Restored, Ticket, TicketState,
    UserId,
};

use crate::keys::Place;

/// A request key as 32 hexadecimal digits.
pub(crate) fn key_text(key: RequestKey) -> String {
    format!("{:032x}", u128::from_be_bytes(key.0))
}

fn read_key(text: &str) -> Option<RequestKey> {
    let digits = text.as_bytes();
    if digits.len() != 32 {
        return None;
    }
    let mut key = [0; 16];
    for (byte, pair) in key.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(RequestKey(key))
}

pub(crate) const fn state_letter(state: TicketState) -> &'static str {
    match state {
        TicketState::Queued => "q",
        TicketState::Dead => "d",
        TicketState::Succeeded => "s",
        TicketState::Failed(FailureReason::StoreOversold) => "o",
        TicketState::Failed(FailureReason::Discarded) => "x",
    }
}

fn read_state(letter: &str) -> Option<TicketState> {
    let failed = FailureReason::ALL.map(TicketState::Failed);
    let states = [TicketState::Queued, TicketState::Dead, TicketState::Succeeded];
    states
        .into_iter()
        .chain(failed)
        .find(|&state| state_letter(state) == letter)
}

/// Reads a buyer's record: "key quantity sequence epoch accepted_at state". Sequences are the shard's own in all these texts.
pub(crate) fn read_buyer(place: Place, user: UserId, record: &str) -> Option<Buyer> {
    let mut fields = record.split(' ');
    Some(Buyer {
        user,
        key: read_key(fields.next()?)?,
        quantity: fields.next()?.parse().ok()?,
        ticket: Ticket {
            activity: place.activity,
            sequence: place.sequence(fields.next()?.parse().ok()?),
            epoch: fields.next()?.parse().ok()?,
        },
        accepted_at: EpochMs(fields.next()?.parse().ok()?),
        state: read_state(fields.next()?)?,
    })
}

/// Writes the record of a buyer who is put back; `nth` is his ticket's number in the shard.
pub(crate) fn restored_record(restored: &Restored, nth: u64) -> String {
    let Restored {
        key,
        quantity,
        epoch,
        accepted_at,
        state,
        ..
    } = restored;
    format!(
        "{} {quantity} {nth} {epoch} {accepted_at} {}",
        key_text(*key),
        state_letter(*state)
    )
}

/// Writes the ticket of a buyer who is put back.
pub(crate) fn restored_ticket(restored: &Restored) -> String {
    let Restored {
        user,
        key,
        quantity,
        epoch,
        accepted_at,
        attempts,
        sequence,
        ..
    } = restored;
    let request_id = restored
        .request_id
        .clone()
        .unwrap_or_else(|| RequestId::from_bits(*sequence));
    format!(
        "w {attempts} 0 {user} {quantity} {} {epoch} {accepted_at} {request_id}",
        key_text(*key)
    )
}

/// A ticket as scripts tell it: "user quantity key epoch accepted_at request_id", perhaps with a reason behind.
struct Written<'a> {
    user: UserId,
    quantity: Quantity,
    key: RequestKey,
    epoch: Epoch,
    accepted_at: EpochMs,
    request_id: RequestId,
    rest: &'a str,
}

fn read_ticket(text: &str) -> Option<Written<'_>> {
    let mut fields = text.splitn(7, ' ');
    Some(Written {
        user: UserId::new(fields.next()?).ok()?,
        quantity: fields.next()?.parse().ok()?,
        key: read_key(fields.next()?)?,
        epoch: fields.next()?.parse().ok()?,
        accepted_at: EpochMs(fields.next()?.parse().ok()?),
        request_id: RequestId::new(fields.next()?).ok()?,
        rest: fields.next().unwrap_or_default(),
    })
}

/// Reads what `take.lua` hands out: sequence, deliveries, attempts and the ticket.
pub(crate) fn read_delivery(place: Place, sequence: &str, deliveries: &str, ticket: &str) -> Option<Delivery> {
    let (attempts, ticket) = ticket.split_once(' ')?;
    let written = read_ticket(ticket)?;
    Some(Delivery {
        ticket: Ticket {
            activity: place.activity,
            epoch: written.epoch,
            sequence: place.sequence(sequence.parse().ok()?),
        },
        user: written.user,
        quantity: written.quantity,
        key: written.key,
        accepted_at: written.accepted_at,
        request_id: written.request_id,
        attempts: attempts.parse().ok()?,
        deliveries: deliveries.parse().ok()?,
    })
}

/// Reads a dead letter: its sequence, and its ticket with two counters before and the reason behind.
pub(crate) fn read_dead(place: Place, sequence: &str, ticket: &str) -> Option<(Buyer, String)> {
    let written = read_ticket(ticket.splitn(4, ' ').nth(3)?)?;
    let buyer = Buyer {
        user: written.user,
        ticket: Ticket {
            activity: place.activity,
            epoch: written.epoch,
            sequence: place.sequence(sequence.trim_start_matches('0').parse().ok()?),
        },
        quantity: written.quantity,
        key: written.key,
        accepted_at: written.accepted_at,
        state: TicketState::Dead,
    };
    Some((buyer, written.rest.to_owned()))
}
