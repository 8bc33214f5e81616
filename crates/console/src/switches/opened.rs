//! What operators opened after somebody shut it whose shut the ledger has not got: they knew of it, or it was told to nobody. Either way what was
//! said later holds.

use seckill_gate::Members;
use seckill_ledger::{AuditRow, Error as Ledger, PageRequest};
use seckill_sale::EpochMs;

use super::brakes::Brakes;
use super::writing::EXPIRED;
use crate::state::Console;

/// What the ledger calls a change of switches.
const ACTION: &str = "switches.set";
/// Longest that a command is under way, in milliseconds: rows are listed as they were written, and say when they were asked for.
const UNDER_WAY_MS_MAX: i64 = 600_000;
/// Pages that are looked through. What was opened before so many rows is not found, and stays shut.
const PAGES_MAX: usize = 8;

/// Which of the three an operator has opened in the ledger, or raised, that was asked for after `moment`.
///
/// # Errors
/// Everything that a ledger says.
pub(super) async fn opened_since(console: &Console, moment: EpochMs) -> Result<Members, Ledger> {
    let mut opened = Members::default();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let limit = PageRequest::LIMIT_MAX;
        let page = console.ledger().audit_rows(PageRequest { cursor, limit }).await?;
        let of_operators = page
            .rows
            .iter()
            .filter(|row| row.action == ACTION && row.actor != EXPIRED);
        let later = of_operators.filter(|row| moment < row.at);
        opened = later.fold(opened, |all, row| all.or(&opens(row)));
        let reaches_back = page
            .rows
            .last()
            .is_some_and(|row| row.at.plus(UNDER_WAY_MS_MAX) < moment);
        cursor = page.next;
        if reaches_back || cursor.is_none() {
            break;
        }
    }
    Ok(opened)
}

fn opens(row: &AuditRow) -> Members {
    // Before the first change nothing is said, and nothing is shut.
    let [before, after] = [&row.before, &row.after].map(|text| serde_json::from_str(text).unwrap_or(Brakes::RELEASED));
    after.opens(before)
}
