//! Whether the API would take what somebody is about to send: who makes a product, a sale of it and its list of users must not be left with
//! the first of them alone. The numbers of what is named are not looked up.

use seckill_gate::SwitchesPatch;
use seckill_sale::EpochMs;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;
use crate::{activities, eligibility, input, products};

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

/// A moment as the API reads one in the member `field`.
///
/// # Errors
/// Where it is none.
pub fn precheck_moment(field: &'static str, text: &str) -> Result<EpochMs, Misfit> {
    input::moment(field, text).map_err(misfit)
}

/// Checks the body of `PATCH /admin/api/switches`, but for the ranges of its values.
///
/// # Errors
/// The first member that there is none of, or that can't have such a value.
pub fn precheck_switches(patch: &Value) -> Result<(), Misfit> {
    read::<SwitchesPatch>(patch).map(drop).map_err(misfit)
}

/// Checks the body of `PUT /admin/api/activities/{id}/eligibility`; gives the media type that it has to be sent with.
///
/// # Errors
/// The first line that is no user id, or what is wrong with a Bloom filter.
pub fn precheck_list(list: &[u8]) -> Result<&'static str, Misfit> {
    eligibility::check(list).map_err(misfit)
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
    fn lists_and_switches_are_read_as_the_api_reads_them() {
        let list = |text: &str| precheck_list(text.as_bytes()).map_err(|misfit| misfit.field);
        assert_eq!(list("alice\nbob\n"), Ok("text/plain"));
        let filter = r#" {"bloom": {"bytes": "AAAAAAAAAAA=", "bits": 64, "hashes": 3}}"#;
        assert_eq!(list(filter), Ok("application/json"));
        assert_eq!(list("alice\n\nbob\n"), Err("line 2".to_owned()));
        assert_eq!(
            list(r#"{"bloom": {"bytes": "AA==", "bits": 64, "hashes": 3}}"#),
            Err("bloom".to_owned())
        );
        let switches = |patch: Value| precheck_switches(&patch).map_err(|misfit| misfit.field);
        assert_eq!(switches(json!({"entry_open": false, "limits": {"ip": null}})), Ok(()));
        assert_eq!(switches(json!({"entry-open": false})), Err("entry-open".to_owned()));
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
