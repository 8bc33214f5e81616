//! `seckill activity eligibility`: who may buy in a sale, as a list of users.

use std::fs;
use std::path::Path;

use seckill_console::precheck_list;
use serde_json::Value;

use super::path;
use crate::cli::EligibilityCommand;
use crate::commands::Context;
use crate::commands::remote::Remote;
use crate::exit::{Failure, Outcome};
use crate::logging::print;

/// A list of users that the server would take.
pub(super) struct List {
    bytes: Vec<u8>,
    media_type: &'static str,
}

impl List {
    /// Reads and checks a file.
    pub(super) fn read(file: &Path) -> Result<Self, Failure> {
        let bytes = fs::read(file).map_err(|error| Failure::failed(format!("{}: {error}", file.display())))?;
        let media_type = precheck_list(&bytes);
        let media_type = media_type.map_err(|misfit| Failure::usage(format!("{}: {misfit}", file.display())))?;
        Ok(Self { bytes, media_type })
    }

    /// Puts it in the place of the present one.
    pub(super) fn put(&self, remote: &Remote, id: u64) -> Result<Value, Failure> {
        remote.put(&route(id), self.media_type, &self.bytes)
    }
}

fn route(id: u64) -> String {
    format!("{}/eligibility", path(id))
}

pub(super) fn run(context: &Context, remote: &Remote, command: &EligibilityCommand) -> Outcome {
    let answer = match command {
        EligibilityCommand::Show { id } => remote.get(&route(*id))?,
        EligibilityCommand::Put { id, file } => {
            let list = List::read(file).map_err(|failure| failure.and("nothing was changed"))?;
            list.put(remote, *id)?
        }
        EligibilityCommand::Remove { id } => remote.delete(&route(*id), None)?,
    };
    if context.json {
        return print(&answer.to_string());
    }
    print(&format!("activity {}: for {}", answer["activity_id"], buyers(&answer)))
}

/// Who may buy, in words, of what the route says.
fn buyers(answer: &Value) -> String {
    let list = &answer["list"];
    let listed = match (list["users"].as_u64(), list["form"].as_str()) {
        _ if list.is_null() => None,
        (Some(users), _) => Some(format!("the {users} users of its list")),
        (None, Some(_)) => Some("the users of its Bloom filter".to_owned()),
        (None, None) => Some("the users of a list that this node has not read yet".to_owned()),
    };
    match (listed, answer["min_level"].as_u64()) {
        (None, None) => "everybody".to_owned(),
        (None, Some(level)) => format!("users from level {level} on"),
        (Some(listed), None) => listed,
        (Some(listed), Some(level)) => format!("{listed} who are of level {level} or above"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn who_may_buy_is_told_in_words() {
        let said = |min_level: Value, list: Value| buyers(&json!({"min_level": min_level, "list": list}));
        assert_eq!(said(Value::Null, Value::Null), "everybody");
        assert_eq!(said(3.into(), Value::Null), "users from level 3 on");
        let users = json!({"version": 2, "form": "users", "users": 2});
        assert_eq!(
            said(3.into(), users),
            "the 2 users of its list who are of level 3 or above"
        );
        let filter = json!({"version": 2, "form": "bloom", "users": null});
        assert_eq!(said(Value::Null, filter), "the users of its Bloom filter");
        let unread = json!({"version": 2, "form": null, "users": null});
        assert_eq!(
            said(Value::Null, unread),
            "the users of a list that this node has not read yet"
        );
    }
}
