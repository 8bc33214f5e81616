//! `seckill activity …` and `seckill preheat`, through the admin API of a running server.

mod summary;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use seckill_console::precheck;
use seckill_sale::ProductId;
use serde_json::{Value, json};

use super::Context;
use super::remote::Remote;
use crate::cli::{ActivityCommand, AdminArgs, CreateArgs};
use crate::exit::{Failure, Outcome};
use crate::logging::print;

pub(super) fn run(context: &Context, admin: &AdminArgs, command: &ActivityCommand) -> Outcome {
    if let ActivityCommand::Create(args) = command {
        check(args)?;
    }
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
    if context.json {
        return print(&answer.to_string());
    }
    let as_given = match command {
        ActivityCommand::Create(args) => Some((&*args.starts_at, &*args.ends_at)),
        _ => None,
    };
    match &answer {
        Value::Array(rows) => rows.iter().try_for_each(|row| print(&summary::row(row))),
        activity => print(&summary::lines(command, activity, as_given).join("\n")),
    }
}

/// The bodies that make the sale, and its product where none is named.
fn bodies(args: &CreateArgs) -> (Value, Option<Value>) {
    let activity = json!({
        "product_id": args.product,
        "title": args.title,
        "seckill_price_cents": args.price_cents,
        "stock": args.stock,
        "starts_at": args.starts_at,
        "ends_at": args.ends_at,
        "per_user_limit": args.per_user_limit,
        "shards": args.shards,
        "challenge": args.challenge,
    });
    let product = args.product.is_none().then(|| {
        json!({
            "name": args.title, "price_cents": args.price_cents, "currency": args.currency, "stock": args.stock,
        })
    });
    (activity, product)
}

/// Whether the server would take both, before one of them is made.
fn check(args: &CreateArgs) -> Outcome {
    let (activity, product) = bodies(args);
    precheck(&activity, product.as_ref()).map_err(|misfit| {
        let flag = match misfit.field.as_str() {
            "seckill_price_cents" => "price-cents".to_owned(),
            "product_id" => "product".to_owned(),
            field => field.replace('_', "-"),
        };
        let hint = match misfit.field.as_str() {
            "starts_at" => offset_hint(&args.starts_at),
            "ends_at" => offset_hint(&args.ends_at),
            _ => None,
        };
        let hint = hint.unwrap_or_default();
        Failure::usage(format!("--{flag}: {}{hint}; nothing was made", misfit.why))
    })
}

/// A moment without its offset is another one in each zone: none is taken, and how it is written in this machine's is told.
fn offset_hint(text: &str) -> Option<String> {
    let has_offset = text.parse::<Timestamp>().is_ok();
    let local = text.parse::<DateTime>().ok().filter(|_| !has_offset)?;
    let zoned = local.to_zoned_datetime(TimeZone::system()).ok()?;
    let said = zoned.strftime("%Y-%m-%dT%H:%M:%S%:z");
    Some(format!(
        "; `{text}` has no offset: in this machine's time zone it would be {said}"
    ))
}

fn create(remote: &Remote, args: &CreateArgs) -> Result<Value, Failure> {
    let (mut activity, product) = bodies(args);
    if let Some(product) = product {
        if args.shards != 1 {
            refuse_shards(remote, &activity)?;
        }
        activity["product_id"] = remote.post("/admin/api/products", &product)?["id"].take();
    }
    remote.post("/admin/api/activities", &activity)
}

/// How many shards there may be is known to the server alone. It is asked for the sale of a product that nobody has, and refuses the sale for
/// itself first: so no product is left behind.
fn refuse_shards(remote: &Remote, activity: &Value) -> Outcome {
    let mut of_nothing = activity.clone();
    of_nothing["product_id"] = ProductId::MAX.into();
    remote.post_if_there("/admin/api/activities", &of_nothing).map(drop)
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
