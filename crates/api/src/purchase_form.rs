//! A purchase as it was asked for: path, headers and body, in their form alone.

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use seckill_sale::{ActivityId, Quantity, RequestKey};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::call::Call;
use crate::error::Error;
use crate::extract::{self, Incoming};
use crate::path;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Lengths of an `Idempotency-Key`, in characters: a single one is a placeholder that was left standing, and would join what a client means
/// to be two purchases.
const KEY_LENGTHS: std::ops::RangeInclusive<usize> = 2..=64;

/// The body; all of it may be absent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct BuyBody {
    quantity: u64,
    token: Option<String>,
}

impl Default for BuyBody {
    fn default() -> Self {
        Self {
            quantity: 1,
            token: None,
        }
    }
}

/// A purchase as it was asked for, right in its form.
pub(crate) struct Asked {
    /// None: a number that no activity has.
    pub(crate) activity: Option<ActivityId>,
    pub(crate) quantity: Quantity,
    pub(crate) token: Option<String>,
    /// None: the client named no key.
    pub(crate) key: Option<RequestKey>,
}

impl Asked {
    /// One unit, without a purchase token.
    pub(crate) const fn one(activity: Option<ActivityId>, key: Option<RequestKey>) -> Self {
        Self {
            activity,
            quantity: Quantity::ONE,
            token: None,
            key,
        }
    }
}

/// Reads a purchase without a body: of one unit, without a purchase token. `has_key` says whether there is an `Idempotency-Key`; `activity` is
/// what its path names.
///
/// # Errors
/// Whatever is wrong with the form of path or headers.
pub(crate) fn without_body(
    has_key: bool,
    headers: &HeaderMap,
    activity: Result<Option<ActivityId>, Error>,
) -> Result<Asked, Error> {
    let activity = activity?;
    let key = match has_key {
        true => idempotency_key(headers)?,
        false => None,
    };
    Ok(Asked::one(activity, key))
}

/// Reads a purchase.
///
/// # Errors
/// Whatever is wrong with the form of path, headers or body.
pub(crate) async fn read(call: &Call, head: &Parts, body: impl Incoming) -> Result<Asked, Error> {
    let activity = path::activity_id(path::last_segment(head.uri.path()))?;
    let key = idempotency_key(&head.headers)?;
    let BuyBody { quantity, token } = extract::optional_json(call, &head.headers, body).await?;
    let quantity = Quantity::new(quantity).map_err(|error| Error::Malformed(error.to_string().into()))?;
    Ok(Asked {
        activity,
        quantity,
        token,
        key,
    })
}

/// The digest of the client's key.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<RequestKey>, Error> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(key) = values.next().map(HeaderValue::as_bytes) else {
        return Ok(None);
    };
    let fine = KEY_LENGTHS.contains(&key.len()) && key.iter().all(u8::is_ascii_graphic);
    if !fine || values.next().is_some() {
        return Err(Error::Malformed(
            "Idempotency-Key must be sent once, with 2 to 64 visible ASCII characters".into(),
        ));
    }
    let digest = Sha256::digest(key);
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    Ok(Some(RequestKey(half)))
}
