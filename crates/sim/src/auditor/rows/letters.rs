//! Dead letters.

use rusqlite::{Result, Row};

use super::{TicketNumber, ticket};

/// A row of `dead_letters`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LetterRow {
    pub(crate) ticket: TicketNumber,
    pub(crate) user: String,
    pub(crate) quantity: i64,
    pub(crate) state: String,
    pub(crate) unit_to: Option<String>,
}

pub(super) const LETTERS: &str =
    "SELECT activity_id, epoch, sequence, user_id, quantity, state, unit_to, id FROM dead_letters";

pub(super) fn letter(row: &Row<'_>) -> Result<(i64, LetterRow)> {
    let letter = LetterRow {
        ticket: ticket(row)?,
        user: row.get(3)?,
        quantity: row.get(4)?,
        state: row.get(5)?,
        unit_to: row.get(6)?,
    };
    Ok((row.get(7)?, letter))
}
