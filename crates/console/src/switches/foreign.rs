//! What a later version wrote, into ledger or store, and this one can't read: it is left alone, and obeyed as far as it keeps buyers out.

use seckill_gate::Switches;
use serde::Deserialize;

use super::brakes::Brakes;
use super::kept::Kept;
use crate::error::Error;

const UNREADABLE: &str =
    "the switches were changed by a later version, which this one can't read: ask a node of that version";

/// The members that say how far buyers are kept out; each may be missing, and others are passed over.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Outline {
    base: u64,
    is_copy: bool,
    switches: Brakes,
}

/// What the store keeps, or, where that can't be read here, as much of it as keeps buyers out.
pub(super) fn outlined(text: &str) -> Option<Kept> {
    serde_json::from_str::<Kept>(text).ok().or_else(|| {
        let outline = serde_json::from_str::<Outline>(text).ok()?;
        let switches = outline.switches.on(Switches::open(1));
        Some(Kept::outlined(outline.base, switches, outline.is_copy))
    })
}

/// Whether what can't be read here is not to be written over by `ours`.
pub(super) fn stays(unreadable: &str, ours: Option<&Kept>) -> bool {
    let theirs = outlined(unreadable).filter(|theirs| theirs.is_copy);
    let is_earlier = |theirs: &Kept| ours.is_some_and(|ours| ours.are_as_late_as(theirs));
    !theirs.is_some_and(|theirs| is_earlier(&theirs))
}

/// How far a row of the ledger keeps buyers out that can't be read here.
pub(super) fn brakes_of(row: &str) -> Brakes {
    serde_json::from_str(row).unwrap_or(Brakes::RELEASED)
}

/// Nothing is written over what can't be read.
pub(super) fn unreadable() -> Error {
    Error::conflict(UNREADABLE)
}
