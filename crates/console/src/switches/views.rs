//! The switches as the operator sees them: those in force, and what a change would make of them.

use std::collections::{BTreeMap, BTreeSet};

use seckill_api::{Answer, rfc3339};
use seckill_gate::{AutoAdmit, LimitSwitches, Limits, Members, Return, Switches, SwitchesPatch};
use seckill_sale::{ActivityId, Challenge};
use serde::{Serialize, Serializer};

use super::effects::{Circumstances, Effect, effects};
use super::in_force::{in_force, revision, settled};
use super::keeping::known;
use super::patched;
use crate::error::Error;
use crate::outer::Reply;
use crate::state::Console;

#[derive(Serialize)]
struct SwitchesView {
    entry_open: bool,
    admit_ratio: f64,
    read_only: bool,
    backlog_max: u64,
    /// As it holds, also where nobody has set it.
    backlog_resume: u64,
    /// Whether nobody has: it follows `backlog_max`.
    backlog_resume_derived: bool,
    backlog_oldest_max_s: u64,
    auto_admit: AutoAdmit,
    challenge: Option<Challenge>,
    /// Those that were set; `null` where the setting holds.
    limits: LimitSwitches,
    returns: Vec<ReturnView>,
    revision: u64,
}

/// What goes back by itself.
#[derive(Serialize)]
struct ReturnView {
    at: String,
    /// What to.
    members: Members,
}

#[derive(Serialize)]
struct View {
    #[serde(flatten)]
    switches: SwitchesView,
    /// The lowest share of any sale that this node lets in by itself; that of the operator holds where it is lower.
    auto_admit_ratio: f64,
    /// Share of each sale of which it does not let everybody in.
    auto_admit_sales: BTreeMap<ActivityId, f64>,
    /// Whether this node admits nobody to some sale since too many of its tickets wait, or one for too long.
    backlog_holds_back: bool,
    /// To which.
    backlog_sales: BTreeSet<ActivityId>,
    /// The limits that hold, where a switch says nothing those of the settings.
    #[serde(serialize_with = "with_read")]
    limits_in_force: Limits,
    /// Whether they are in force, but not in the ledger yet.
    ledger_pending: bool,
}

#[derive(Serialize)]
struct Rehearsal {
    before: SwitchesView,
    after: SwitchesView,
    effects: Vec<Effect>,
}

/// The limit of polls and pages stands behind the device's.
fn with_read<S: Serializer>(limits: &Limits, serializer: S) -> Result<S::Ok, S::Error> {
    let all = limits.buy.named().flat_map(|(name, limit)| {
        let read = (name == "device").then_some(("read", limits.read));
        std::iter::once((name, limit)).chain(read)
    });
    serializer.collect_map(all)
}

impl SwitchesView {
    fn of(switches: &Switches, revision: u64) -> Self {
        let view = |due: &Return| ReturnView {
            at: rfc3339(due.at),
            members: due.members,
        };
        Self {
            entry_open: switches.entry_open,
            admit_ratio: switches.admit_ratio,
            read_only: switches.read_only,
            backlog_max: switches.backlog_max,
            backlog_resume: switches.backlog_resume(),
            backlog_resume_derived: switches.backlog_resume_at.is_none(),
            backlog_oldest_max_s: switches.backlog_oldest_max_s,
            auto_admit: switches.auto_admit,
            challenge: switches.challenge,
            limits: switches.limits,
            returns: switches.returns.iter().map(view).collect(),
            revision,
        }
    }
}

/// The switches in force on this node.
pub(super) fn shown(console: &Console) -> Reply {
    console.gate.go_back(console.now());
    let (switches, revision) = in_force(console);
    let held_back = console.gate.held_back();
    Reply(Answer::fine(&View {
        switches: SwitchesView::of(&switches, revision),
        auto_admit_ratio: console.gate.auto_admit_ratio(),
        auto_admit_sales: console.gate.auto_admit_ratios().as_ref().clone(),
        backlog_holds_back: !held_back.is_empty(),
        backlog_sales: held_back.as_ref().clone(),
        limits_in_force: console.gate.limits(),
        ledger_pending: known(console).is_some(),
    }))
}

/// What the patch would change, and who would hear what. Nothing is changed.
///
/// # Errors
/// What the patch itself has wrong.
pub(super) fn rehearsed(console: &Console, patch: &SwitchesPatch) -> Result<Reply, Error> {
    let (before, now) = (settled(console), console.now());
    let after = patched(&before, patch)?.at(now);
    let (before, revision) = (before.at(now), revision(console));
    let until = patch.until.map(rfc3339);
    let circumstances = Circumstances {
        until: until.as_deref(),
        waiting: console.operator.layers().queue.depth().tickets,
        settings: console.gate.limits_of_settings(),
    };
    Ok(Reply(Answer::fine(&Rehearsal {
        effects: effects(&before, &after, &circumstances),
        before: SwitchesView::of(&before, revision),
        after: SwitchesView::of(&after, revision + 1),
    })))
}
