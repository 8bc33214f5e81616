//! `seckill audit` and `seckill reconcile`, through the admin API of a running server.

use serde_json::{Value, json};

use super::Context;
use super::activity::show;
use super::remote::Remote;
use crate::cli::{AdminArgs, ReconcileArgs};
use crate::exit::{Failure, Outcome};
use crate::logging::print;

/// Exit 3 where the equation does not hold, or could not be read stably.
pub(super) fn audit(context: &Context, admin: &AdminArgs, id: u64) -> Outcome {
    let remote = Remote::new(context, admin)?;
    let audit = remote.get(&format!("/admin/api/activities/{id}/audit"))?;
    show(context, &audit)?;
    match audit["balanced"].as_bool() {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::violated(format!(
            "activity {id} does not balance; `seckill reconcile {id}` names the users"
        ))),
        None => Err(Failure::violated(format!(
            "activity {id} changed while it was read; ask again"
        ))),
    }
}

/// Exit 3 where differences are left.
pub(super) fn reconcile(context: &Context, admin: &AdminArgs, args: &ReconcileArgs) -> Outcome {
    let remote = Remote::new(context, admin)?;
    let report = remote.post(
        &format!("/admin/api/activities/{}/reconcile", args.id),
        &json!({ "fix": args.fix }),
    )?;
    let empty = Vec::new();
    let differences = report["differences"].as_array().unwrap_or(&empty);
    if context.json {
        print(&report.to_string())?;
    } else {
        differences.iter().try_for_each(|difference| print(&line(difference)))?;
    }
    let left = differences
        .iter()
        .filter(|difference| difference["fixed"] != Value::Bool(true))
        .count();
    let balanced = report["after"]["balanced"].as_bool();
    match (left, balanced) {
        (0, Some(true)) => Ok(()),
        (0, _) => Err(Failure::violated(
            "no user stands behind it, but the audit does not balance",
        )),
        (left, _) => Err(Failure::violated(format!("{left} differences"))),
    }
}

fn line(difference: &Value) -> String {
    let text = |name: &str| difference[name].as_str().unwrap_or("-").to_owned();
    let fixed = if difference["fixed"] == Value::Bool(true) {
        "fixed"
    } else {
        "open"
    };
    let members = ["user", "ticket", "kind", "store", "ledger"].map(|name| format!("{name}={}", text(name)));
    format!("{fixed}  {}", members.join("  "))
}
