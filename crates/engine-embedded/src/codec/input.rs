//! The fields of records, read from the front of a payload.

use seckill_sale::{
    ActivityId, Conclusion, Epoch, EpochMs, FailureReason, Hold, Quantity, RequestId, RequestKey, Restored, Status,
    Terms, TicketState, UnitTo, UserId, Window,
};

use super::DecodeError;
use crate::permits::Permitted;

pub(super) type Decoded<T> = Result<T, DecodeError>;

/// What is left of a payload.
pub(super) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(super) const fn new(payload: &'a [u8]) -> Self {
        Self(payload)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn byte(&mut self) -> Decoded<u8> {
        let (&first, rest) = self.0.split_first().ok_or(DecodeError("cut short"))?;
        self.0 = rest;
        Ok(first)
    }

    fn bytes(&mut self, length: usize) -> Decoded<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(DecodeError("cut short"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn number(&mut self) -> Decoded<u64> {
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

    pub(super) fn small(&mut self) -> Decoded<u32> {
        u32::try_from(self.number()?).map_err(|_| DecodeError("number too large"))
    }

    pub(super) fn signed(&mut self) -> Decoded<i64> {
        let zigzag = self.number()?;
        Ok((zigzag >> 1).cast_signed() ^ -((zigzag & 1).cast_signed()))
    }

    pub(super) fn time(&mut self) -> Decoded<EpochMs> {
        self.signed().map(EpochMs)
    }

    pub(super) fn text(&mut self) -> Decoded<&'a str> {
        let length = usize::try_from(self.number()?).map_err(|_| DecodeError("text too long"))?;
        std::str::from_utf8(self.bytes(length)?).map_err(|_| DecodeError("text is not UTF-8"))
    }

    pub(super) fn user(&mut self) -> Decoded<UserId> {
        UserId::new(self.text()?).map_err(|_| DecodeError("user id"))
    }

    pub(super) fn request_id(&mut self) -> Decoded<RequestId> {
        RequestId::new(self.text()?).map_err(|_| DecodeError("request id"))
    }

    pub(super) fn key(&mut self) -> Decoded<RequestKey> {
        let bytes = self.bytes(16)?.try_into().expect("sixteen bytes were taken");
        Ok(RequestKey(bytes))
    }

    pub(super) fn quantity(&mut self) -> Decoded<Quantity> {
        Quantity::new(self.number()?).map_err(|_| DecodeError("quantity"))
    }

    pub(super) fn epoch(&mut self) -> Decoded<Epoch> {
        Epoch::new(self.number()?).map_err(|_| DecodeError("epoch"))
    }

    /// `says_when`: behind them it stands when the sale was created.
    pub(super) fn terms(&mut self, activity: ActivityId, says_when: bool) -> Decoded<Terms> {
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
        let created_at = if says_when { Some(self.time()?) } else { None };
        Ok(Terms {
            activity,
            window,
            per_user_limit,
            status,
            created_at,
        })
    }

    pub(super) fn restored(&mut self) -> Decoded<Restored> {
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

    pub(super) fn hold(&mut self) -> Decoded<Hold> {
        let held_at = self.time()?;
        let is_some = match self.byte()? {
            0 => false,
            1 => true,
            _ => return Err(DecodeError("hold")),
        };
        let resumes_at = Some(self.time()?).filter(|_| is_some);
        Ok(Hold { held_at, resumes_at })
    }

    pub(super) fn permitted(&mut self) -> Decoded<Permitted> {
        Ok(Permitted {
            key: self.bytes(16)?.try_into().expect("sixteen bytes were taken"),
            taken: self.small()?,
            until: self.time()?,
            at: self.time()?,
        })
    }

    pub(super) fn conclusion(&mut self) -> Decoded<Conclusion> {
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
