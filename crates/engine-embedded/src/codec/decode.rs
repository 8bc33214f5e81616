//! Bytes to records.

use seckill_sale::{ActivityId, Claimed, Event, Opened};

use super::input::{Decoded, Input};
use super::{DecodeError, Record, kind};

/// Reads all records of a payload.
///
/// # Errors
/// [`DecodeError`] where the bytes are not records of this version.
pub(crate) fn decode_all(payload: &[u8], mut visit: impl FnMut(Record)) -> Decoded<()> {
    let mut input = Input::new(payload);
    while !input.is_empty() {
        visit(decode(&mut input)?);
    }
    Ok(())
}

fn decode(input: &mut Input<'_>) -> Decoded<Record> {
    let kind = input.byte()?;
    if kind == kind::ACKNOWLEDGED {
        return Ok(Record::Acknowledged(input.number()?));
    }
    if kind == kind::SWITCHED {
        return Ok(Record::Switched(input.text()?.to_owned()));
    }
    if kind == kind::PERMITTED {
        return Ok(Record::Permitted(input.permitted()?));
    }
    let activity = ActivityId::new(input.number()?).map_err(|_| DecodeError("activity id"))?;
    let event = match kind {
        kind::BUILT => return Ok(Record::Built(activity)),
        kind::FORGOTTEN => return Ok(Record::Forgotten(activity)),
        kind::OPENED | kind::OPENED_OF => Event::Opened(Opened {
            terms: input.terms(activity, kind == kind::OPENED_OF)?,
            epoch: input.epoch()?,
            left: input.number()?,
            next_sequence: input.number()?,
            applied_movement: input.number()?,
        }),
        kind::RESTORED => Event::Restored(Box::new(input.restored()?)),
        kind::CLAIMED => Event::Claimed(Claimed {
            sequence: input.number()?,
            user: input.user()?,
            key: input.key()?,
            quantity: input.quantity()?,
            accepted_at: input.time()?,
            request_id: input.request_id()?,
        }),
        kind::CONCLUDED => Event::Concluded {
            sequence: input.number()?,
            conclusion: input.conclusion()?,
        },
        kind::RETRIED => Event::Retried {
            sequence: input.number()?,
            attempts: input.small()?,
            not_before: input.time()?,
        },
        kind::BURIED => Event::Buried {
            sequence: input.number()?,
            reason: input.text()?.to_owned(),
        },
        kind::REVIVED => Event::Revived {
            sequence: input.number()?,
        },
        kind::REQUEUED => Event::Requeued { user: input.user()? },
        kind::MOVED => Event::Moved {
            movement: input.number()?,
            delta: input.signed()?,
        },
        kind::CHANGED | kind::CHANGED_OF => Event::Changed(input.terms(activity, kind == kind::CHANGED_OF)?),
        kind::REBASED => Event::Rebased {
            epoch: input.epoch()?,
            left: input.number()?,
            applied_movement: input.number()?,
        },
        kind::ERASED => Event::Erased { user: input.user()? },
        kind::HELD => Event::Held(input.hold()?),
        kind::RELEASED => Event::Released,
        _ => return Err(DecodeError("unknown kind")),
    };
    Ok(Record::Event(activity, event))
}
