//! `seckill activity …` and `seckill preheat`, through the admin API of a running server.

mod create;
mod eligibility;
mod summary;

use serde_json::{Value, json};

use super::Context;
use super::moment;
use super::remote::Remote;
use crate::cli::{ActivityCommand, AdminArgs, ChangeArgs};
use crate::exit::{Failure, Outcome};
use crate::logging::print;

pub(super) fn run(context: &Context, admin: &AdminArgs, command: &ActivityCommand) -> Outcome {
    if let ActivityCommand::Create(args) = command {
        create::check(args)?;
    }
    let remote = Remote::new(context, admin)?;
    let action = |id: &u64, action: &str, body: Value| remote.post(&format!("{}/{action}", path(*id)), &body);
    let answer = match command {
        ActivityCommand::Create(args) => create::create(&remote, args)?,
        ActivityCommand::List => remote.rows("/admin/api/activities", "activities")?,
        ActivityCommand::Show { id } => remote.get(&path(*id))?,
        ActivityCommand::Change(args) => remote.patch(&path(args.id), &change(args)?)?,
        ActivityCommand::Publish { id } => remote.patch(&path(*id), &json!({"publish": true}))?,
        ActivityCommand::Eligibility { command } => return eligibility::run(context, &remote, command),
        ActivityCommand::Preheat { id } => action(id, "preheat", json!({}))?,
        ActivityCommand::Pause { id, end } => {
            let paused = action(id, "pause", at(moment::end(end)?.as_deref()));
            paused.map_err(with_a_way_out)?
        }
        ActivityCommand::Resume { id, at: when } => {
            let when = when.as_deref().map(|when| moment::given("at", when)).transpose()?;
            action(id, "resume", at(when))?
        }
        ActivityCommand::Close { id } => action(id, "close", json!({}))?,
        ActivityCommand::AddStock { id, quantity } => action(id, "add-stock", json!({ "quantity": quantity }))?,
    };
    if context.json {
        return print(&answer.to_string());
    }
    match &answer {
        Value::Array(rows) => rows.iter().try_for_each(|row| print(&summary::row(row))),
        activity => print(&summary::lines(command, activity).join("\n")),
    }
}

fn path(id: u64) -> String {
    format!("/admin/api/activities/{id}")
}

fn at(moment: Option<&str>) -> Value {
    moment.map_or_else(|| json!({}), |at| json!({ "at": at }))
}

/// Without its database a server pauses what the store has, and nothing else.
fn with_a_way_out(failure: Failure) -> Failure {
    if failure.layer() != Some("database") {
        return failure;
    }
    failure.and(
        "a sale that was never preheated sells nothing yet, and only the database can pause it; what needs no database is to shut the whole \
         entrance: `seckill switches set entry_open=false`",
    )
}

/// The members that the flags name, and no others.
fn change(args: &ChangeArgs) -> Result<Value, Failure> {
    let mut body = json!({});
    let mut set = |member: &str, value: Option<Value>| {
        if let Some(value) = value {
            body[member] = value;
        }
    };
    let moment = |flag, text: &Option<String>| {
        let given = text.as_deref().map(|text| moment::given(flag, text)).transpose()?;
        Ok::<_, Failure>(given.map(Value::from))
    };
    set("title", args.title.as_deref().map(Value::from));
    set("seckill_price_cents", args.price_cents.map(Value::from));
    set("starts_at", moment("starts-at", &args.starts_at)?);
    set("ends_at", moment("ends-at", &args.ends_at)?);
    set("per_user_limit", args.per_user_limit.map(Value::from));
    set("challenge", args.challenge.as_deref().map(Value::from));
    set("eligibility", args.min_level.map(|level| json!({ "min_level": level })));
    set("eligibility", args.for_everybody.then_some(Value::Null));
    set("notice", args.notice.as_deref().map(Value::from));
    set("notice", args.no_notice.then_some(Value::Null));
    Ok(body)
}
