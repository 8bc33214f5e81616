//! `seckill check`: the checklist before a sale, through the admin API of a running server.

use serde_json::Value;

use super::Context;
use super::remote::Remote;
use crate::cli::AdminArgs;
use crate::exit::{Failure, Outcome};
use crate::logging::print;

/// Exit 3 where something failed; warnings are only said.
pub(super) fn run(context: &Context, admin: &AdminArgs, id: Option<u64>) -> Outcome {
    let remote = Remote::new(context, admin)?;
    let path = match id {
        Some(id) => format!("/admin/api/activities/{id}/check"),
        None => "/admin/api/check".to_owned(),
    };
    let list = remote.get(&path)?;
    let checks = list["checks"].as_array().map_or(&[][..], Vec::as_slice);
    if context.json {
        print(&list.to_string())?;
    } else {
        let width = checks
            .iter()
            .filter_map(|check| check["area"].as_str())
            .map(str::len)
            .max();
        checks
            .iter()
            .try_for_each(|check| print(&line(check, width.unwrap_or(0))))?;
    }
    let failed = checks.iter().filter(|check| check["state"] == "failed").count();
    match failed {
        0 => Ok(()),
        failed => Err(Failure::violated(format!("{failed} of {} checks failed", checks.len()))),
    }
}

fn line(check: &Value, width: usize) -> String {
    let text = |name: &str| check[name].as_str().unwrap_or("-").to_owned();
    format!("{:<8} {:<width$} {}", text("state"), text("area"), text("said"))
}
