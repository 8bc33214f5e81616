//! `seckill activity …` and `seckill preheat`, through the admin API of a running server.

use serde_json::{Map, Value, json};

use super::Context;
use super::remote::Remote;
use crate::cli::{ActivityCommand, AdminArgs, CreateArgs};
use crate::exit::{Failure, Outcome};
use crate::logging::print;

pub(super) fn run(context: &Context, admin: &AdminArgs, command: &ActivityCommand) -> Outcome {
    let remote = Remote::new(context, admin)?;
    let action =
        |id: &u64, action: &str, body: Value| remote.post(&format!("/admin/api/activities/{id}/{action}"), &body);
    let answer = match command {
        ActivityCommand::Create(args) => create(&remote, args)?,
        ActivityCommand::List => list(&remote)?,
        ActivityCommand::Show { id } => remote.get(&format!("/admin/api/activities/{id}"))?,
        ActivityCommand::Preheat { id } => action(id, "preheat", json!({}))?,
        ActivityCommand::Pause { id } => action(id, "pause", json!({}))?,
        ActivityCommand::Resume { id } => action(id, "resume", json!({}))?,
        ActivityCommand::Close { id } => action(id, "close", json!({}))?,
        ActivityCommand::AddStock { id, quantity } => action(id, "add-stock", json!({ "quantity": quantity }))?,
    };
    show(context, &answer)
}

fn create(remote: &Remote, args: &CreateArgs) -> Result<Value, Failure> {
    let mut body = json!({
        "product_id": args.product,
        "title": args.title,
        "seckill_price_cents": args.price_cents,
        "stock": args.stock,
        "starts_at": args.starts_at,
        "ends_at": args.ends_at,
        "per_user_limit": args.per_user_limit,
    });
    if args.product.is_none() {
        let product = json!({
            "name": args.title, "price_cents": args.price_cents, "currency": args.currency, "stock": args.stock,
        });
        body["product_id"] = remote.post("/admin/api/products", &product)?["id"].take();
    }
    remote.post("/admin/api/activities", &body)
}

/// All pages of the list.
fn list(remote: &Remote) -> Result<Value, Failure> {
    let (mut rows, mut cursor) = (Vec::new(), String::new());
    loop {
        let mut page = remote.get(&format!("/admin/api/activities?limit=500{cursor}"))?;
        if let Value::Array(items) = page["activities"].take() {
            rows.extend(items);
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(Value::Array(rows)),
        }
    }
}

/// Prints an answer: as it came, or one line a row.
pub(super) fn show(context: &Context, answer: &Value) -> Outcome {
    if context.json {
        return print(&answer.to_string());
    }
    match answer {
        Value::Array(rows) => rows.iter().try_for_each(|row| print(&summary(row))),
        Value::Object(members) => print(&lines(members)),
        other => print(&other.to_string()),
    }
}

fn summary(row: &Value) -> String {
    let members = [
        "id",
        "phase",
        "title",
        "stock_left",
        "stock_total",
        "starts_at",
        "ends_at",
    ];
    let texts = members.map(|name| format!("{name}={}", plain(&row[name])));
    texts.join("  ")
}

fn lines(members: &Map<String, Value>) -> String {
    let width = members.keys().map(String::len).max().unwrap_or(0);
    let line = |(name, value): (&String, &Value)| format!("{name:<width$}  {}", plain(value));
    members.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
