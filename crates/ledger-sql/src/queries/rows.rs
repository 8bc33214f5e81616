//! Rows to values and back. A number out of its type's range is a row that somebody else wrote: an error, never a guess.

use std::error::Error as StdError;

use seckill_ledger::{Movement, MovementKind, Product};
use seckill_sale::{
    ActivityId, Challenge, Currency, EpochMs, FailureReason, IdError, OrderState, Price, ProductId, Quantity, Status,
    Ticket, UserId,
};

use super::db::{Row, RowIndex, unreadable};
use super::errors::{Stop, rejected};

pub(super) use super::db::SqlResult;

/// A number that is not negative.
pub(super) fn unsigned(row: &Row<'_>, at: impl RowIndex) -> SqlResult<u64> {
    let number: i64 = row.get(at)?;
    u64::try_from(number).map_err(unreadable)
}

/// A number of a bounded type.
pub(super) fn number<T>(row: &Row<'_>, at: impl RowIndex) -> SqlResult<T>
where
    T: TryFrom<u64>,
    T::Error: StdError + Send + Sync + 'static,
{
    T::try_from(unsigned(row, at)?).map_err(unreadable)
}

pub(super) fn moment(row: &Row<'_>, at: impl RowIndex) -> SqlResult<EpochMs> {
    Ok(EpochMs(row.get(at)?))
}

pub(super) fn maybe_moment(row: &Row<'_>, at: impl RowIndex) -> SqlResult<Option<EpochMs>> {
    Ok(row.get::<_, Option<i64>>(at)?.map(EpochMs))
}

/// A text that is parsed without being copied first.
pub(super) fn text<T>(
    row: &Row<'_>,
    at: impl RowIndex,
    parse: impl FnOnce(&str) -> Result<T, IdError>,
) -> SqlResult<T> {
    let said = row.get_ref(at)?.as_str().map_err(unreadable)?;
    parse(said).map_err(unreadable)
}

pub(super) fn user(row: &Row<'_>, at: impl RowIndex) -> SqlResult<UserId> {
    text(row, at, UserId::new)
}

/// One of a few words.
pub(super) fn word<T: Copy>(row: &Row<'_>, at: impl RowIndex, words: &[(&str, T)]) -> SqlResult<T> {
    let said = row.get_ref(at)?.as_str().map_err(unreadable)?;
    let known = words.iter().find(|(word, _)| *word == said);
    known
        .map(|&(_, value)| value)
        .ok_or_else(|| unreadable(format!("{said:?} is not known here")))
}

/// The word of a value in such a list.
pub(super) fn word_of<T: PartialEq>(value: &T, words: &[(&'static str, T)]) -> &'static str {
    let known = words.iter().find(|(_, other)| other == value);
    known.expect("the list names every value").0
}

pub(super) const STATUSES: [(&str, Status); 4] = [
    ("draft", Status::Draft),
    ("running", Status::Running),
    ("paused", Status::Paused),
    ("closed", Status::Closed),
];

pub(super) const CHALLENGES: [(&str, Challenge); 4] = [
    ("none", Challenge::None),
    ("token", Challenge::Token),
    ("captcha", Challenge::Captcha),
    ("pow", Challenge::Pow),
];

pub(super) const fn order_state_number(state: OrderState) -> i64 {
    match state {
        OrderState::PendingPayment => 0,
        OrderState::Paid => 1,
        OrderState::Cancelled => 2,
        OrderState::Expired => 3,
    }
}

pub(super) fn order_state(number: i64) -> SqlResult<OrderState> {
    match number {
        0 => Ok(OrderState::PendingPayment),
        1 => Ok(OrderState::Paid),
        2 => Ok(OrderState::Cancelled),
        3 => Ok(OrderState::Expired),
        _ => Err(unreadable(format!("no order is in state {number}"))),
    }
}

/// State and reason of a record: parked and succeeded ones have no failure.
pub(super) fn record_state(number: i64, reason: Option<&str>) -> SqlResult<seckill_ledger::RecordState> {
    use seckill_ledger::RecordState as State;
    let failure = || {
        FailureReason::ALL
            .into_iter()
            .find(|known| Some(known.as_str()) == reason)
    };
    match number {
        0 => Ok(State::Parked),
        1 => Ok(State::Succeeded),
        2 => failure()
            .map(State::Failed)
            .ok_or_else(|| unreadable(format!("no ticket fails for {reason:?}"))),
        _ => Err(unreadable(format!("no record is in state {number}"))),
    }
}

/// The ticket in three columns from `first` on: activity, epoch, sequence.
pub(super) fn ticket(row: &Row<'_>, first: usize) -> SqlResult<Ticket> {
    Ok(Ticket {
        activity: number(row, first)?,
        epoch: number(row, first + 1)?,
        sequence: unsigned(row, first + 2)?,
    })
}

pub(super) const PRODUCT: &str = "id, name, price_cents, currency, stock, version, created_at";

pub(super) fn product(row: &Row<'_>) -> SqlResult<Product> {
    Ok(Product {
        id: number::<ProductId>(row, 0)?,
        name: row.get(1)?,
        price: number::<Price>(row, 2)?,
        currency: text(row, 3, Currency::new)?,
        stock: unsigned(row, 4)?,
        version: unsigned(row, 5)?,
        created_at: moment(row, 6)?,
    })
}

pub(super) const MOVEMENT: &str = "id, activity_id, kind, units, moved_at";

pub(super) fn movement(row: &Row<'_>) -> SqlResult<Movement> {
    Ok(Movement {
        id: unsigned(row, 0)?,
        activity: number::<ActivityId>(row, 1)?,
        kind: word(row, 2, &MovementKind::ALL.map(|kind| (kind.as_str(), kind)))?,
        units: unsigned(row, 3)?,
        moved_at: moment(row, 4)?,
    })
}

/// SQLite's integers have a sign; ours that have none fit, or the row can't be written.
pub(super) fn signed(what: &'static str, number: u64) -> Result<i64, Stop> {
    i64::try_from(number).map_err(|_| rejected(format!("{what} {number} is out of range")))
}

/// Units and ids of bounded types always fit.
pub(super) fn small(number: u64) -> i64 {
    i64::try_from(number).expect("bounded types end below 2⁵³")
}

/// Units of one purchase as a parameter.
pub(super) fn units(quantity: Quantity) -> i64 {
    small(quantity.get())
}
