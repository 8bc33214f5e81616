//! `seckill activity create`: everything is checked before anything is made, and a sale with a list is a draft until its list is in force.

use seckill_console::precheck;
use seckill_sale::ProductId;
use serde_json::{Value, json};

use super::eligibility::List;
use super::path;
use crate::cli::CreateArgs;
use crate::commands::moment::offset_hint;
use crate::commands::remote::Remote;
use crate::exit::{Failure, Outcome};

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
        "eligibility": args.min_level.map(|level| json!({ "min_level": level })),
        "draft": args.draft || args.eligibility.is_some(),
        "notice": args.notice,
    });
    let product = args.product.is_none().then(|| {
        json!({
            "name": args.title, "price_cents": args.price_cents, "currency": args.currency, "stock": args.stock,
        })
    });
    (activity, product)
}

/// Whether the server would take both, before one of them is made.
pub(super) fn check(args: &CreateArgs) -> Outcome {
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

pub(super) fn create(remote: &Remote, args: &CreateArgs) -> Result<Value, Failure> {
    let list = args.eligibility.as_deref().map(List::read).transpose();
    let list = list.map_err(|failure| failure.and("nothing was made"))?;
    let (mut activity, product) = bodies(args);
    if let Some(product) = product {
        if args.shards != 1 {
            refuse_shards(remote, &activity)?;
        }
        activity["product_id"] = remote.post("/admin/api/products", &product)?["id"].take();
    }
    let mut made = remote.post("/admin/api/activities", &activity)?;
    match (list, made["id"].as_u64()) {
        (Some(list), Some(id)) => {
            let mut listed = list_then_publish(remote, id, &list, args.draft)?;
            listed["warnings"] = made["warnings"].take();
            Ok(listed)
        }
        _ => Ok(made),
    }
}

fn list_then_publish(remote: &Remote, id: u64, list: &List, stays_draft: bool) -> Result<Value, Failure> {
    list.put(remote, id).map_err(|failure| {
        failure.and(format!(
            "activity {id} was made and is a draft without its list: `seckill activity eligibility put {id} FILE`, then \
             `seckill activity publish {id}`, or give it up with `seckill activity close {id}`"
        ))
    })?;
    if stays_draft {
        return remote.get(&path(id));
    }
    let published = remote.patch(&path(id), &json!({"publish": true}));
    published.map_err(|failure| {
        failure.and(format!(
            "activity {id} was made and has its list, but is a draft: `seckill activity publish {id}`"
        ))
    })
}

/// How many shards there may be is known to the server alone. It is asked for the sale of a product that nobody has, and refuses the sale for
/// itself first: so no product is left behind.
fn refuse_shards(remote: &Remote, activity: &Value) -> Outcome {
    let mut of_nothing = activity.clone();
    of_nothing["product_id"] = ProductId::MAX.into();
    remote.post_if_there("/admin/api/activities", &of_nothing).map(drop)
}
