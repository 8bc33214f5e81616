//! `seckill switches`, through the admin API of a running server.

mod shown;

use seckill_console::precheck_switches;
use serde_json::{Map, Value, json};

use super::Context;
use super::moment;
use super::remote::Remote;
use crate::cli::{AdminArgs, SetArgs, SwitchesCommand};
use crate::exit::{Failure, Outcome};
use crate::logging::print;

const PATH: &str = "/admin/api/switches";

pub(super) fn run(context: &Context, admin: &AdminArgs, command: &SwitchesCommand) -> Outcome {
    let (body, named) = match command {
        SwitchesCommand::Show => (None, Vec::new()),
        SwitchesCommand::Set(args) => (Some(body(args)?), names(args)),
    };
    let remote = Remote::new(context, admin)?;
    let answer = match &body {
        None => remote.get(PATH)?,
        Some(body) => remote.patch(PATH, body)?,
    };
    if context.json {
        return print(&answer.to_string());
    }
    let lines = match answer["effects"].as_array() {
        Some(effects) => shown::rehearsed(&answer, effects, &named),
        None => shown::in_force(&answer, &named),
    };
    print(&lines.join("\n"))
}

/// Names of the switches that a change names.
fn names(args: &SetArgs) -> Vec<&str> {
    let members = args.members.iter().filter_map(|member| member.split_once('='));
    members.map(|(name, _)| name).collect()
}

/// The patch that was asked for.
fn body(args: &SetArgs) -> Result<Value, Failure> {
    let refused = |why: String| Failure::usage(format!("{why}; nothing was changed"));
    let mut body = Map::new();
    for member in &args.members {
        let (name, value) = member
            .split_once('=')
            .ok_or_else(|| refused(format!("{member:?} is not NAME=VALUE, such as entry_open=false")))?;
        if !put(&mut body, name, value) {
            return Err(refused(format!("{name} is named twice")));
        }
    }
    let end = moment::end(&args.end)?;
    let others = [
        ("dry_run", args.dry_run.then_some(json!(true))),
        ("expires_at", end.map(Value::from)),
        ("revision", args.revision.map(Value::from)),
    ];
    for (name, value) in others.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        body.insert(name.to_owned(), value);
    }
    let body = Value::from(body);
    precheck_switches(&body).map_err(|misfit| refused(misfit.to_string()))?;
    Ok(body)
}

/// Puts a member into the patch, `limits.ip` into the object `limits`; false where it is there. What is no JSON is a text.
fn put(body: &mut Map<String, Value>, name: &str, value: &str) -> bool {
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    let Some((outer, inner)) = name.split_once('.') else {
        return body.insert(name.to_owned(), value).is_none();
    };
    let within = body.entry(outer).or_insert_with(|| json!({})).as_object_mut();
    within.is_some_and(|within| within.insert(inner.to_owned(), value).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::EndArgs;

    fn read(members: &[&str]) -> Result<Value, String> {
        let args = SetArgs {
            members: members.iter().map(ToString::to_string).collect(),
            dry_run: false,
            end: EndArgs {
                expires_at: None,
                lasts: None,
            },
            revision: None,
        };
        body(&args).map_err(|failure| failure.to_string())
    }

    #[test]
    fn switches_are_written_as_the_api_names_them() {
        let members = [
            "entry_open=false",
            "limits.ip=20/s burst 40",
            "limits.user=null",
            "challenge=pow",
        ];
        let expected = json!({
            "entry_open": false, "limits": {"ip": "20/s burst 40", "user": null}, "challenge": "pow",
        });
        assert_eq!(read(&members), Ok(expected));
        let automatic = read(&["auto_admit.store_p99_ms=100", "auto_admit.step=0.2"]);
        assert_eq!(automatic, Ok(json!({"auto_admit": {"store_p99_ms": 100, "step": 0.2}})));
    }

    #[test]
    fn what_is_no_switch_is_refused_by_its_name() {
        for (members, named) in [
            (&["entry_open"][..], "NAME=VALUE"),
            (
                &["entry-open=false"],
                "entry-open: there is no such member; there are entry_open, ",
            ),
            (&["entry_open=maybe"], "entry_open: must be true or false"),
            (&["limits.ip=often"], "limits.ip: must be a rate such as"),
            (&["limits.ip=5"], "limits.ip: must be a rate such as"),
            (&["challenge=5"], "challenge: must be one of none, token, captcha, pow"),
            (&["limits.ip=off", "limits.ip=null"], "limits.ip is named twice"),
            (
                &["auto_admit=off", "auto_admit.step=0.2"],
                "auto_admit.step is named twice",
            ),
        ] {
            let refused = read(members).expect_err("refused");
            assert!(
                refused.contains(named) && refused.contains("nothing was changed"),
                "{refused}"
            );
        }
    }
}
