//! `seckill blocks`, through the admin API of a running server.

use serde_json::{Value, json};

use super::Context;
use super::moment;
use super::remote::Remote;
use crate::cli::{AdminArgs, BLOCK_KINDS, BlocksCommand};
use crate::exit::{Failure, Outcome};
use crate::logging::print;

const PATH: &str = "/admin/api/blocks";

pub(super) fn run(context: &Context, admin: &AdminArgs, command: &BlocksCommand) -> Outcome {
    let remote = Remote::new(context, admin)?;
    let answer = match command {
        BlocksCommand::List => remote.rows(PATH, "blocks")?,
        BlocksCommand::Add {
            kind,
            value,
            reason,
            end,
            force,
        } => {
            let body = json!({
                "kind": kind, "value": value, "reason": reason, "expires_at": moment::end(end)?, "force": force,
            });
            remote.post(PATH, &body)?
        }
        BlocksCommand::Remove { which, value } => remove(&remote, which, value.as_deref())?,
    };
    if context.json {
        return print(&answer.to_string());
    }
    match command {
        BlocksCommand::List => answer
            .as_array()
            .into_iter()
            .flatten()
            .try_for_each(|block| print(&row(block))),
        BlocksCommand::Add { .. } => print(&format!("blocked\n{}", row(&answer))),
        BlocksCommand::Remove { .. } => {
            let ids = answer["removed"].as_array().into_iter().flatten();
            let ids: Vec<_> = ids.map(ToString::to_string).collect();
            print(&format!("removed: block {}", ids.join(", ")))
        }
    }
}

/// By its number, or all of one address, network, user or device.
fn remove(remote: &Remote, which: &str, value: Option<&str>) -> Result<Value, Failure> {
    match (which.parse::<u64>(), value) {
        (Ok(id), None) => remote.delete(&format!("{PATH}/{id}"), None),
        (Err(_), Some(value)) if BLOCK_KINDS.contains(&which) => {
            remote.delete(PATH, Some(&json!({"kind": which, "value": value})))
        }
        _ => Err(Failure::usage(
            "say a block's number, as `blocks list` tells it, or what is blocked, such as `ip 203.0.113.0/24` or `user alice`",
        )),
    }
}

/// One line of the list.
fn row(block: &Value) -> String {
    let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
    let until = match block["expires_at"].as_str() {
        Some(at) => format!("until {at}"),
        None => "until removed".to_owned(),
    };
    let row = format!(
        "{:>4}  {:<6}  {}  {until}  {}",
        block["id"].to_string(),
        text("kind"),
        text("value"),
        text("reason")
    );
    row.trim_end().to_owned()
}
