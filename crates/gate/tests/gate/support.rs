//! A gate with one sale, users with tokens, and requests, for the tests of the gate as a whole.

use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use seckill_gate::{
    AbuseRules, Authority, Clients, DeviceRule, Earlier, Expectations, Gate, Identified, Limit, Limits, Moment,
    Networks, PerLimit, Random, RateLimiting, Request, Settings, Signer, Switches, TokenWish, Verifier, Verifiers,
    Wish,
};
use seckill_sale::{Activity, ActivityId, EpochMs, Quantity, Refusal, UserId, Window};

use crate::testing;

pub(crate) const SECRET: &[u8] = b"a secret of more than thirty-two bytes";
pub(crate) const STARTS_AT: EpochMs = EpochMs(1_750_000_000_000);
pub(crate) const ENDS_AT: EpochMs = EpochMs(1_750_000_600_000);
/// A second into the sale.
pub(crate) const SELLING: Moment = Moment::exact(EpochMs(1_750_000_001_000));

pub(crate) const RANDOM: Random = Random { token: 7, challenge: 7 };

pub(crate) fn activity_id(id: u64) -> ActivityId {
    ActivityId::new(id).expect("in range")
}

pub(crate) fn user(id: &str) -> UserId {
    UserId::new(id).expect("a user id")
}

/// A running activity of one unit a buyer.
pub(crate) fn activity(id: u64) -> Activity {
    Activity {
        window: Window {
            starts_at: STARTS_AT,
            ends_at: ENDS_AT,
        },
        ..testing::activity(id)
    }
}

pub(crate) fn limit(text: &str) -> Limit {
    text.parse().expect("a limit")
}

pub(crate) const UNLIMITED: PerLimit<Limit> = PerLimit::OFF;

pub(crate) fn settings() -> Settings {
    let verifier = Verifier::hs256(SECRET, &Expectations::default()).expect("a good secret");
    Settings {
        authority: Authority::Tokens(Verifiers::new(verifier, 1024)),
        clients: Clients::default(),
        trusted_proxies: Networks::new(["10.0.0.0/8".parse().expect("a network")]),
        exempt: Networks::default(),
        limits: Limits::OFF,
        rate_limiting: RateLimiting::Local,
        abuse: AbuseRules::OFF,
        table_slots: 1024,
        purchase_token_secret: [7; 32],
        devices: DeviceRule::Named,
        pow_bits: 8,
        switches: Switches::open(200_000),
    }
}

/// A gate with these settings that knows `activity`.
pub(crate) fn gate(settings: Settings, activity: Activity) -> Gate {
    let gate = Gate::new(settings);
    gate.catalogue().put(&Arc::new(activity));
    gate
}

/// A gate whose limits are these.
pub(crate) fn limited(limits: impl Into<Limits>) -> Gate {
    let limits = limits.into();
    gate(Settings { limits, ..settings() }, activity(1))
}

/// The same, with a network that is exempt from them.
pub(crate) fn limited_but(network: &str, limits: impl Into<Limits>) -> Gate {
    let exempt = Networks::new([network.parse().expect("a network")]);
    let settings = Settings {
        limits: limits.into(),
        exempt,
        ..settings()
    };
    gate(settings, activity(1))
}

/// The first two stages of a request from `peer`.
pub(crate) fn identified<'a>(
    gate: &Gate,
    peer: &str,
    headers: &'a HeaderMap,
    moment: Moment,
) -> Result<Identified<'a>, Refusal> {
    let arrived = gate.arrive(request(peer, headers), moment)?;
    gate.identify(arrived, moment)
}

/// A token of this user that is good for an hour into the sale.
pub(crate) fn token(id: &str) -> String {
    let signer = Signer::hs256(SECRET, &Expectations::default()).expect("a good secret");
    signer
        .sign(&user(id), STARTS_AT, STARTS_AT.plus(3_600_000))
        .expect("signs")
}

pub(crate) fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &str)| {
        (
            HeaderName::from_static(name),
            HeaderValue::from_str(value).expect("a header value"),
        )
    };
    pairs.iter().map(pair).collect()
}

/// Headers with the bearer token of this user.
pub(crate) fn signed_in(id: &str) -> HeaderMap {
    headers(&[("authorization", &format!("Bearer {}", token(id)))])
}

pub(crate) fn request<'a>(peer: &str, headers: &'a HeaderMap) -> Request<'a> {
    Request {
        peer: peer.parse::<IpAddr>().expect("an address"),
        headers,
        signature: None,
    }
}

pub(crate) fn wish(token: Option<&str>) -> Wish<'_> {
    Wish {
        activity: activity_id(1),
        quantity: Quantity::ONE,
        token,
    }
}

/// A purchase from `peer`; says whether the challenge was passed.
pub(crate) fn buy(
    gate: &Gate,
    peer: &str,
    headers: &HeaderMap,
    token: Option<&str>,
    earlier: Earlier,
) -> Result<bool, Refusal> {
    let identified = identified(gate, peer, headers, SELLING)?;
    gate.admit_purchase(identified, wish(token), |_, _| earlier, SELLING)
        .map(|admitted| admitted.challenge_passed())
}

pub(crate) fn click(gate: &Gate, peer: &str, headers: &HeaderMap) -> Result<bool, Refusal> {
    buy(gate, peer, headers, None, Earlier::None)
}

/// A purchase token of this sale, for nothing that was asked before.
pub(crate) fn token_wish(activity: u64) -> TokenWish<'static> {
    TokenWish {
        activity: activity_id(activity),
        answered: None,
        random: RANDOM,
    }
}
