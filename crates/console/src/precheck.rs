//! Whether the API would take a product and a sale of it, before either is sent: who makes both must not be left with the one alone.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;
use crate::{activities, input, products};

/// The most pieces a sale can be kept in, as far as it can be told without the server.
const SHARDS_MAX: u16 = u16::MAX;

/// What the API would refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {why}")]
pub struct Misfit {
    /// The member of the body.
    pub field: String,
    /// What is wrong with it.
    pub why: String,
}

/// Checks the bodies of `POST /admin/api/activities` and, where one is made for it, `POST /admin/api/products`. A product's id is not
/// looked up; where it is null, any will do.
///
/// # Errors
/// The first thing that the API would answer 40000 to.
pub fn precheck(activity: &Value, product: Option<&Value>) -> Result<(), Misfit> {
    let mut activity = activity.clone();
    if activity["product_id"].is_null() {
        activity["product_id"] = 1.into();
    }
    read(&activity)
        .and_then(|wanted| activities::narrowed(wanted, SHARDS_MAX))
        .map_err(misfit)?;
    if let Some(product) = product {
        read(product).and_then(products::narrowed).map_err(misfit)?;
    }
    Ok(())
}

fn read<T: DeserializeOwned>(body: &Value) -> Result<T, Error> {
    input::object(body.to_string().as_bytes())
}

fn misfit(error: Error) -> Misfit {
    match error {
        Error::Invalid { field, why } => Misfit {
            field: field.into_owned(),
            why: why.into_owned(),
        },
        other => Misfit {
            field: "body".to_owned(),
            why: other.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(change: &Value) -> Option<String> {
        let mut activity = json!({
            "product_id": null, "title": "t", "seckill_price_cents": 1, "stock": 5, "per_user_limit": 1,
            "starts_at": "2026-01-01T00:00:00+08:00", "ends_at": "2026-01-02T00:00:00+08:00",
        });
        let mut product = json!({"name": "t", "price_cents": 1, "currency": "CNY", "stock": 5});
        for (name, value) in change.as_object().expect("an object") {
            let body = if name == "currency" {
                &mut product
            } else {
                &mut activity
            };
            body[name] = value.clone();
        }
        precheck(&activity, Some(&product)).err().map(|misfit| misfit.field)
    }

    #[test]
    fn everything_that_the_api_would_refuse_is_named_before_anything_is_made() {
        assert_eq!(field(&json!({})), None);
        for (change, named) in [
            (json!({"starts_at": "tomorrow"}), "starts_at"),
            (json!({"ends_at": "2025-01-01T00:00:00Z"}), "ends_at"),
            (json!({"title": " "}), "title"),
            (json!({"seckill_price_cents": u64::MAX}), "seckill_price_cents"),
            (json!({"stock": 0}), "stock"),
            (json!({"per_user_limit": 6}), "per_user_limit"),
            (json!({"currency": "yuan"}), "currency"),
        ] {
            assert_eq!(field(&change).as_deref(), Some(named), "{change}");
        }
    }
}
