//! `seckill audit-rows`: who did what, newest first, through the admin API of a running server. The API gives pages; rows are chosen here.

use std::collections::BTreeSet;

use seckill_console::precheck_moment;
use seckill_sale::EpochMs;
use serde_json::{Map, Value};

use super::Context;
use super::remote::Remote;
use crate::cli::{AdminArgs, AuditRowsArgs};
use crate::exit::{Failure, Outcome};
use crate::logging::print;

const PATH: &str = "/admin/api/audit-rows";
/// Rows that are read at a time: the most that a server gives.
const PAGE_ROWS: usize = 500;

pub(super) fn run(context: &Context, admin: &AdminArgs, args: &AuditRowsArgs) -> Outcome {
    let wanted = Wanted::of(args)?;
    let remote = Remote::new(context, admin)?;
    let rows = newest(&remote, args, &wanted)?;
    if context.json {
        return print(&Value::from(rows).to_string());
    }
    rows.iter().try_for_each(|row| print(&line(row)))
}

/// The newest rows that are wanted.
fn newest(remote: &Remote, args: &AuditRowsArgs, wanted: &Wanted<'_>) -> Result<Vec<Value>, Failure> {
    let most = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let mut rows = Vec::new();
    let mut cursor = args.before.map(|id| id.to_string());
    loop {
        let behind = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let mut page = remote.get(&format!("{PATH}?limit={PAGE_ROWS}{behind}"))?;
        for row in page["audit_rows"].as_array_mut().into_iter().flatten() {
            if wanted.is_over(row) {
                return Ok(rows);
            }
            if wanted.is_one(row) {
                rows.push(row.take());
            }
            if rows.len() == most {
                return Ok(rows);
            }
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return Ok(rows),
        }
    }
}

/// Which rows are shown.
struct Wanted<'a> {
    args: &'a AuditRowsArgs,
    since: Option<EpochMs>,
}

impl<'a> Wanted<'a> {
    fn of(args: &'a AuditRowsArgs) -> Result<Self, Failure> {
        let since = args.since.as_deref().map(|since| precheck_moment("since", since));
        let since = since.transpose();
        let since = since.map_err(|misfit| Failure::usage(format!("--since: {}", misfit.why)))?;
        Ok(Self { args, since })
    }

    fn is_one(&self, row: &Value) -> bool {
        let is = |name: &str, asked: &Option<String>| asked.as_ref().is_none_or(|asked| row[name] == asked.as_str());
        let action = row["action"].as_str().unwrap_or_default();
        let of_kind = |asked: &String| {
            let rest = action.strip_prefix(asked.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        is("actor", &self.args.actor)
            && is("subject", &self.args.subject)
            && self.args.action.as_ref().is_none_or(of_kind)
    }

    /// Whether this row and all behind it are older than asked for.
    fn is_over(&self, row: &Value) -> bool {
        let at = row["at"].as_str().and_then(|at| precheck_moment("at", at).ok());
        self.since.zip(at).is_some_and(|(since, at)| at < since)
    }
}

/// One line: number, moment, who, what, of what, and what it was before and is after.
fn line(row: &Value) -> String {
    let text = |name: &str| row[name].as_str().unwrap_or("-").to_owned();
    let change = match (&row["before"], &row["after"]) {
        (Value::Null, Value::Null) => String::new(),
        (Value::Null, after) => format!("  {after}"),
        (before, Value::Null) => format!("  was {before}"),
        (before, after) => format!("  {}", changed(before, after)),
    };
    let id = row["id"].to_string();
    let [at, actor, action, subject] = ["at", "actor", "action", "subject"].map(text);
    format!("{id:>6}  {at}  {actor}  {action}  {subject}{change}")
}

/// What differs: of two objects their members that do, since those of the switches or of a sale are many. `--json` has all.
fn changed(before: &Value, after: &Value) -> String {
    let (Some(were), Some(are)) = (before.as_object(), after.as_object()) else {
        return format!("{before} -> {after}");
    };
    let of = |members: &Map<String, Value>, name: &str| members.get(name).cloned().unwrap_or_default();
    let names: BTreeSet<_> = were.keys().chain(are.keys()).collect();
    let pairs = names.iter().map(|name| (name, of(were, name), of(are, name)));
    let differing = pairs.filter(|(_, was, is)| was != is);
    let told: Vec<_> = differing
        .map(|(name, was, is)| format!("{name}: {}", changed(&was, &is)))
        .collect();
    match told.as_slice() {
        [] => "nothing differs".to_owned(),
        told => told.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn args() -> AuditRowsArgs {
        AuditRowsArgs {
            limit: 50,
            before: None,
            actor: None,
            action: None,
            subject: None,
            since: None,
        }
    }

    #[test]
    fn rows_are_chosen_by_who_what_and_of_what() {
        let row = json!({"actor": "admin", "action": "block.add", "subject": "block 1"});
        let is_one = |change: fn(&mut AuditRowsArgs)| {
            let mut args = args();
            change(&mut args);
            Wanted::of(&args).expect("fine").is_one(&row)
        };
        assert!(is_one(|_| ()));
        assert!(is_one(|args| args.action = Some("block".to_owned())));
        assert!(is_one(|args| args.action = Some("block.add".to_owned())));
        assert!(!is_one(|args| args.action = Some("block.a".to_owned())), "whole words");
        assert!(!is_one(|args| args.actor = Some("expired".to_owned())));
        assert!(!is_one(|args| args.subject = Some("block".to_owned())));
    }

    #[test]
    fn a_line_tells_what_was_and_what_is() {
        let row = |before: Value, after: Value| {
            line(
                &json!({"id": 7, "at": "t", "actor": "admin", "action": "a", "subject": "s", "before": before, "after": after}),
            )
        };
        assert_eq!(row(json!(null), json!({"x": 1})), "     7  t  admin  a  s  {\"x\":1}");
        assert_eq!(row(json!(1), json!(null)), "     7  t  admin  a  s  was 1");
        assert_eq!(row(json!(1), json!(2)), "     7  t  admin  a  s  1 -> 2");
        let switches =
            |open, ip: Value| json!({"entry_open": open, "admit_ratio": 1.0, "limits": {"ip": ip, "user": null}});
        assert_eq!(
            row(switches(true, json!(null)), switches(false, json!("5/s"))),
            "     7  t  admin  a  s  entry_open: true -> false, limits: ip: null -> \"5/s\""
        );
        assert_eq!(
            row(json!({"a": 1}), json!({"a": 1})),
            "     7  t  admin  a  s  nothing differs"
        );
    }
}
