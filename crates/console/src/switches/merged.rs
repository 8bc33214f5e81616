//! Changes that were kept on one row of the ledger, on top of another one, or of what somebody else has had kept.

use seckill_gate::{Members, Switches};
use seckill_sale::EpochMs;

/// `theirs` with what is `changed` in `ours`; but that lets no more buyers in than they do, nor earlier.
pub(super) fn merged(ours: &Switches, changed: &Members, theirs: &Switches) -> Switches {
    let wanted = Members::of(ours).only(changed);
    let [entry, read_only, ratio] = tightening(&wanted);
    let stays_longer = |named: Members| is_later(goes_back_at(ours, &named), goes_back_at(theirs, &named));
    let lower = wanted.admit_ratio.filter(|ours| *ours < theirs.admit_ratio);
    let taken = Members {
        entry_open: entry.entry_open.filter(|_| theirs.entry_open || stays_longer(entry)),
        read_only: read_only
            .read_only
            .filter(|_| !theirs.read_only || stays_longer(read_only)),
        admit_ratio: lower.or_else(|| stays_longer(ratio).then_some(theirs.admit_ratio)),
        ..wanted
    };
    let mut met = theirs.with(&taken).with_returns_of(ours, &taken);
    // What they lowered for a while goes back to what the others say then.
    let of_theirs = theirs.returns.iter().find_map(|due| due.members.admit_ratio);
    let home_max = of_theirs.unwrap_or(theirs.admit_ratio);
    let homes = met
        .returns
        .iter_mut()
        .filter_map(|due| due.members.admit_ratio.as_mut());
    homes.for_each(|home| *home = home.min(home_max));
    met
}

/// Entrance, read-only and share, each alone, where they keep buyers out.
fn tightening(wanted: &Members) -> [Members; 3] {
    let none = Members::default();
    [
        Members {
            entry_open: wanted.entry_open.filter(|is_open| !is_open),
            ..none
        },
        Members {
            read_only: wanted.read_only.filter(|is_only| *is_only),
            ..none
        },
        Members {
            admit_ratio: wanted.admit_ratio.filter(|ratio| *ratio < 1.0),
            ..none
        },
    ]
}

/// When what is named goes back; none: never.
fn goes_back_at(switches: &Switches, named: &Members) -> Option<EpochMs> {
    let mut returns = switches.returns.iter();
    returns
        .find(|due| !due.members.only(named).is_empty())
        .map(|due| due.at)
}

/// Whether one lasts longer than the other, where none is for ever.
fn is_later(one: Option<EpochMs>, other: Option<EpochMs>) -> bool {
    other.is_some_and(|other| one.is_none_or(|one| other < one))
}

#[cfg(test)]
#[path = "merged_tests.rs"]
mod tests;
