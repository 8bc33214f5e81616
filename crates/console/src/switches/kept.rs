//! Switches that are in force, but not in the ledger yet: how the store keeps them, and how they meet what the ledger says later.

use seckill_gate::{Members, Switches};
use seckill_stock::Error;
use serde::{Deserialize, Serialize};

use crate::state::Console;

/// What the store keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// Revision of the ledger on which they stand.
    pub(super) base: u64,
    /// The switches.
    pub(super) switches: Switches,
}

/// What this process knows of what the store keeps.
#[derive(Default)]
pub(crate) struct Keeping {
    /// What the store is to keep.
    wanted: Option<Kept>,
    /// Whether the store has not said yet that it does: it has not answered, and is told again.
    is_untold: bool,
}

/// What is kept, or to be kept, as far as this process knows. Costs no IO.
pub(super) fn known(console: &Console) -> Option<Kept> {
    console.keeping.lock().wanted.clone()
}

/// What the store keeps, by its own word: it is told first what it was not told yet. To be called by one at a time.
pub(super) async fn confirmed(console: &Console) -> Result<Option<Kept>, Error> {
    let untold = {
        let keeping = console.keeping.lock();
        keeping.is_untold.then(|| keeping.wanted.clone())
    };
    if let Some(wanted) = untold {
        keep(console, wanted.clone()).await?;
        return Ok(wanted);
    }
    let text = console.stock().kept_switches().await?;
    let read = text.and_then(|text| {
        let read = serde_json::from_str::<Kept>(&text);
        read.inspect_err(|error| tracing::error!(%error, "kept switches can't be read; they are left alone"))
            .ok()
    });
    console.keeping.lock().wanted.clone_from(&read);
    Ok(read)
}

/// Has the store keep `kept`, or nothing. It is told as soon as this is polled. Where it does not say that it does, [`confirmed`] tells it
/// again. To be called by one at a time.
pub(super) async fn keep(console: &Console, kept: Option<Kept>) -> Result<(), Error> {
    let text = kept
        .as_ref()
        .map(|kept| serde_json::to_string(kept).expect("plain data"));
    *console.keeping.lock() = Keeping {
        wanted: kept,
        is_untold: true,
    };
    console.stock().keep_switches(text).await?;
    console.keeping.lock().is_untold = false;
    Ok(())
}

/// As [`keep`], where it has time.
pub(super) async fn keep_or_later(console: &Console, kept: Option<Kept>) {
    if let Err(error) = keep(console, kept).await {
        tracing::warn!(%error, "the store is told again which switches it is to keep");
    }
}

impl Kept {
    /// What is to stand in the ledger: the kept switches, or, where somebody else has changed them since, his, as far as they let no more
    /// buyers in than the kept ones.
    pub(super) fn over(&self, ledger: &Switches, revision: u64) -> Switches {
        let kept = &self.switches;
        if self.base == revision {
            return kept.clone();
        }
        // What they tighten goes back when they said so.
        let tightened = Members {
            entry_open: (ledger.entry_open && !kept.entry_open).then_some(false),
            read_only: (kept.read_only && !ledger.read_only).then_some(true),
            admit_ratio: (kept.admit_ratio < ledger.admit_ratio).then_some(kept.admit_ratio),
            ..Members::default()
        };
        Switches {
            entry_open: ledger.entry_open && kept.entry_open,
            read_only: ledger.read_only || kept.read_only,
            admit_ratio: ledger.admit_ratio.min(kept.admit_ratio),
            ..ledger.clone()
        }
        .with_returns_of(kept, &tightened)
    }
}

/// Whether `after` does nothing but let fewer buyers in than `before`: it shuts the entrance, or lowers the share that is let in. When they
/// are let in again does not matter.
pub(super) fn is_brake(before: &Switches, after: &Switches) -> bool {
    let shut = !after.is_open();
    let ratio = Members {
        admit_ratio: Some(before.admit_ratio),
        ..Members::default()
    };
    let unchanged_but_ratio = Switches {
        admit_ratio: before.admit_ratio,
        revision: before.revision,
        ..after.clone()
    }
    .with_returns_of(before, &ratio);
    shut || (after.admit_ratio < before.admit_ratio && unchanged_but_ratio == *before)
}

#[cfg(test)]
mod tests {
    use seckill_gate::SwitchesPatch;
    use seckill_sale::EpochMs;

    use super::*;

    fn with(change: impl FnOnce(&mut Switches)) -> Switches {
        let mut switches = Switches::open(9);
        change(&mut switches);
        switches
    }

    #[test]
    fn only_what_lets_fewer_in_is_a_brake() {
        let open = with(|_| ());
        let brakes = [
            with(|switches| switches.entry_open = false),
            with(|switches| switches.read_only = true),
            with(|switches| switches.admit_ratio = 0.5),
        ];
        for brake in &brakes {
            assert!(is_brake(&open, brake), "{brake:?}");
            assert!(!is_brake(brake, &open), "{brake:?}");
        }
        let until = |json: &str| SwitchesPatch {
            until: Some(EpochMs(1)),
            ..serde_json::from_str(json).expect("a patch")
        };
        let for_a_while = open.patched(&until(r#"{"admit_ratio":0.5}"#)).expect("in range");
        assert!(is_brake(&open, &for_a_while));
        let more = with(|switches| (switches.admit_ratio, switches.backlog_max) = (0.5, 10));
        assert!(!is_brake(&open, &more));
        assert!(!is_brake(&open, &open));
    }

    #[test]
    fn kept_switches_win_unless_somebody_else_has_changed_them_then_the_stricter_does() {
        let kept = Kept {
            base: 3,
            switches: with(|switches| (switches.entry_open, switches.backlog_max) = (false, 5)),
        };
        let ledger = with(|switches| switches.admit_ratio = 0.5);
        assert_eq!(kept.over(&ledger, 3), kept.switches);
        let met = with(|switches| (switches.entry_open, switches.admit_ratio) = (false, 0.5));
        assert_eq!(kept.over(&ledger, 4), met);
    }

    #[test]
    fn what_kept_switches_tighten_goes_back_when_they_said_so() {
        let shut = SwitchesPatch {
            until: Some(EpochMs(9)),
            ..serde_json::from_str(r#"{"entry_open":false}"#).expect("a patch")
        };
        let switches = with(|_| ()).patched(&shut).expect("in range");
        let kept = Kept { base: 3, switches };
        let met = kept.over(&with(|switches| switches.backlog_max = 5), 4);
        assert!(!met.entry_open);
        assert!(met.at(EpochMs(9)).entry_open);
    }
}
