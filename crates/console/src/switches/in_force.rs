//! The switches in force on this node: those that were set last, tightened by every patch that waits for its turn.
//!
//! A patch may wait long, for those before it and for a database. What it tightens does not wait with it: it is in force from the moment
//! it comes until it is carried out or refused, whatever others put in force meanwhile. What it loosens waits.

use seckill_gate::{Limits, Switches, SwitchesPatch};
use seckill_sale::Challenge;

use super::patched;
use super::tightened::tightened;
use crate::error::Error;
use crate::state::Console;

/// Changes in force between two revisions of the ledger, at the most. The gate counts both: its revision is the ledger's times this, plus
/// one for every change that the ledger has not got yet.
const CHANGES_A_REVISION: u64 = 1 << 20;

/// What is in force, before the gate.
pub(crate) struct InForce {
    settled: Switches,
    /// Patches that wait for their turn, in the order in which they came; as many as there may be commands under way.
    waiting: Vec<(u64, SwitchesPatch)>,
    last_number: u64,
}

impl InForce {
    pub(crate) const fn new(settled: Switches) -> Self {
        Self {
            settled,
            waiting: Vec::new(),
            last_number: 0,
        }
    }

    /// `used`: what sales ask for by themselves.
    fn tightened(&self, settings: Limits, used: &[Challenge]) -> Switches {
        let tighten = |present: Switches, (_, patch): &(u64, SwitchesPatch)| match present.patched(patch) {
            Ok(wanted) => tightened(&present, &wanted, settings, used),
            Err(_) => present,
        };
        self.waiting.iter().fold(self.settled.clone(), tighten)
    }

    /// Shows gate and store what is in force.
    fn show(&self, console: &Console, revision_min: u64) {
        let before = console.gate.switches();
        let revision = revision_min.max(before.revision + 1);
        let sales = console.gate.catalogue().all();
        let used: Vec<_> = sales.values().map(|sale| sale.challenge).collect();
        let switches = Switches {
            revision,
            ..self.tightened(console.gate.limits_of_settings(), &used)
        };
        let unchanged = Switches {
            revision: before.revision,
            ..switches
        };
        if revision_min <= before.revision && unchanged == *before {
            return;
        }
        let backlog_max = switches.backlog_max;
        if console.gate.switch(switches) {
            console.stock().set_backlog_max(backlog_max);
        }
    }
}

/// A patch that waits for its turn, tightening until it is dropped.
pub(super) struct Tightening<'a> {
    console: &'a Console,
    number: u64,
}

impl Drop for Tightening<'_> {
    fn drop(&mut self) {
        let mut in_force = self.console.in_force.lock();
        in_force.waiting.retain(|(number, _)| *number != self.number);
        in_force.show(self.console, 0);
    }
}

/// Puts in force what the patch tightens, before it has its turn.
///
/// # Errors
/// What the patch itself has wrong.
pub(super) fn tighten_at_once<'a>(console: &'a Console, patch: &SwitchesPatch) -> Result<Tightening<'a>, Error> {
    let mut in_force = console.in_force.lock();
    patched(&in_force.settled, patch)?;
    in_force.last_number += 1;
    let number = in_force.last_number;
    in_force.waiting.push((number, patch.clone()));
    in_force.show(console, 0);
    Ok(Tightening { console, number })
}

/// The switches as they were set last, without what waits for its turn.
pub(super) fn settled(console: &Console) -> Switches {
    console.in_force.lock().settled.clone()
}

/// The ledger's revision that is in force here.
pub(super) fn revision(console: &Console) -> u64 {
    console.gate.switches().revision / CHANGES_A_REVISION
}

/// Puts in force what stands in the ledger's revision.
pub(super) fn put_in_force_of(console: &Console, switches: &Switches, revision: u64) {
    put(console, switches, revision * CHANGES_A_REVISION);
}

/// Puts in force what the ledger has not got yet.
pub(super) fn put_in_force(console: &Console, switches: &Switches) {
    put(console, switches, 0);
}

/// Puts in force, whatever was before. To be called by one at a time.
fn put(console: &Console, switches: &Switches, revision_min: u64) {
    let mut in_force = console.in_force.lock();
    in_force.settled = switches.clone();
    in_force.show(console, revision_min);
}

#[cfg(test)]
mod tests {
    use seckill_gate::{Limit, LimitSwitches};

    use super::*;

    fn patch(json: &str) -> SwitchesPatch {
        serde_json::from_str(json).expect("a patch")
    }

    fn tightened_by(patches: &[&str]) -> Switches {
        tightened_where(&[Challenge::None, Challenge::Token], patches)
    }

    fn tightened_where(used: &[Challenge], patches: &[&str]) -> Switches {
        let waiting = patches.iter().map(|json| (0, patch(json))).collect();
        let in_force = InForce {
            waiting,
            ..InForce::new(Switches::open(9))
        };
        let limit = |text: &str| text.parse().expect("a limit");
        let (ip, user) = (limit("50/s burst 100"), limit("1/s burst 3"));
        let (device, read) = (Limit::Off, Limit::Off);
        in_force.tightened(
            Limits {
                ip,
                user,
                device,
                read,
                ..Limits::OFF
            },
            used,
        )
    }

    #[test]
    fn patches_that_wait_tighten_and_never_loosen() {
        let all = [
            r#"{"admit_ratio":0.5,"limits":{"ip":"1/s","user":"2/s burst 3"}}"#,
            r#"{"admit_ratio":0.7,"entry_open":true,"backlog_max":10}"#,
            r#"{"entry_open":false,"backlog_max":5,"challenge":"token"}"#,
            r#"{"read_only":true,"challenge":"none","entry_open":true,"backlog_max":8,"limits":{"ip":"off","device":"9/s"}}"#,
        ];
        let expect = Switches {
            entry_open: false,
            read_only: true,
            admit_ratio: 0.5,
            backlog_max: 5,
            challenge: Some(Challenge::Token),
            limits: LimitSwitches {
                ip: Some("1/s".parse().expect("a limit")),
                user: None,
                device: Some("9/s".parse().expect("a limit")),
                ..LimitSwitches::default()
            },
            ..Switches::open(9)
        };
        let revisions = tightened_by(&all);
        assert_eq!(
            Switches {
                revision: 0,
                ..revisions
            },
            expect
        );
    }

    #[test]
    fn a_challenge_is_in_force_at_once_where_no_sale_asks_for_another_or_for_more() {
        use Challenge::{Captcha, None, Pow, Token};
        let patch = |challenge: &str| format!(r#"{{"challenge":{challenge}}}"#);
        for (used, wanted, in_force) in [
            (&[None][..], &[r#""token""#][..], Some(Token)),
            (&[None, Captcha], &[r#""token""#], Option::None),
            (&[None, Captcha], &[r#""captcha""#], Some(Captcha)),
            (&[None, Captcha], &[r#""pow""#], Option::None),
            (
                &[None],
                &[r#""token""#, r#""pow""#, r#""captcha""#, r#""token""#, "null"],
                Some(Pow),
            ),
            (&[Token], &[r#""none""#], Option::None),
        ] {
            let patches: Vec<_> = wanted.iter().map(|challenge| patch(challenge)).collect();
            let patches: Vec<_> = patches.iter().map(String::as_str).collect();
            assert_eq!(
                tightened_where(used, &patches).challenge,
                in_force,
                "{wanted:?} over {used:?}"
            );
        }
    }
}
