//! Who may command: whoever has the operator's token. There is no session and no cookie; a page of a foreign origin may not write even
//! with a token, because it should never have one.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, Method};
use seckill_api::IDEMPOTENCY_REPLAYED;
use seckill_gate::{bearer_of, client_ip};
use seckill_ledger::{Replayed, written};
use seckill_sale::{EpochMs, Refusal};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;

use crate::call::Call;
use crate::error::Error;
use crate::origin::is_foreign;
use crate::service::Peer;
use crate::state::Console;

/// The token cannot protect anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the admin token must have at least {} characters", AdminToken::LENGTH_MIN)]
pub struct WeakToken;

/// The operator's token, kept as its digest.
#[derive(Clone)]
pub struct AdminToken([u8; 32]);

impl AdminToken {
    /// Shortest token, in characters.
    pub const LENGTH_MIN: usize = 32;

    /// Takes the token as it was set.
    ///
    /// # Errors
    /// [`WeakToken`] below [`Self::LENGTH_MIN`] characters.
    pub fn new(text: &str) -> Result<Self, WeakToken> {
        if text.chars().count() < Self::LENGTH_MIN {
            return Err(WeakToken);
        }
        Ok(Self(digest(text.as_bytes())))
    }

    /// Digests are compared, so that neither length nor beginning of the token shows in the time.
    fn is(&self, presented: &[u8]) -> bool {
        self.0.ct_eq(&digest(presented)).into()
    }
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken")
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Lets requests with the operator's token pass, with the [`Call`] that handlers need.
pub(crate) async fn guard(State(console): State<Arc<Console>>, mut request: Request, next: Next) -> Response {
    let now = console.now();
    match admit(&console, &request, now) {
        Ok(()) => {
            let places = if is_brake(&request) {
                console.brakes.clone()
            } else {
                console.writes.clone()
            };
            let reads = is_read(request.method());
            let replayed = Replayed::default();
            let call = Call {
                console,
                now,
                replayed: replayed.clone(),
            };
            request.extensions_mut().insert(call);
            if reads {
                return next.run(request).await;
            }
            let mut response = finish(&places, request, next).await;
            if replayed.is_told() {
                let headers = response.headers_mut();
                headers.insert(IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"));
            }
            response
        }
        Err(error) => error.into_response(),
    }
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether the request may stop a sale, or all of them.
fn is_brake(request: &Request) -> bool {
    let path = request.uri().path();
    path == "/admin/api/switches" || path.ends_with("/pause")
}

/// Runs a write to its end, also where its client hangs up: ledger, store and gate are not left halfway until the scheduler finds it.
async fn finish(places: &Arc<Semaphore>, request: Request, next: Next) -> Response {
    let Ok(permit) = places.clone().try_acquire_owned() else {
        return Error::busy("too many commands are under way").into_response();
    };
    let write = async move {
        let response = next.run(request).await;
        drop(permit);
        response
    };
    tokio::spawn(written::noting(write))
        .await
        .unwrap_or_else(|_panic| Error::internal().into_response())
}

fn admit(console: &Console, request: &Request, now: EpochMs) -> Result<(), Error> {
    let headers = request.headers();
    let is_operator = match bearer_of(headers) {
        Ok(presented) => console.settings.token.is(presented),
        Err(Refusal::Malformed { detail }) => return Err(Error::Malformed(detail.into())),
        Err(_) => false,
    };
    if !is_operator {
        let peer = request.extensions().get::<Peer>();
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
        let client = client_ip(peer, headers, &console.settings.trusted_proxies);
        console.penalties.failed(client, now)?;
        return Err(Error::Unauthenticated);
    }
    if !is_read(request.method()) && is_foreign(headers, console.settings.public_url.as_deref()) {
        return Err(Error::ForeignOrigin);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_compared_whole_and_short_ones_are_refused() {
        let text = "0123456789abcdef0123456789abcdef";
        let token = AdminToken::new(text).unwrap();
        assert!(token.is(text.as_bytes()));
        for other in ["", "0123456789abcdef0123456789abcdeF", &text[1..], &format!("{text} ")] {
            assert!(!token.is(other.as_bytes()), "{other:?}");
        }
        assert_eq!(AdminToken::new(&text[1..]).err(), Some(WeakToken));
        assert_eq!(format!("{token:?}"), "AdminToken");
    }
}
