//! How a house is set up, and what a test may want otherwise.

use std::time::Duration;

use seckill_api::{Polls, Settings, StreamLimits, WebhookSecret};
use seckill_engine_embedded::Options;
use seckill_flow::SettleOptions;
use seckill_gate::{
    AbuseRules, Authority, Clients, DeviceRule, Expectations, Gate, Limits, Networks, RateLimiting, Switches, Verifier,
    Verifiers,
};

pub(crate) const PAY_WITHIN_MS: i64 = 900_000;
pub(crate) const SECRET: &[u8] = b"a secret of the tests, longer than 32 bytes";
/// With which the client `shop-1` signs.
pub(crate) const SHOP_SECRET: &[u8] = b"a secret of the shop, longer than 32 bytes";
pub(crate) const WEBHOOK_SECRET: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/// What a test may want otherwise.
pub(crate) struct Plan {
    pub(crate) gateway: bool,
    pub(crate) devices: DeviceRule,
    pub(crate) limits: Limits,
    pub(crate) exempt: Vec<&'static str>,
    pub(crate) sandbox: bool,
    pub(crate) webhook: bool,
    pub(crate) allowed_origins: Vec<String>,
    pub(crate) streams: StreamLimits,
    pub(crate) in_flight_max: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            gateway: false,
            devices: DeviceRule::Named,
            limits: Limits::OFF,
            exempt: Vec::new(),
            sandbox: true,
            webhook: true,
            allowed_origins: Vec::new(),
            streams: StreamLimits {
                per_user_max: 2,
                max: 3,
                heartbeat: Duration::from_secs(15),
            },
            in_flight_max: 1_000,
        }
    }
}

pub(crate) fn small() -> Options {
    let mut options = Options::default();
    options.journal.segment_bytes = 8 << 20;
    options.journal.allocate_bytes = 1 << 20;
    options.journal.frame_bytes_max = 1 << 20;
    options
}

pub(crate) const fn settle_options() -> SettleOptions {
    SettleOptions {
        batch_size_max: 64,
        attempts_max: 5,
        retry_wait_first_ms: 100,
        retry_wait_max_ms: 1_000,
        pay_within_ms: PAY_WITHIN_MS,
    }
}

pub(crate) fn gate(plan: &Plan) -> Gate {
    let verifier = || Verifier::hs256(SECRET, &Expectations::default()).expect("a key");
    let networks = |texts: &[&str]| Networks::new(texts.iter().map(|text| text.parse().expect("a network")));
    Gate::new(seckill_gate::Settings {
        authority: if plan.gateway {
            Authority::Gateway
        } else {
            Authority::Tokens(Verifiers::new(verifier(), 1_024))
        },
        clients: Clients::new([("shop-1", SHOP_SECRET)]),
        trusted_proxies: networks(if plan.gateway { &["10.0.0.9/32"] } else { &[] }),
        exempt: networks(&plan.exempt),
        rate_limiting: RateLimiting::Local,
        abuse: AbuseRules::OFF,
        limits: plan.limits,
        table_slots: 1_024,
        purchase_token_secret: [7; 32],
        devices: plan.devices,
        pow_bits: 8,
        switches: Switches::open(1_000),
    })
}

pub(crate) fn settings(plan: &Plan) -> Settings {
    Settings {
        body_bytes_max: 4_096,
        in_flight_max: plan.in_flight_max,
        pay_within_ms: PAY_WITHIN_MS,
        reopens: false,
        sandbox_payments: plan.sandbox,
        webhook_secret: plan
            .webhook
            .then(|| WebhookSecret::parse(WEBHOOK_SECRET).expect("a secret")),
        allowed_origins: plan.allowed_origins.clone(),
        public_url: None,
        polls: Polls {
            wait_first_ms: 500,
            first_count: 3,
            wait_later_ms: 2_000,
            give_up_after_ms: 30_000,
        },
        streams: plan.streams,
    }
}
