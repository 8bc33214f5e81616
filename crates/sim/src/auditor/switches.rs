//! Switches: those that the store keeps for the ledger, and those that stand in the ledger.

use super::history::{Given, Span, possible};
use super::{Auditor, Books};

impl Auditor {
    /// The store is to keep these switches, or none; gives the number of the command.
    pub(crate) fn keep_asked(&mut self, switches: Option<String>) -> usize {
        self.kept_switches.push(Given {
            value: switches,
            span: Span::from(self.weather.step()),
            sure: false,
        });
        self.kept_switches.len() - 1
    }

    /// Whether the store said that it does.
    pub(crate) fn keep_told(&mut self, command: usize, sure: bool) {
        let given = &mut self.kept_switches[command];
        given.span.ended = Some(self.weather.step());
        given.sure = sure;
    }

    /// The store says which it keeps to somebody who began to ask at that step.
    pub(crate) fn kept_seen(&mut self, began: u64, seen: &Option<String>) {
        let step = self.weather.step();
        let stays = possible(&self.kept_switches, began, step).any(|kept| kept == seen);
        self.check(stays, "kept switches stay until they are changed", || {
            format!("{seen:?}")
        });
    }

    /// An operator is told that his switches stand.
    pub(crate) fn switches_told(&mut self, revision: u64, switches: String) {
        let revision = revision.cast_signed();
        let before = self.told_switches.insert(revision, switches);
        self.check(before.is_none(), "switches are changed one after another", || {
            format!("revision {revision}: {before:?}")
        });
    }

    /// The row against what was told, and against the row before.
    pub(super) fn check_switches(&mut self, before: &Books, after: &Books) {
        let Some((revision, switches)) = &after.switches else {
            let was = before.switches.is_none();
            self.check(was, "switches are never forgotten", || format!("{:?}", before.switches));
            return;
        };
        let was = before.switches.as_ref().map_or(0, |(revision, _)| *revision);
        self.check((was..=was + 1).contains(revision), "switches are counted up", || {
            format!("{was}, then {revision}")
        });
        let told = self.told_switches.get(revision).cloned();
        let same = told.as_ref().is_none_or(|told| told == switches);
        self.check(same, "switches stand as they were told", || {
            format!("revision {revision}: {switches}, told {told:?}")
        });
    }
}
