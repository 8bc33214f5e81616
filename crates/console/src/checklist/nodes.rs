//! What the checklist says of the nodes that share the store.

use std::collections::{BTreeMap, BTreeSet};

use seckill_stock::Living;
use seckill_stock::members::SCHEDULER_LEASE;

use crate::call::Call;
use crate::check::Check;
use crate::live::Figures;

/// A queued ticket that is older has no worker: they look for work all the time.
const QUEUED_MS_MAX: i64 = 10_000;
/// A ticket that is younger says nothing of workers: they may not have seen it yet.
const QUEUED_MS_MIN: i64 = 2_000;
/// Workers that have not finished a batch for so long, while tickets wait, do not work.
const BATCH_AGE_MS_MAX: i64 = 10_000;
/// Most that a node's clock may be off the store's.
const CLOCK_AHEAD_MS_MAX: u64 = 1_000;

type Nodes = [(Living, Figures)];

/// A line each for the nodes, their versions, clocks, databases and keys, the scheduler and the workers.
pub(crate) async fn nodes(call: &Call) -> Vec<Check> {
    let nodes = match call.console.nodes().await {
        Ok(nodes) => nodes,
        Err(error) => return vec![Check::failed("nodes", format!("not known: {error}"))],
    };
    vec![
        count(&nodes),
        versions(&nodes),
        clocks(&nodes),
        databases(&nodes),
        keys(&nodes),
        scheduler(call, &nodes).await,
        workers(call, &nodes),
    ]
}

fn count(nodes: &Nodes) -> Check {
    const AREA: &str = "nodes";
    if nodes.is_empty() {
        return Check::failed(
            AREA,
            "none says that it lives, not even this one: does the store take what it is told?",
        );
    }
    let with = |role: &str| {
        let has = |(living, _): &&(Living, Figures)| living.member.roles.iter().any(|own| own == role);
        nodes.iter().filter(has).count()
    };
    let said = format!(
        "{} alive: {} with the role api, {} worker, {} scheduler",
        nodes.len(),
        with("api"),
        with("worker"),
        with("scheduler")
    );
    match with("api") {
        0 => Check::failed(AREA, format!("{said}: nobody answers buyers")),
        _ => Check::passed(AREA, said),
    }
}

fn versions(nodes: &Nodes) -> Check {
    const AREA: &str = "versions";
    let all: BTreeSet<_> = nodes.iter().map(|(living, _)| living.member.version.as_str()).collect();
    let all: Vec<_> = all.into_iter().collect();
    match all.as_slice() {
        [] | [_] => Check::passed(AREA, format!("all nodes are {}", all.join(""))),
        _ => Check::failed(AREA, format!("nodes differ ({}): finish the update", all.join(", "))),
    }
}

fn clocks(nodes: &Nodes) -> Check {
    const AREA: &str = "clocks";
    let off = |living: &Living| living.clock_ahead_ms().unsigned_abs();
    let Some((worst, _)) = nodes.iter().max_by_key(|(living, _)| off(living)) else {
        return Check::passed(AREA, "no node, no clock");
    };
    let said = format!("within {} ms of the store's", off(worst));
    if off(worst) <= CLOCK_AHEAD_MS_MAX {
        return Check::passed(AREA, said);
    }
    let (id, admin) = (&worst.member.id, &worst.member.admin);
    Check::failed(
        AREA,
        format!("node {id} ({admin}) is only {said}: is NTP running there?"),
    )
}

/// The nodes as groups that have the same of something, in words; one at most where all that tell have the same.
fn groups<'a>(nodes: impl Iterator<Item = &'a Living>, of: fn(&Living) -> &str) -> Vec<String> {
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for living in nodes.filter(|living| !of(living).is_empty()) {
        let named = format!("{} ({})", living.member.id, living.member.admin);
        groups.entry(of(living)).or_default().push(named);
    }
    groups.into_values().map(|named| named.join(", ")).collect()
}

