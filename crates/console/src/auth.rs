//! Who may command: whoever has the operator's token. There is no session and no cookie; a page of a foreign origin may not write even
//! with a token, because it should never have one.
//!
//! Wrong tokens cost their address a growing wait. The right one is let in all the same: with 32 random characters no rate of guessing
//! gets anywhere, and nobody can lock the operator out from behind the same address on the night of a sale.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{HOST, ORIGIN};
use http::{HeaderMap, Method};
use parking_lot::Mutex;
use seckill_gate::{bearer, client_ip};
use seckill_sale::EpochMs;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;

use crate::call::Call;
use crate::error::Error;
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
        Ok(Self(digest(text)))
    }

    /// Digests are compared, so that neither length nor beginning of the token shows in the time.
    fn is(&self, presented: &str) -> bool {
        self.0.ct_eq(&digest(presented)).into()
    }
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken")
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Lets requests with the operator's token pass, with the [`Call`] that handlers need.
pub(crate) async fn guard(State(console): State<Arc<Console>>, mut request: Request, next: Next) -> Response {
    let now = console.now();
    match admit(&console, &request, now) {
        Ok(()) => {
            let writes = console.writes.clone();
            let reads = is_read(request.method());
            request.extensions_mut().insert(Call { console, now });
            if reads {
                next.run(request).await
            } else {
                finish(&writes, request, next).await
            }
        }
        Err(error) => error.into_response(),
    }
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Runs a write to its end, also where its client hangs up: ledger, store and gate are not left halfway until the scheduler finds it.
async fn finish(writes: &Arc<Semaphore>, request: Request, next: Next) -> Response {
    let Ok(permit) = writes.clone().try_acquire_owned() else {
        return Error::Busy("too many commands are under way").into_response();
    };
    let write = async move {
        let response = next.run(request).await;
        drop(permit);
        response
    };
    tokio::spawn(write)
        .await
        .unwrap_or_else(|_panic| Error::Internal.into_response())
}

fn admit(console: &Console, request: &Request, now: EpochMs) -> Result<(), Error> {
    let headers = request.headers();
    if !bearer(headers).is_ok_and(|presented| console.settings.token.is(presented)) {
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

/// Whether a page of another origin asks. Programs send no `Origin`.
fn is_foreign(headers: &HeaderMap, public_url: Option<&str>) -> bool {
    let cross_site = |site: &http::HeaderValue| site == "cross-site" || site == "same-site";
    if headers.get("sec-fetch-site").is_some_and(cross_site) {
        return true;
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    headers.get_all(ORIGIN).iter().any(|origin| {
        let Ok(origin) = origin.to_str() else { return true };
        let own = public_url.is_some_and(|url| url.trim_end_matches('/') == origin);
        let authority = origin.split_once("://").map(|(_, authority)| authority);
        !own && (authority.is_none() || authority != host)
    })
}

/// What is remembered of an address that sent wrong tokens.
#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last_at: EpochMs,
}

/// Addresses that sent wrong tokens.
#[derive(Debug, Default)]
pub(crate) struct Penalties(Mutex<HashMap<IpAddr, Failures>>);

impl Penalties {
    /// Wrong tokens of an address before it has to wait.
    const FREE_COUNT: u32 = 20;
    /// First wait, in milliseconds; each further wrong token doubles it.
    const WAIT_FIRST_MS: i64 = 1_000;
    /// Longest wait, in milliseconds.
    const WAIT_MAX_MS: i64 = 60_000;
    /// After so much silence an address begins anew, in milliseconds.
    const FORGET_AFTER_MS: i64 = 10 * 60_000;
    /// Addresses that are remembered; beyond it the one that was silent longest is forgotten.
    const ADDRESSES_MAX: usize = 4_096;

    /// Counts a wrong token.
    ///
    /// # Errors
    /// [`Error::TooOften`] where the address has to wait; then it is not counted.
    pub(crate) fn failed(&self, client: IpAddr, now: EpochMs) -> Result<(), Error> {
        let client = one_client(client);
        let mut known = self.0.lock();
        let failures = known
            .get(&client)
            .filter(|failures| now.since(failures.last_at) < Self::FORGET_AFTER_MS);
        let count = failures.map_or(0, |failures| failures.count);
        if let Some(failures) = failures {
            let wait_ms = Self::wait_ms(count);
            let waited_ms = now.since(failures.last_at).max(0);
            if waited_ms < wait_ms {
                return Err(Error::TooOften {
                    wait_ms: wait_ms.abs_diff(waited_ms),
                });
            }
        }
        if known.len() == Self::ADDRESSES_MAX && !known.contains_key(&client) {
            known.retain(|_, failures| now.since(failures.last_at) < Self::FORGET_AFTER_MS);
            let longest_silent = known
                .iter()
                .min_by_key(|(_, failures)| failures.last_at)
                .map(|(address, _)| *address);
            longest_silent
                .filter(|_| known.len() == Self::ADDRESSES_MAX)
                .map(|address| known.remove(&address));
        }
        let count = count.saturating_add(1);
        known.insert(client, Failures { count, last_at: now });
        Ok(())
    }

    fn wait_ms(count: u32) -> i64 {
        match count.checked_sub(Self::FREE_COUNT) {
            None => 0,
            Some(beyond) => Self::WAIT_FIRST_MS
                .checked_shl(beyond.min(16))
                .unwrap_or(i64::MAX)
                .min(Self::WAIT_MAX_MS),
        }
    }
}

/// An IPv6 customer has 64 bits of addresses to himself.
fn one_client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(network))
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn token_is_compared_whole_and_short_ones_are_refused() {
        let text = "0123456789abcdef0123456789abcdef";
        let token = AdminToken::new(text).unwrap();
        assert!(token.is(text));
        for other in ["", "0123456789abcdef0123456789abcdeF", &text[1..], &format!("{text} ")] {
            assert!(!token.is(other), "{other:?}");
        }
        assert_eq!(AdminToken::new(&text[1..]).err(), Some(WeakToken));
        assert_eq!(format!("{token:?}"), "AdminToken");
    }

    fn wait(penalties: &Penalties, client: &str, now: i64) -> Option<u64> {
        match penalties.failed(client.parse().unwrap(), EpochMs(now)) {
            Ok(()) => None,
            Err(Error::TooOften { wait_ms }) => Some(wait_ms),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn wait_grows_with_wrong_tokens_up_to_a_minute_and_is_of_one_address() {
        let penalties = Penalties::default();
        for _ in 0..Penalties::FREE_COUNT {
            assert_eq!(wait(&penalties, "10.0.0.1", 0), None);
        }
        assert_eq!(wait(&penalties, "10.0.0.1", 0), Some(1_000));
        assert_eq!(wait(&penalties, "10.0.0.1", 999), Some(1));
        assert_eq!(wait(&penalties, "10.0.0.1", 1_000), None);
        assert_eq!(wait(&penalties, "10.0.0.1", 1_000), Some(2_000));
        assert_eq!(wait(&penalties, "10.0.0.2", 1_000), None);
        let mut now = 3_000;
        for _ in 0..40 {
            assert_eq!(wait(&penalties, "10.0.0.1", now), None);
            now += 60_000;
        }
        assert_eq!(wait(&penalties, "10.0.0.1", now - 60_000), Some(60_000));
        assert_eq!(wait(&penalties, "10.0.0.1", now + Penalties::FORGET_AFTER_MS), None);
        assert_eq!(wait(&penalties, "10.0.0.1", now + Penalties::FORGET_AFTER_MS), None);
    }

    #[test]
    fn memory_of_wrong_tokens_is_bounded_and_a_network_is_one_client() {
        let penalties = Penalties::default();
        for n in 0..=u32::try_from(Penalties::ADDRESSES_MAX).unwrap() {
            penalties.failed(Ipv4Addr::from(n).into(), EpochMs(n.into())).unwrap();
        }
        assert_eq!(penalties.0.lock().len(), Penalties::ADDRESSES_MAX);
        assert!(
            !penalties.0.lock().contains_key(&Ipv4Addr::from(0).into()),
            "the oldest went"
        );
        assert_eq!(
            one_client("2001:db8::1".parse().unwrap()),
            one_client("2001:db8::2:3".parse().unwrap())
        );
        assert_eq!(
            one_client("::ffff:10.0.0.1".parse().unwrap()),
            "10.0.0.1".parse::<IpAddr>().unwrap()
        );
    }

    #[test]
    fn only_pages_of_the_very_same_origin_may_write() {
        let foreign = |origin: Option<&'static str>, site: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("127.0.0.1:8081"));
            origin.map(|origin| headers.insert(ORIGIN, HeaderValue::from_static(origin)));
            site.map(|site| headers.insert("sec-fetch-site", HeaderValue::from_static(site)));
            is_foreign(&headers, Some("https://console.example.com/"))
        };
        assert!(!foreign(None, None));
        assert!(!foreign(Some("http://127.0.0.1:8081"), Some("same-origin")));
        assert!(!foreign(Some("https://console.example.com"), None));
        for origin in [
            "null",
            "",
            "http://127.0.0.1",
            "http://127.0.0.1:8080",
            "https://console.example.com.evil.com",
        ] {
            assert!(foreign(Some(origin), None), "{origin}");
        }
        assert!(foreign(None, Some("cross-site")));
    }
}
