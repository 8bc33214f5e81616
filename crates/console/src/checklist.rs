//! What the checklist looks at, in the order in which a purchase meets it.

mod nodes;

use std::time::Instant;

use seckill_api::rfc3339;
use seckill_flow::Audit;
use seckill_gate::Limit;
use seckill_sale::{Activity, Status};

use crate::call::Call;
use crate::check::Check;

/// An error of the clock that buyers would notice at the start.
const CLOCK_UNCERTAINTY_MS_MAX: i64 = 100;

/// The node and what it stands on.
pub(crate) async fn node(call: &Call) -> Vec<Check> {
    let mut checks = vec![entrance(call), limits(call)];
    checks.extend([store(call).await, clock(call), database(call).await]);
    checks.extend(nodes::nodes(call).await);
    checks.extend((call.console.house_checks)());
    checks
}

fn entrance(call: &Call) -> Check {
    const AREA: &str = "entrance";
    let switches = call.console.gate.switches();
    if !switches.entry_open {
        return Check::failed(AREA, "shut for everybody: set `entry_open` to true");
    }
    if switches.read_only {
        return Check::failed(AREA, "read-only: set `read_only` to false");
    }
    if switches.admit_ratio < 1.0 {
        let ratio = switches.admit_ratio;
        return Check::warning(AREA, format!("lets {ratio} of the buyers in: see `admit_ratio`"));
    }
    Check::passed(AREA, "open")
}

fn limits(call: &Call) -> Check {
    let limits = call.console.gate.limits();
    let all = [
        ("ip", limits.ip),
        ("user", limits.user),
        ("device", limits.device),
        ("read", limits.read),
    ];
    let off: Vec<_> = all.iter().filter(|(_, limit)| *limit == Limit::Off).collect();
    if off.is_empty() {
        return Check::passed("limits", "all are on");
    }
    let names: Vec<_> = off.iter().map(|(name, _)| format!("limits.{name}")).collect();
    Check::warning("limits", format!("{} off: bots are not slowed down", names.join(", ")))
}

async fn store(call: &Call) -> Check {
    let asked = Instant::now();
    match call.console.stock().activities().await {
        Ok(_) => Check::passed(
            "store",
            format!("answers within {} ms", asked.elapsed().as_millis() + 1),
        ),
        Err(error) => Check::failed("store", error.to_string()),
    }
}

fn clock(call: &Call) -> Check {
    let uncertainty_ms = call.console.stock().clock_uncertainty_ms();
    let said = format!("known to {uncertainty_ms} ms");
    if uncertainty_ms <= CLOCK_UNCERTAINTY_MS_MAX {
        Check::passed("clock", said)
    } else {
        Check::warning("clock", format!("{said}: is NTP running?"))
    }
}

async fn database(call: &Call) -> Check {
    let asked = Instant::now();
    match call.console.ledger().switches().await {
        Ok(_) => {
            let within_ms = asked.elapsed().as_millis() + 1;
            Check::passed("database", format!("answers within {within_ms} ms"))
        }
        Err(error) => Check::failed("database", error.to_string()),
    }
}

/// One activity, as it stands now.
pub(crate) async fn activity(call: &Call, activity: &Activity) -> Vec<Check> {
    vec![
        sale(call, activity),
        backlog(call, activity),
        stock(call, activity).await,
    ]
}

fn sale(call: &Call, activity: &Activity) -> Check {
    const AREA: &str = "sale";
    let (starts_at, ends_at) = (rfc3339(activity.window.starts_at), rfc3339(activity.window.ends_at));
    match activity.status {
        Status::Closed => Check::failed(AREA, "closed for good"),
        _ if activity.window.ends_at <= call.now => Check::failed(AREA, format!("ended at {ends_at}")),
        Status::Draft => Check::failed(AREA, "a draft: preheat it, and buyers see it"),
        Status::Paused => match activity.resumes_at {
            Some(at) => Check::warning(AREA, format!("paused until {}", rfc3339(at))),
            None => Check::failed(AREA, "paused: resume it"),
        },
        Status::Running => match call.console.gate.catalogue().find(activity.id) {
            Ok(_) => Check::passed(AREA, format!("sells from {starts_at} to {ends_at}")),
            Err(_) => Check::failed(AREA, "this node does not know it yet"),
        },
    }
}

fn backlog(call: &Call, activity: &Activity) -> Check {
    let (units, most) = (activity.stock_total, call.console.gate.switches().backlog_max);
    if most < units {
        let why = format!("{units} units, but only {most} tickets may wait: a fast sale pauses; see `backlog_max`");
        return Check::warning("backlog", why);
    }
    Check::passed(
        "backlog",
        format!("{units} units fit into {most} tickets that may wait"),
    )
}

async fn stock(call: &Call, activity: &Activity) -> Check {
    const AREA: &str = "stock";
    let id = activity.id;
    match call.console.stock().figures(id).await {
        Ok(Some(_)) => {}
        Ok(None) => {
            return Check::failed(AREA, format!("not in the store: `seckill preheat {id}`"));
        }
        Err(error) => return Check::failed(AREA, error.to_string()),
    }
    match call.console.operator.audit(id).await {
        Ok(Audit {
            balanced: Some(true),
            stock_left,
            ..
        }) => Check::passed(AREA, format!("{stock_left} units are in place, and the books balance")),
        Ok(Audit {
            balanced: Some(false), ..
        }) => Check::failed(AREA, format!("the books do not balance: `seckill reconcile {id}`")),
        Ok(_) => Check::warning(AREA, "the books changed while they were read: ask again"),
        Err(error) => Check::failed(AREA, error.to_string()),
    }
}
