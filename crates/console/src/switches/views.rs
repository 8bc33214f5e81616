//! The switches as the operator sees them: those in force, and what a change would make of them.

use std::collections::{BTreeMap, BTreeSet};

use seckill_api::{Answer, rfc3339};
use seckill_gate::{AutoAdmit, Limit, LimitSwitches, Members, Return, Switches, SwitchesPatch};
use seckill_sale::{ActivityId, Challenge};
use serde::Serialize;

use super::effects::{Effect, effects};
use super::in_force::{revision, settled};
use super::{kept, patched};
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
    backlog_oldest_max_s: u64,
    auto_admit: AutoAdmit,
    challenge: Option<Challenge>,
    limits: LimitsSet,
    returns: Vec<ReturnView>,
    revision: u64,
}

/// Limits that were set; `null` where the setting holds.
#[derive(Serialize)]
struct LimitsSet {
    ip: Option<Limit>,
    network: Option<Limit>,
    user: Option<Limit>,
    device: Option<Limit>,
    activity: Option<Limit>,
    node: Option<Limit>,
}

impl From<LimitSwitches> for LimitsSet {
    fn from(limits: LimitSwitches) -> Self {
        let LimitSwitches {
            ip,
            network,
            user,
            device,
            activity,
            node,
        } = limits;
        Self {
            ip,
            network,
            user,
            device,
            activity,
            node,
        }
    }
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
    limits_in_force: LimitsView,
    /// Whether they are in force, but not in the ledger yet.
    ledger_pending: bool,
}

#[derive(Serialize)]
struct LimitsView {
    ip: String,
    network: String,
    user: String,
    device: String,
    read: String,
    activity: String,
    node: String,
}

#[derive(Serialize)]
struct Rehearsal {
    before: SwitchesView,
    after: SwitchesView,
    effects: Vec<Effect>,
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
            backlog_oldest_max_s: switches.backlog_oldest_max_s,
            auto_admit: switches.auto_admit,
            challenge: switches.challenge,
            limits: switches.limits.into(),
            returns: switches.returns.iter().map(view).collect(),
            revision,
        }
    }
}

/// The switches in force on this node.
pub(super) fn shown(console: &Console) -> Reply {
    console.gate.go_back(console.now());
    let (limits, held_back) = (console.gate.limits(), console.gate.held_back());
    let limits_in_force = LimitsView {
        ip: limits.ip.to_string(),
        network: limits.network.to_string(),
        user: limits.user.to_string(),
        device: limits.device.to_string(),
        read: limits.read.to_string(),
        activity: limits.activity.to_string(),
        node: limits.node.to_string(),
    };
    Reply(Answer::fine(&View {
        switches: SwitchesView::of(&console.gate.switches(), revision(console)),
        auto_admit_ratio: console.gate.auto_admit_ratio(),
        auto_admit_sales: console.gate.auto_admit_ratios().as_ref().clone(),
        backlog_holds_back: !held_back.is_empty(),
        backlog_sales: held_back.as_ref().clone(),
        limits_in_force,
        ledger_pending: kept::known(console).is_some(),
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
    let waiting = console.operator.layers().queue.depth().tickets;
    Ok(Reply(Answer::fine(&Rehearsal {
        effects: effects(&before, &after, until.as_deref(), waiting),
        before: SwitchesView::of(&before, revision),
        after: SwitchesView::of(&after, revision + 1),
    })))
}
