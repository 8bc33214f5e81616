//! What anybody is shown of an activity.

use seckill_gate::{Moment, Switches};
use seckill_sale::{Activity, Challenge, EpochMs, Phase, ProductId};
use serde::Serialize;

use crate::state::Settings;
use crate::timestamp::rfc3339;

/// The members of an activity, but for the server's time, which is never the same twice.
#[derive(Debug, Serialize)]
pub(crate) struct ActivityView<'a> {
    id: u64,
    title: &'a str,
    product_id: ProductId,
    product_name: &'a str,
    phase: Phase,
    starts_at: String,
    starts_at_ms: i64,
    ends_at: String,
    ends_at_ms: i64,
    /// When a held sale goes on, where that is known.
    resumes_at: Option<String>,
    resumes_at_ms: Option<i64>,
    price_cents: u64,
    seckill_price_cents: u64,
    currency: &'a str,
    stock_total: u64,
    stock_left: u64,
    per_user_limit: u64,
    challenge: Challenge,
    /// Whether the sale is for some only: "list", "level" or null; who they are is nobody's business.
    eligibility: Option<&'static str>,
    pay_within_s: i64,
    /// Whether units of cancelled and expired orders come back to this sale.
    reopens: bool,
    notice: Option<&'a str>,
}

/// What changes of an activity without a change of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) phase: Phase,
    pub(crate) challenge: Challenge,
    /// None: not preheated yet.
    pub(crate) stock_left: Option<u64>,
}

impl Standing {
    /// How the activity stands at `now`. A shut entrance holds all sales that would be open.
    pub(crate) fn new(activity: &Activity, switches: &Switches, stock_left: Option<u64>, now: EpochMs) -> Self {
        let phase = match activity.phase(now, stock_left) {
            Phase::Open | Phase::SoldOut if switches.check_open(activity, Moment::exact(now)).is_err() => Phase::Paused,
            phase => phase,
        };
        Self {
            phase,
            challenge: switches.challenge_of(activity),
            stock_left,
        }
    }
}

impl<'a> ActivityView<'a> {
    pub(crate) fn new(activity: &'a Activity, standing: Standing, settings: &Settings) -> Self {
        let window = activity.window;
        Self {
            id: activity.id.get(),
            title: &activity.title,
            product_id: activity.product_id,
            product_name: &activity.product_name,
            phase: standing.phase,
            starts_at: rfc3339(window.starts_at),
            starts_at_ms: window.starts_at.0,
            ends_at: rfc3339(window.ends_at),
            ends_at_ms: window.ends_at.0,
            resumes_at: activity.resumes_at.map(rfc3339),
            resumes_at_ms: activity.resumes_at.map(|at| at.0),
            price_cents: activity.price.cents(),
            seckill_price_cents: activity.seckill_price.cents(),
            currency: activity.currency.as_str(),
            stock_total: activity.stock_total,
            stock_left: standing.stock_left.unwrap_or(activity.stock_total),
            per_user_limit: activity.per_user_limit.get(),
            challenge: standing.challenge,
            eligibility: activity.eligibility.kind(),
            pay_within_s: settings.pay_within_ms / 1_000,
            reopens: settings.reopens,
            notice: activity.notice.as_deref(),
        }
    }
}
