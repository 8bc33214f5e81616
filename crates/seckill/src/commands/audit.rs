//! `seckill audit` and `seckill reconcile`, through the admin API of a running server.

mod reconciled;

use seckill_bench::audit::Audit;
use serde_json::json;

use super::Context;
use super::remote::Remote;
use crate::cli::{AdminArgs, ReconcileArgs};
use crate::exit::{Failure, Outcome};
use crate::logging::print;

/// Exit 3 where the equation does not hold, or could not be read stably.
pub(super) fn audit(context: &Context, admin: &AdminArgs, id: u64) -> Outcome {
    let remote = Remote::new(context, admin)?;
    let told = remote.get(&format!("/admin/api/activities/{id}/audit"))?;
    if context.json {
        print(&told.to_string())?;
    } else {
        let audit: Audit = serde_json::from_value(told.clone())
            .map_err(|error| Failure::failed(format!("the audit can't be read: {error}")))?;
        print(&lines(&audit).join("\n"))?;
    }
    match told["balanced"].as_bool() {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::violated(format!(
            "activity {id} does not balance; `seckill reconcile {id}` names the users"
        ))),
        None => Err(Failure::violated(format!(
            "activity {id} changed while it was read; ask again"
        ))),
    }
}

/// The conservation equation with its numbers, in units, one equation a line; what does not hold says so.
pub(super) fn lines(audit: &Audit) -> Vec<String> {
    let line = |name: &str, whole: u64, what: &str, parts: &[(u64, &str)]| {
        let sum: u64 = parts.iter().map(|(units, _)| units).sum();
        let shown: Vec<_> = parts.iter().map(|(units, what)| format!("{units} {what}")).collect();
        let fault = if sum == whole {
            String::new()
        } else {
            format!("   <- does not hold: the right side is {sum}")
        };
        format!("{name:<10}{whole} {what} = {}{fault}", shown.join(" + "))
    };
    let balanced = match audit.balanced {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown, it changed while it was read",
    };
    vec![
        line(
            "units",
            audit.stock_total,
            "units",
            &[
                (audit.stock_left, "left"),
                (audit.queued, "queued"),
                (audit.dead, "dead"),
                (audit.orders_live, "in orders"),
                (audit.returned, "returned"),
            ],
        ),
        line(
            "accepted",
            audit.accepted,
            "accepted",
            &[
                (audit.queued, "queued"),
                (audit.dead, "dead"),
                (audit.succeeded, "succeeded"),
                (audit.failed, "failed"),
            ],
        ),
        line(
            "orders",
            audit.succeeded,
            "succeeded",
            &[
                (audit.orders_live, "in orders"),
                (audit.orders_cancelled, "cancelled or expired"),
            ],
        ),
        format!("{:<10}{balanced}", "balanced"),
    ]
}

/// Exit 3 where differences are left.
pub(super) fn reconcile(context: &Context, admin: &AdminArgs, args: &ReconcileArgs) -> Outcome {
    let remote = Remote::new(context, admin)?;
    let report = remote.post(
        &format!("/admin/api/activities/{}/reconcile", args.id),
        &json!({ "fix": args.fix }),
    )?;
    if context.json {
        print(&report.to_string())?;
    } else {
        print(&reconciled::lines(&report, args.id, args.fix).join("\n"))?;
    }
    let left = reconciled::open(&report).count();
    match (left, report["after"]["balanced"].as_bool()) {
        (0, Some(true)) => Ok(()),
        (0, _) => Err(Failure::violated(
            "no user stands behind it, but the audit does not balance",
        )),
        (left, _) => Err(Failure::violated(format!("{left} differences are open"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_fails_is_named_with_both_its_sides() {
        let sound = Audit {
            stock_total: 10,
            stock_left: 7,
            accepted: 3,
            queued: 0,
            succeeded: 3,
            failed: 0,
            dead: 0,
            orders_live: 3,
            orders_cancelled: 0,
            returned: 0,
            balanced: Some(true),
        };
        let said = lines(&sound);
        assert_eq!(
            said[0],
            "units     10 units = 7 left + 0 queued + 0 dead + 3 in orders + 0 returned"
        );
        assert!(said.iter().all(|line| !line.contains("does not hold")), "{said:?}");
        let short = Audit {
            orders_live: 2,
            balanced: Some(false),
            ..sound
        };
        let failing = lines(&short)
            .iter()
            .map(|line| line.contains("does not hold"))
            .collect::<Vec<_>>();
        assert_eq!(failing, [true, false, true, false]);
    }
}
