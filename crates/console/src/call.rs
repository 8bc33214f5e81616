//! What a handler that reads knows of its request: that the operator asks, and when. Only [`crate::auth::guard`] makes one.

use std::str::FromStr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use seckill_api::Fault;
use seckill_ledger::Replayed;
use seckill_sale::{ActivityId, EpochMs};

use crate::error::Error;
use crate::input;
use crate::state::Console;

/// A request of the operator.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) console: Arc<Console>,
    /// The store's time at the request's arrival.
    pub(crate) now: EpochMs,
    /// Whether the ledger has seen the request's idempotency key before.
    pub(crate) replayed: Replayed,
}

impl<S: Sync> FromRequestParts<S> for Call {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Error> {
        // A route without the guard would be a bug; it answers 500 and nothing else.
        parts.extensions.get::<Self>().cloned().ok_or_else(Error::internal)
    }
}

/// Place of the id in every path that has one: `/admin/api/<what>/{id}/…`.
const ID_SEGMENT: usize = 4;

fn id_segment(parts: &Parts) -> &str {
    // Raw text: nothing is percent-decoded, because no id needs it.
    parts.uri.path().split('/').nth(ID_SEGMENT).unwrap_or("")
}

/// The activity's id in the path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InPath(pub(crate) ActivityId);

impl<S: Sync> FromRequestParts<S> for InPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Error> {
        let number = number(id_segment(parts))?;
        ActivityId::new(number)
            .map(Self)
            .map_err(|_| Fault::UnknownActivity.into())
    }
}

/// The number of any other row in the path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowInPath(pub(crate) u64);

impl<S: Sync> FromRequestParts<S> for RowInPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Error> {
        let number = number(id_segment(parts))?;
        let exists = (1..=ActivityId::MAX).contains(&number);
        exists
            .then_some(Self(number))
            .ok_or(Error::not_found("row of this number"))
    }
}

fn number(text: &str) -> Result<u64, Error> {
    input::digits(text)
        .and_then(|digits| u64::from_str(digits).ok())
        .ok_or_else(|| Error::invalid("id", "must be a plain decimal number of 64 bits"))
}
