//! Numbers of orders, read and written.

use std::fmt;
use std::str::FromStr;

use crate::ticket::written;
use crate::{ActivityId, Epoch, IdError, Ticket};

/// Number of an order, at most 32 characters: `S<activity>-<epoch>-<sequence>` in base 36.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderNo(pub(crate) Ticket);

impl OrderNo {
    /// The ticket that it came from.
    #[must_use]
    pub const fn ticket(self) -> Ticket {
        self.0
    }
}

impl fmt::Display for OrderNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = written('S', self.0, 36);
        f.write_str(&text)
    }
}

impl FromStr for OrderNo {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let error = IdError::BadText {
            what: "order number",
            length_max: 32,
            alphabet: "S<activity>-<epoch>-<sequence>",
        };
        let mut parts = text
            .strip_prefix('S')
            .ok_or(error.clone())?
            .split('-')
            .map(parse_base36);
        let (Some(Some(activity)), Some(Some(epoch)), Some(Some(sequence)), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(error);
        };
        Ok(Self(Ticket {
            activity: ActivityId::new(activity)?,
            epoch: Epoch::new(epoch)?,
            sequence,
        }))
    }
}

/// Reads a number that [`written`] wrote in base 36: upper case, no leading zero, at most 64 bits.
fn parse_base36(text: &str) -> Option<u64> {
    let canonical = !text.is_empty() && text.len() <= 13 && !(text.len() > 1 && text.starts_with('0'));
    let digit = |b: u8| {
        (b.is_ascii_digit() || b.is_ascii_uppercase())
            .then(|| (b as char).to_digit(36))
            .flatten()
    };
    canonical
        .then(|| {
            text.bytes()
                .try_fold(0_u64, |sum, b| sum.checked_mul(36)?.checked_add(u64::from(digit(b)?)))
        })
        .flatten()
}
