//! Bytes to records.

use seckill_sale::{
    ActivityId, Claimed, Conclusion, Epoch, EpochMs, Event, FailureReason, Opened, Quantity, RequestId, RequestKey,
    Restored, Status, Terms, TicketState, UnitTo, UserId, Window,
};

use super::{DecodeError, Record, kind};

type Decoded<T> = Result<T, DecodeError>;

/// Reads all records of a payload.
///
/// # Errors
/// [`DecodeError`] where the bytes are not records of this version.
pub(crate) fn decode_all(payload: &[u8], mut visit: impl FnMut(Record)) -> Decoded<()> {
    let mut input = Input(payload);
    while !input.0.is_empty() {
        visit(decode(&mut input)?);
    }
    Ok(())
}

fn decode(input: &mut Input<'_>) -> Decoded<Record> {
    let kind = input.byte()?;
    if kind == kind::ACKNOWLEDGED {
        return Ok(Record::Acknowledged(input.number()?));
    }
    let activity = ActivityId::new(input.number()?).map_err(|_| DecodeError("activity id"))?;
    let event = match kind {
        kind::BUILT => return Ok(Record::Built(activity)),
        kind::FORGOTTEN => return Ok(Record::Forgotten(activity)),
        kind::OPENED => Event::Opened(Opened {
            terms: input.terms(activity)?,
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
        kind::CHANGED => Event::Changed(input.terms(activity)?),
        kind::REBASED => Event::Rebased {
            epoch: input.epoch()?,
            left: input.number()?,
            applied_movement: input.number()?,
        },
        kind::ERASED => Event::Erased { user: input.user()? },
        _ => return Err(DecodeError("unknown kind")),
    };
    Ok(Record::Event(activity, event))
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Decoded<u8> {
        let (&first, rest) = self.0.split_first().ok_or(DecodeError("cut short"))?;
        self.0 = rest;
        Ok(first)
    }

    fn bytes(&mut self, length: usize) -> Decoded<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(DecodeError("cut short"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Decoded<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(DecodeError("number too long"))
    }

    fn small(&mut self) -> Decoded<u32> {
        u32::try_from(self.number()?).map_err(|_| DecodeError("number too large"))
    }

    fn signed(&mut self) -> Decoded<i64> {
        let zigzag = self.number()?;
        Ok((zigzag >> 1).cast_signed() ^ -((zigzag & 1).cast_signed()))
    }

    fn time(&mut self) -> Decoded<EpochMs> {
        self.signed().map(EpochMs)
    }

    fn text(&mut self) -> Decoded<&'a str> {
        let length = usize::try_from(self.number()?).map_err(|_| DecodeError("text too long"))?;
        std::str::from_utf8(self.bytes(length)?).map_err(|_| DecodeError("text is not UTF-8"))
    }

    fn user(&mut self) -> Decoded<UserId> {
        UserId::new(self.text()?).map_err(|_| DecodeError("user id"))
    }

    fn request_id(&mut self) -> Decoded<RequestId> {
        RequestId::new(self.text()?).map_err(|_| DecodeError("request id"))
    }

    fn key(&mut self) -> Decoded<RequestKey> {
        let bytes = self.bytes(16)?.try_into().expect("sixteen bytes were taken");
        Ok(RequestKey(bytes))
    }

    fn quantity(&mut self) -> Decoded<Quantity> {
        Quantity::new(self.number()?).map_err(|_| DecodeError("quantity"))
    }

    fn epoch(&mut self) -> Decoded<Epoch> {
        Epoch::new(self.number()?).map_err(|_| DecodeError("epoch"))
    }

    fn terms(&mut self, activity: ActivityId) -> Decoded<Terms> {
        let window = Window {
            starts_at: self.time()?,
            ends_at: self.time()?,
        };
        let per_user_limit = self.quantity()?;
        let status = match self.byte()? {
            0 => Status::Draft,
            1 => Status::Running,
            2 => Status::Paused,
            3 => Status::Closed,
            _ => return Err(DecodeError("status")),
        };
        Ok(Terms {
            activity,
            window,
            per_user_limit,
            status,
        })
    }

    fn restored(&mut self) -> Decoded<Restored> {
        Ok(Restored {
            user: self.user()?,
            key: self.key()?,
            quantity: self.quantity()?,
            sequence: self.number()?,
            epoch: self.epoch()?,
            accepted_at: self.time()?,
            state: match self.byte()? {
                0 => TicketState::Queued,
                1 => TicketState::Dead,
                2 => TicketState::Succeeded,
                byte => TicketState::Failed(reason(byte - 3)?),
            },
            attempts: self.small()?,
            request_id: match self.text()? {
                "" => None,
                text => Some(RequestId::new(text).map_err(|_| DecodeError("request id"))?),
            },
            dead_reason: self.text()?.to_owned(),
        })
    }

    fn conclusion(&mut self) -> Decoded<Conclusion> {
        let Some(byte) = self.byte()?.checked_sub(1) else {
            return Ok(Conclusion::Succeeded);
        };
        let unit_to = match byte % 3 {
            0 => None,
            1 => Some(UnitTo::Sale),
            _ => Some(UnitTo::Product),
        };
        Ok(Conclusion::Failed {
            reason: reason(byte / 3)?,
            unit_to,
        })
    }
}

fn reason(byte: u8) -> Decoded<FailureReason> {
    match byte {
        0 => Ok(FailureReason::StoreOversold),
        1 => Ok(FailureReason::Discarded),
        _ => Err(DecodeError("failure reason")),
    }
}
