//! What clients and operators asked and were told, with the steps at which they asked and heard.

use super::rows::TicketNumber;

/// How a buyer was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Accepted, now or before.
    Queued { ticket: TicketNumber, replayed: bool },
    /// He took part before, by this ticket, key and quantity.
    AlreadyTook {
        ticket: TicketNumber,
        user: String,
        key: Vec<u8>,
        quantity: i64,
    },
    /// The key came with another quantity before.
    KeyReused,
    /// No unit.
    SoldOut,
    /// Before the window.
    NotStarted,
    /// After the window.
    Ended,
    /// Paused.
    Paused,
    /// More than one buyer may have.
    AboveLimit,
    /// Nothing is known or promised: full, shed, not ready, unknown.
    Nothing(&'static str),
}

/// From the step at which something was begun to the one at which it ended, whatever its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) began: u64,
    /// None while it is open.
    pub(crate) ended: Option<u64>,
}

impl Span {
    pub(crate) const fn from(began: u64) -> Self {
        Self { began, ended: None }
    }

    /// Whether it was over before `step`.
    pub(crate) fn is_before(&self, step: u64) -> bool {
        self.ended.is_some_and(|ended| ended < step)
    }
}

/// A request to buy.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) activity: i64,
    pub(crate) user: String,
    pub(crate) key: Vec<u8>,
    pub(crate) quantity: i64,
    pub(crate) span: Span,
}

/// A "sold out" that somebody was told.
#[derive(Debug)]
pub(crate) struct SoldOut {
    pub(crate) activity: i64,
    pub(crate) quantity: i64,
    pub(crate) span: Span,
}

/// What a buyer knows of his ticket.
#[derive(Debug, Clone)]
pub(crate) struct Holding {
    pub(crate) ticket: TicketNumber,
    pub(crate) key: Vec<u8>,
    pub(crate) quantity: i64,
    /// The steps between which it was accepted.
    pub(crate) accepted: (u64, u64),
}

/// A value that an operator gave to a rule of a sale; in force from some step of its span on, if at all.
#[derive(Debug, Clone)]
pub(crate) struct Given<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
    /// The operator was told that it is in force.
    pub(crate) sure: bool,
}

impl<T> Given<T> {
    /// What was in force before anybody gave anything.
    pub(crate) const fn from_the_start(value: T) -> Self {
        let span = Span {
            began: 0,
            ended: Some(0),
        };
        Self {
            value,
            span,
            sure: true,
        }
    }
}

/// A rule that an operator may give anew.
pub(crate) trait Rule {
    /// Whether it ends `older`, which was given before.
    fn ends(&self, older: &Self) -> bool;
}

impl Rule for Option<String> {
    fn ends(&self, _older: &Self) -> bool {
        true
    }
}

impl Rule for i64 {
    fn ends(&self, _older: &Self) -> bool {
        true
    }
}

/// Every value that a rule may have had in the steps from `from` to `to`.
pub(crate) fn possible<T: Rule>(given: &[Given<T>], from: u64, to: u64) -> impl Iterator<Item = &T> {
    let superseded = move |old: &Given<T>| {
        let mut newer = given.iter().filter(|new| new.sure && new.span.is_before(from));
        newer.any(|new| old.span.is_before(new.span.began) && new.value.ends(&old.value))
    };
    let begun = given.iter().filter(move |one| one.span.began <= to);
    begun.filter(move |one| !superseded(one)).map(|one| &one.value)
}

/// What an operator last said about a sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Running,
    Paused,
    /// Paused until a moment at which it goes on by itself.
    PausedForAWhile,
    Closed,
}

impl Rule for Status {
    fn ends(&self, older: &Self) -> bool {
        // A close stays, also one whose operator never heard what became of it: a later pause only holds the store for a moment then.
        *older != Self::Closed
    }
}

/// How a purchase ended, as its buyer was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Succeeded { order_no: String },
    Failed { reason: &'static str },
}

/// How far a purchase is, as its buyer was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Progress {
    Queued { ahead: u64 },
    Ended(End),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(value: i64, began: u64, ended: u64, sure: bool) -> Given<i64> {
        let span = Span {
            began,
            ended: Some(ended),
        };
        Given { value, span, sure }
    }

    #[test]
    fn a_sure_value_ends_those_that_were_over_before_it_began() {
        let list = [
            given(1, 0, 0, true),
            given(2, 3, 9, false),
            given(3, 5, 6, true),
            given(4, 20, 21, false),
        ];
        let at = |from, to| possible(&list, from, to).copied().collect::<Vec<_>>();
        assert_eq!(at(1, 2), [1]);
        assert_eq!(at(4, 4), [1, 2]);
        assert_eq!(at(7, 8), [2, 3], "the second overlaps the third");
        assert_eq!(at(7, 20), [2, 3, 4]);
    }
}
