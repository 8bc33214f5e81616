//! Records to bytes.

use seckill_sale::{
    ActivityId, Conclusion, EpochMs, Event, FailureReason, RequestId, Restored, Status, Terms, TicketState, UnitTo,
};

use super::{Record, kind};

/// Appends a record to `out`.
pub(crate) fn encode(out: &mut Vec<u8>, record: &Record) {
    match record {
        Record::Event(activity, event) => encode_event(out, *activity, event),
        Record::Built(activity) => start(out, kind::BUILT, *activity),
        Record::Forgotten(activity) => start(out, kind::FORGOTTEN, *activity),
        Record::Acknowledged(batch) => {
            out.push(kind::ACKNOWLEDGED);
            put(out, *batch);
        }
        Record::Switched(switches) => {
            out.push(kind::SWITCHED);
            put_text(out, switches);
        }
        Record::Permitted(permitted) => {
            out.push(kind::PERMITTED);
            out.extend_from_slice(&permitted.key);
            put(out, u64::from(permitted.taken));
            put_time(out, permitted.until);
            put_time(out, permitted.at);
        }
    }
}

/// Appends an event of a sale to `out`.
pub(crate) fn encode_event(out: &mut Vec<u8>, activity: ActivityId, event: &Event) {
    match event {
        Event::Opened(opened) => {
            put_start_and_terms(out, [kind::OPENED, kind::OPENED_OF], &opened.terms, activity);
            put(out, opened.epoch.get());
            put(out, opened.left);
            put(out, opened.next_sequence);
            put(out, opened.applied_movement);
        }
        Event::Restored(restored) => {
            start(out, kind::RESTORED, activity);
            put_restored(out, restored);
        }
        Event::Claimed(claimed) => {
            start(out, kind::CLAIMED, activity);
            put(out, claimed.sequence);
            put_text(out, claimed.user.as_str());
            out.extend_from_slice(&claimed.key.0);
            put(out, claimed.quantity.get());
            put_time(out, claimed.accepted_at);
            put_text(out, claimed.request_id.as_str());
        }
        Event::Concluded { sequence, conclusion } => {
            start(out, kind::CONCLUDED, activity);
            put(out, *sequence);
            out.push(conclusion_byte(*conclusion));
        }
        Event::Retried {
            sequence,
            attempts,
            not_before,
        } => {
            start(out, kind::RETRIED, activity);
            put(out, *sequence);
            put(out, u64::from(*attempts));
            put_time(out, *not_before);
        }
        _ => encode_small_event(out, activity, event),
    }
}

/// The events that are a number or two.
fn encode_small_event(out: &mut Vec<u8>, activity: ActivityId, event: &Event) {
    match event {
        Event::Buried { sequence, reason } => {
            start(out, kind::BURIED, activity);
            put(out, *sequence);
            put_text(out, reason);
        }
        Event::Revived { sequence } => {
            start(out, kind::REVIVED, activity);
            put(out, *sequence);
        }
        Event::Requeued { user } => {
            start(out, kind::REQUEUED, activity);
            put_text(out, user.as_str());
        }
        Event::Moved { movement, delta } => {
            start(out, kind::MOVED, activity);
            put(out, *movement);
            put_signed(out, *delta);
        }
        Event::Changed(terms) => {
            put_start_and_terms(out, [kind::CHANGED, kind::CHANGED_OF], terms, activity);
        }
        Event::Rebased {
            epoch,
            left,
            applied_movement,
        } => {
            start(out, kind::REBASED, activity);
            put(out, epoch.get());
            put(out, *left);
            put(out, *applied_movement);
        }
        Event::Erased { user } => {
            start(out, kind::ERASED, activity);
            put_text(out, user.as_str());
        }
        Event::Held(hold) => {
            start(out, kind::HELD, activity);
            put_time(out, hold.held_at);
            out.push(u8::from(hold.resumes_at.is_some()));
            put_time(out, hold.resumes_at.unwrap_or_default());
        }
        Event::Released => start(out, kind::RELEASED, activity),
        Event::Opened(_) | Event::Restored(_) | Event::Claimed(_) | Event::Concluded { .. } | Event::Retried { .. } => {
            unreachable!("encoded by the caller")
        }
    }
}

fn start(out: &mut Vec<u8>, kind: u8, activity: ActivityId) {
    out.push(kind);
    put(out, activity.get());
}

/// LEB128: seven bits a byte, lowest first.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while 0x80 <= number {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Zigzag: small magnitudes stay short.
fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

fn put_time(out: &mut Vec<u8>, at: EpochMs) {
    put_signed(out, at.0);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// The first kind where nobody knows when the sale was created.
fn put_start_and_terms(out: &mut Vec<u8>, [without, with]: [u8; 2], terms: &Terms, activity: ActivityId) {
    start(out, if terms.created_at.is_some() { with } else { without }, activity);
    put_terms(out, terms);
    if let Some(created_at) = terms.created_at {
        put_time(out, created_at);
    }
}

fn put_terms(out: &mut Vec<u8>, terms: &Terms) {
    put_time(out, terms.window.starts_at);
    put_time(out, terms.window.ends_at);
    put(out, terms.per_user_limit.get());
    out.push(match terms.status {
        Status::Draft => 0,
        Status::Running => 1,
        Status::Paused => 2,
        Status::Closed => 3,
    });
}

fn put_restored(out: &mut Vec<u8>, restored: &Restored) {
    put_text(out, restored.user.as_str());
    out.extend_from_slice(&restored.key.0);
    put(out, restored.quantity.get());
    put(out, restored.sequence);
    put(out, restored.epoch.get());
    put_time(out, restored.accepted_at);
    out.push(match restored.state {
        TicketState::Queued => 0,
        TicketState::Dead => 1,
        TicketState::Succeeded => 2,
        TicketState::Failed(reason) => 3 + reason_byte(reason),
    });
    put(out, u64::from(restored.attempts));
    put_text(out, restored.request_id.as_ref().map_or("", RequestId::as_str));
    put_text(out, &restored.dead_reason);
}

const fn reason_byte(reason: FailureReason) -> u8 {
    match reason {
        FailureReason::StoreOversold => 0,
        FailureReason::Discarded => 1,
    }
}

fn conclusion_byte(conclusion: Conclusion) -> u8 {
    match conclusion {
        Conclusion::Succeeded => 0,
        Conclusion::Failed { reason, unit_to } => {
            let unit = match unit_to {
                None => 0,
                Some(UnitTo::Sale) => 1,
                Some(UnitTo::Product) => 2,
            };
            1 + reason_byte(reason) * 3 + unit
        }
    }
}
