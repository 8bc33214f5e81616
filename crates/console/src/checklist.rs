//! What the checklist looks at, in the order in which a purchase meets it.

mod findings;
mod layers;
mod nodes;
mod sale;

use seckill_gate::{Limit, Limits};
use seckill_sale::{ActivityId, Challenge};

use crate::call::Call;
use crate::check::Check;
pub(crate) use sale::activity;

/// The node and what it stands on; `sale` is one whose orders will be written.
pub(crate) async fn node(call: &Call, sale: Option<ActivityId>) -> Vec<Check> {
    let mut checks = vec![entrance(call), challenge(call), limits(call.console.gate.limits())];
    checks.extend(layers::layers(call, sale).await);
    checks.extend(nodes::nodes(call).await);
    checks.extend((call.console.house_checks)());
    checks
}

fn entrance(call: &Call) -> Check {
    const AREA: &str = "entrance";
    let switches = call.console.gate.switches();
    // Both are said: whoever turns one back and asks again must not find the other.
    match (switches.entry_open, switches.read_only) {
        (false, false) => return Check::failed(AREA, "shut for everybody: set `entry_open` to true"),
        (true, true) => return Check::failed(AREA, "read-only: set `read_only` to false"),
        (false, true) => {
            return Check::failed(
                AREA,
                "shut for everybody, and read-only: set `entry_open` to true and `read_only` to false",
            );
        }
        (true, false) => {}
    }
    if switches.admit_ratio < 1.0 {
        let ratio = switches.admit_ratio;
        return Check::warning(AREA, format!("lets {ratio} of the buyers in: see `admit_ratio`"));
    }
    Check::passed(AREA, "open")
}

/// A challenge that a switch asks for, whatever the sales say.
fn challenge(call: &Call) -> Check {
    const AREA: &str = "challenge";
    match call.console.gate.switches().challenge {
        None => Check::passed(AREA, "each sale asks for its own, or for none"),
        Some(Challenge::None) => Check::warning(
            AREA,
            "no sale asks for any, whatever it says itself: see the switch `challenge`",
        ),
        Some(challenge) => Check::warning(
            AREA,
            format!(
                "every sale asks for `{}`, whatever it says itself: see the switch `challenge`",
                challenge.as_str()
            ),
        ),
    }
}

/// Limits that are off unless somebody sets them: without them everybody is limited all the same.
const OFF_BY_DEFAULT: [&str; 3] = ["network", "activity", "node"];

/// The limits in force.
fn limits(limits: Limits) -> Check {
    const AREA: &str = "limits";
    let all = limits.buy.named().chain([("read", limits.read)]);
    let (off, on): (Vec<_>, Vec<_>) = all.partition(|(_, limit)| *limit == Limit::Off);
    let names = |limits: &[(&str, Limit)]| {
        let names: Vec<_> = limits.iter().map(|(name, _)| format!("limits.{name}")).collect();
        names.join(", ")
    };
    let said = match (on.as_slice(), off.as_slice()) {
        (_, []) => "all are on".to_owned(),
        ([], _) => "all are off".to_owned(),
        (on, off) => format!("{} on; {} off", names(on), names(off)),
    };
    if off.iter().all(|(name, _)| OFF_BY_DEFAULT.contains(name)) {
        return Check::passed(AREA, said);
    }
    Check::warning(AREA, format!("{said}: bots are not slowed down"))
}

#[cfg(test)]
mod tests {
    use seckill_gate::PerLimit;

    use super::*;
    use crate::check::CheckState;

    #[test]
    fn limits_that_are_off_are_named_and_a_warning_where_they_are_on_unless_somebody_turned_them_off() {
        let rate = "5/s".parse().expect("a limit");
        let check = |off: fn(&mut Limits)| {
            let mut all = Limits {
                buy: PerLimit::all(rate),
                read: rate,
            };
            off(&mut all);
            let Check { state, said, .. } = limits(all);
            (state, said)
        };
        assert_eq!(check(|_| ()), (CheckState::Passed, "all are on".to_owned()));
        let (state, said) = check(|limits| {
            limits.buy.network = Limit::Off;
            limits.buy.activity = Limit::Off;
            limits.buy.node = Limit::Off;
        });
        let expect =
            "limits.ip, limits.user, limits.device, limits.read on; limits.network, limits.activity, limits.node off";
        assert_eq!((state, said.as_str()), (CheckState::Passed, expect));
        let (state, said) = check(|limits| limits.read = Limit::Off);
        assert!(said.ends_with("; limits.read off: bots are not slowed down"), "{said}");
        assert_eq!(state, CheckState::Warning);
        assert_eq!(
            check(|limits| *limits = Limits::OFF).1,
            "all are off: bots are not slowed down"
        );
    }
}