/// Orders of one sale in two ledgers are found by nobody.
fn databases(nodes: &Nodes) -> Check {
    const AREA: &str = "databases";
    let all = nodes.iter().map(|(living, _)| living);
    let groups = groups(all, |living| &living.member.fingerprints.database);
    if groups.len() < 2 {
        return Check::passed(AREA, "all nodes have the same");
    }
    let groups = groups.join(" | ");
    Check::failed(
        AREA,
        format!("nodes have different ones ({groups}): orders of one sale are in several; end all but one group"),
    )
}

/// Of the nodes that check buyers' tokens. Other keys may be a rotation; another secret of purchase tokens under the same keys never is.
fn keys(nodes: &Nodes) -> Check {
    const AREA: &str = "keys";
    let apis = || {
        let all = nodes.iter().map(|(living, _)| living);
        all.filter(|living| living.member.roles.iter().any(|role| role == "api"))
    };
    let users = groups(apis(), |living| &living.member.fingerprints.user_keys);
    if 1 < users.len() {
        let users = users.join(" | ");
        return Check::warning(
            AREA,
            format!("nodes check buyers' tokens with different ones ({users}): finish the change of `auth`"),
        );
    }
    let tokens = groups(apis(), |living| &living.member.fingerprints.purchase_tokens);
    if 1 < tokens.len() {
        let tokens = tokens.join(" | ");
        return Check::failed(
            AREA,
            format!(
                "nodes refuse each other's purchase tokens ({tokens}): give all the same `auth.jwt_secret` or `admin.token`"
            ),
        );
    }
    Check::passed(AREA, "all nodes that answer buyers have the same")
}

async fn scheduler(call: &Call, nodes: &Nodes) -> Check {
    const AREA: &str = "scheduler";
    match call.console.live.members.holder(SCHEDULER_LEASE).await {
        Ok(Some(holder)) if nodes.iter().any(|(living, _)| living.member.id == holder) => {
            Check::passed(AREA, format!("runs on node {holder}"))
        }
        Ok(Some(holder)) => Check::failed(
            AREA,
            format!("node {holder} had it last, and is gone: the next takes over in a minute"),
        ),
        Ok(None) => Check::failed(
            AREA,
            "runs nowhere: nothing is preheated, closed or expired. Start a node with the role scheduler",
        ),
        Err(error) => Check::failed(AREA, error.to_string()),
    }
}

fn workers(call: &Call, nodes: &Nodes) -> Check {
    const AREA: &str = "workers";
    let depth = call.console.operator.layers().queue.depth();
    let waited_ms = depth.oldest_accepted_at.map_or(0, |at| call.now.since(at));
    let (tickets, seconds) = (counted(depth.tickets), waited_ms / 1_000);
    let running: u64 = nodes.iter().map(|(_, figures)| figures.workers).sum();
    if running == 0 {
        let why = format!("none runs; {tickets} in the queue: start a node with the role worker");
        return Check::failed(AREA, why);
    }
    let last_batch_at = nodes.iter().map(|(_, figures)| figures.last_batch_at).max();
    let batch_age_ms = last_batch_at.map_or(i64::MAX, |at| call.now.0.saturating_sub(at));
    let idle = QUEUED_MS_MIN < waited_ms && BATCH_AGE_MS_MAX < batch_age_ms;
    if idle || QUEUED_MS_MAX < waited_ms {
        let why = format!("the oldest of {tickets} has waited {seconds} s: nobody writes orders");
        return Check::failed(AREA, why);
    }
    match depth.dead {
        0 => Check::passed(AREA, format!("{running} run; {tickets} in the queue, none for long")),
        1 => Check::warning(AREA, "1 dead letter waits for a person"),
        dead => Check::warning(AREA, format!("{dead} dead letters wait for a person")),
    }
}

fn counted(tickets: u64) -> String {
    match tickets {
        1 => "1 ticket".to_owned(),
        tickets => format!("{tickets} tickets"),
    }
}
