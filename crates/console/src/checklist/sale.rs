//! What the checklist says of one sale, as it stands now.

use seckill_api::rfc3339;
use seckill_flow::Audit;
use seckill_gate::Authority;
use seckill_sale::{Activity, Challenge, Status};
use seckill_stock::Condition;

use super::findings::line;
use crate::call::Call;
use crate::check::Check;

/// All lines of a sale.
pub(crate) async fn activity(call: &Call, activity: &Activity) -> Vec<Check> {
    let mut checks = vec![
        sale(call, activity),
        backlog(call, activity),
        stock(call, activity).await,
    ];
    checks.extend(eligibility(call, activity));
    checks.extend(shards(call, activity).await);
    checks
}

/// Of a sale for some: whether there can be anybody of them.
fn eligibility(call: &Call, activity: &Activity) -> Option<Check> {
    const AREA: &str = "eligibility";
    let min_level = activity.eligibility.min_level?;
    let tell_levels = match call.console.gate.authority() {
        Authority::Tokens(verifiers) => verifiers.tell_levels(),
        Authority::Gateway => false,
    };
    Some(if tell_levels {
        Check::passed(AREA, format!("for users from level {min_level} on"))
    } else {
        let why = format!(
            "for users from level {min_level} on, but nobody has one here: tokens say it in the claim that `auth.level_claim` names"
        );
        Check::failed(AREA, why)
    })
}

fn sale(call: &Call, activity: &Activity) -> Check {
    const AREA: &str = "sale";
    let (starts_at, ends_at) = (rfc3339(activity.window.starts_at), rfc3339(activity.window.ends_at));
    match activity.status {
        Status::Closed => Check::failed(AREA, "closed for good"),
        _ if activity.window.ends_at <= call.now => Check::failed(AREA, format!("ended at {ends_at}")),
        Status::Draft => Check::failed(
            AREA,
            format!(
                "a draft, which buyers do not see: `seckill activity publish {}`",
                activity.id
            ),
        ),
        Status::Paused => match activity.resumes_at {
            Some(at) => Check::warning(AREA, format!("paused until {}", rfc3339(at))),
            None => Check::failed(AREA, "paused: resume it"),
        },
        Status::Running => match call.console.gate.catalogue().find(activity.id) {
            Ok(_) => Check::passed(
                AREA,
                format!("sells from {starts_at} to {ends_at}{}", asked(call, activity)),
            ),
            Err(_) => Check::failed(
                AREA,
                "this node does not know it yet; another one's sale is known within a second: ask again",
            ),
        },
    }
}

/// What its buyers have to solve first, be it said by a switch or by the sale itself.
fn asked(call: &Call, activity: &Activity) -> String {
    match call.console.gate.switches().challenge_of(activity) {
        Challenge::None => String::new(),
        challenge => format!(", to whoever has met its challenge, `{}`", challenge.as_str()),
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
    if let Ok(Condition::Another { .. }) = call.console.stock().condition(id).await {
        return Check::failed(
            AREA,
            "the store has another sale that had this number; the database has lost that one, as after a restore from an older copy. \
             Nobody is admitted until the scheduler has dropped it",
        );
    }
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

/// Of a sale that is split: each part must have units to begin with.
async fn shards(call: &Call, activity: &Activity) -> Vec<Check> {
    const AREA: &str = "shards";
    let (units, shards) = (activity.stock_total, u64::from(activity.shards));
    if shards < 2 {
        return Vec::new();
    }
    if units < shards {
        let why = format!(
            "{units} units in {shards} shards: some have none, and their buyers wait until units come from the others; \
             give the sale more units or fewer shards"
        );
        return vec![Check::warning(AREA, why)];
    }
    match call.console.stock().examine_sale(activity.id).await {
        Ok(found) => found.iter().map(|finding| line(AREA, finding)).collect(),
        Err(error) => vec![Check::failed(AREA, error.to_string())],
    }
}
