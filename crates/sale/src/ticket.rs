//! Tickets and order numbers. An order number is derived from its ticket, so that settling the same ticket twice, on any worker,
//! after any loss, always names the same order.

use std::fmt;
use std::str::FromStr;

use compact_str::CompactString;
use serde::{Serialize, Serializer};

use crate::{ActivityId, Epoch, IdError, OrderNo};

/// One accepted purchase: the `sequence`-th of `epoch` of `activity`. Written `T<activity>-<epoch>-<sequence>`.
///
/// It can be guessed and need not be secret: it is shown to its owner alone, and every look-up goes by the owner's identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket {
    /// The sale it belongs to.
    pub activity: ActivityId,
    /// Generation of the store state that gave it out.
    pub epoch: Epoch,
    /// Place in the order of acceptance within the activity, from 1. Never reused, also over epochs.
    pub sequence: u64,
}

impl Ticket {
    /// The number of the order that this ticket becomes.
    #[must_use]
    pub fn order_no(self) -> OrderNo {
        OrderNo(self)
    }

    /// As it is written. Every accepted purchase is told its ticket, so this does without the machinery of `format!`.
    #[must_use]
    pub fn text(self) -> CompactString {
        written('T', self, 10)
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl Serialize for Ticket {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl FromStr for Ticket {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        parse(text, 'T').ok_or(IdError::BadText {
            what: "ticket",
            length_max: 48,
            alphabet: "T<activity>-<epoch>-<sequence>",
        })
    }
}

fn parse(text: &str, prefix: char) -> Option<Ticket> {
    let mut parts = text.strip_prefix(prefix)?.split('-');
    let ticket = Ticket {
        activity: parts.next()?.parse().ok()?,
        epoch: parts.next()?.parse().ok()?,
        sequence: parts
            .next()
            .filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?
            .parse()
            .ok()?,
    };
    parts.next().is_none().then_some(ticket)
}

/// The letter, then activity, epoch and sequence in this base, most significant digit first.
pub(crate) fn written(letter: char, ticket: Ticket, base: u64) -> CompactString {
    const DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    /// Three numbers of 64 bits in base 10, two hyphens, one letter.
    const LENGTH_MAX: usize = 63;
    let mut text = [0_u8; LENGTH_MAX];
    let mut at = LENGTH_MAX;
    let mut push = |byte: u8| {
        at -= 1;
        text[at] = byte;
    };
    let numbers = [ticket.sequence, ticket.epoch.get(), ticket.activity.get()];
    for (place, mut number) in numbers.into_iter().enumerate() {
        if 0 < place {
            push(b'-');
        }
        loop {
            push(DIGITS[(number % base) as usize]);
            number /= base;
            if number == 0 {
                break;
            }
        }
    }
    push(letter as u8);
    CompactString::from(std::str::from_utf8(&text[at..]).expect("digits, hyphens and letters are ASCII"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(activity: u64, epoch: u64, sequence: u64) -> Ticket {
        Ticket {
            activity: ActivityId::new(activity).expect("in range"),
            epoch: Epoch::new(epoch).expect("in range"),
            sequence,
        }
    }

    #[test]
    fn ticket_and_order_number_read_back_as_written() {
        for t in [
            ticket(1, 1, 1),
            ticket(ActivityId::MAX, Epoch::MAX, u64::MAX >> 16),
            ticket(35, 36, 37),
        ] {
            assert_eq!(t.to_string().parse(), Ok(t));
            assert_eq!(t.order_no().to_string().parse::<OrderNo>().map(OrderNo::ticket), Ok(t));
        }
        assert_eq!(ticket(1, 1, 71).order_no().to_string(), "S1-1-1Z");
        assert_eq!(ticket(10, 2, 70).to_string(), "T10-2-70");
    }

    #[test]
    fn order_number_never_exceeds_32_characters() {
        assert!(
            ticket(ActivityId::MAX, Epoch::MAX, (1 << 48) - 1)
                .order_no()
                .to_string()
                .len()
                <= 32
        );
    }

    #[test]
    fn other_spellings_of_a_number_are_refused() {
        for bad in [
            "", "S", "S1-1", "S1-1-1-1", "s1-1-1", "S01-1-1", "S1-1-z", "S0-1-1", "S1-0-1", "S1-1--1", "S1-1-+1",
        ] {
            assert!(bad.parse::<OrderNo>().is_err(), "{bad:?}");
        }
        for bad in ["T1-1-+1", "T1-1", "S1-1-1", "T1-1-1-1", "T1-1-"] {
            assert!(bad.parse::<Ticket>().is_err(), "{bad:?}");
        }
    }
}
