//! What the checklist looks at, in the order in which a purchase meets it.

mod findings;
mod layers;
mod nodes;
mod sale;

use seckill_gate::Limit;
use seckill_sale::ActivityId;

use crate::call::Call;
use crate::check::Check;
pub(crate) use sale::activity;

/// The node and what it stands on; `sale` is one whose orders will be written.
pub(crate) async fn node(call: &Call, sale: Option<ActivityId>) -> Vec<Check> {
    let mut checks = vec![entrance(call), limits(call)];
    checks.extend(layers::layers(call, sale).await);
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
        ("ip", limits.buy.ip),
        ("user", limits.buy.user),
        ("device", limits.buy.device),
        ("read", limits.read),
    ];
    let off: Vec<_> = all.iter().filter(|(_, limit)| *limit == Limit::Off).collect();
    if off.is_empty() {
        return Check::passed("limits", "all are on");
    }
    let names: Vec<_> = off.iter().map(|(name, _)| format!("limits.{name}")).collect();
    Check::warning("limits", format!("{} off: bots are not slowed down", names.join(", ")))
}
