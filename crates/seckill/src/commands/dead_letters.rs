//! `seckill dead-letters`, through the admin API of a running server.

use serde_json::{Value, json};

use super::Context;
use super::remote::Remote;
use crate::cli::{AdminArgs, DeadLettersCommand};
use crate::exit::Outcome;
use crate::logging::print;

const PATH: &str = "/admin/api/dead-letters";

pub(super) fn run(context: &Context, admin: &AdminArgs, command: &DeadLettersCommand) -> Outcome {
    let remote = Remote::new(context, admin)?;
    let answer = match command {
        DeadLettersCommand::List => remote.rows(PATH, "dead_letters")?,
        DeadLettersCommand::Retry { id } => remote.post(&format!("{PATH}/{id}/retry"), &json!({}))?,
        DeadLettersCommand::Discard { id, reason } => {
            remote.post(&format!("{PATH}/{id}/discard"), &json!({ "reason": reason }))?
        }
    };
    if context.json {
        return print(&answer.to_string());
    }
    match &answer {
        Value::Array(rows) if rows.is_empty() => print("no dead letters"),
        Value::Array(rows) => rows.iter().try_for_each(|row| print(&line(row))),
        letter => print(&line(letter)),
    }
}

/// One line of the list.
fn line(letter: &Value) -> String {
    let text = |name: &str| letter[name].as_str().unwrap_or("-").to_owned();
    format!(
        "{:>4}  {:<9}  {} of {}, {} units, after {} attempts, since {}: {}",
        letter["id"].to_string(),
        text("state"),
        text("ticket"),
        text("user_id"),
        letter["quantity"],
        letter["attempts"],
        text("parked_at"),
        text("reason")
    )
}
