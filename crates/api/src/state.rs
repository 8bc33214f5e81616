//! What the API works with: shared by the process, and of one core.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use parking_lot::Mutex;
use seckill_flow::{Operator, Pace, Purchase, Results};
use seckill_gate::{Gate, Moment};
use seckill_ledger::Ledger;
use seckill_metrics::{Core as CoreIndex, Counter, Metrics};
use seckill_stock::Stock;
use tokio_util::sync::CancellationToken;

use crate::activities::Pages;
use crate::cors::Origins;
use crate::health::Readiness;
use crate::in_flight::InFlight;
use crate::nonces::Nonces;
use crate::streams::Streams;
use crate::unasked;
use crate::unique::Unique;
use crate::webhook::WebhookSecret;

/// Waits that a queued buyer is told.
#[derive(Debug, Clone, Copy)]
pub struct Polls {
    /// Milliseconds before the next poll, the first times.
    pub wait_first_ms: u64,
    /// How many times that is.
    pub first_count: u32,
    /// Milliseconds before the next poll afterwards.
    pub wait_later_ms: u64,
    /// Milliseconds of silence after which a page stops asking.
    pub give_up_after_ms: u64,
}

/// Bounds of result streams.
#[derive(Debug, Clone, Copy)]
pub struct StreamLimits {
    /// Of one user.
    pub per_user_max: usize,
    /// Altogether.
    pub max: usize,
    /// How often a silent stream sends a sign of life.
    pub heartbeat: Duration,
}

/// What the API takes from the settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Bytes of a body; the webhook alone takes more.
    pub body_bytes_max: usize,
    /// Purchases that may be under way on one core.
    pub in_flight_max: usize,
    /// How long an order waits for its payment, in milliseconds.
    pub pay_within_ms: i64,
    /// Whether units of cancelled and expired orders come back to their sale (`units.on_cancel = "sale"`).
    pub reopens: bool,
    /// Whether a buyer's own call pays his order.
    pub sandbox_payments: bool,
    /// Secret of the payment webhook; none: there is no webhook.
    pub webhook_secret: Option<WebhookSecret>,
    /// Web origins whose pages may call the API, such as `https://shop.example.com`.
    pub allowed_origins: Vec<String>,
    /// The address under which buyers come; its pages are no foreign ones.
    pub public_url: Option<String>,
    /// Waits between polls.
    pub polls: Polls,
    /// Bounds of result streams.
    pub streams: StreamLimits,
}

/// What [`Shared`] is made of.
pub struct Parts {
    /// Layer 1.
    pub gate: Arc<Gate>,
    /// Payments and cancellations; from its layers the API takes stock, ledger and results.
    pub operator: Arc<Operator>,
    /// How fast orders are written.
    pub pace: Arc<Pace>,
    /// Counts. Its routes must be [`crate::ROUTES`], in whatever company.
    pub metrics: Arc<Metrics>,
    /// What `/readyz` says.
    pub readiness: Readiness,
    /// What was set.
    pub settings: Settings,
    /// Ends streams when cancelled. To be cancelled before the listener's own token, so that streams can say goodbye.
    pub shutdown: CancellationToken,
    /// Tells a body that came too slowly (408) from one that broke off (400): the listener knows its marker.
    pub is_body_timeout: fn(&(dyn StdError + 'static)) -> bool,
}

/// What all cores share.
pub struct Shared {
    pub(crate) gate: Arc<Gate>,
    pub(crate) operator: Arc<Operator>,
    pub(crate) stock: Arc<dyn Stock>,
    pub(crate) results: Arc<Results>,
    pub(crate) pace: Arc<Pace>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) readiness: Readiness,
    pub(crate) settings: Settings,
    pub(crate) shutdown: CancellationToken,
    pub(crate) is_body_timeout: fn(&(dyn StdError + 'static)) -> bool,
    pub(crate) origins: Origins,
    pub(crate) streams: Arc<Streams>,
    pub(crate) nonces: Nonces,
    pub(crate) panics: Counter,
}

impl Shared {
    /// To be made once: it registers a metric of its own, `seckill_panics_total`.
    #[must_use]
    pub fn new(parts: Parts) -> Arc<Self> {
        let origins = Origins::new(&parts.settings.allowed_origins, parts.settings.public_url.as_deref());
        let streams = Arc::new(Streams::new(parts.settings.streams, parts.metrics.clone()));
        let panics = parts
            .metrics
            .registry
            .counter("seckill_panics_total", "Requests that met a bug.");
        Arc::new(Self {
            gate: parts.gate,
            stock: parts.operator.layers().stock.clone(),
            results: parts.operator.layers().results.clone(),
            operator: parts.operator,
            pace: parts.pace,
            metrics: parts.metrics,
            readiness: parts.readiness,
            settings: parts.settings,
            shutdown: parts.shutdown,
            is_body_timeout: parts.is_body_timeout,
            origins,
            streams,
            nonces: Nonces::default(),
            panics,
        })
    }

    pub(crate) fn ledger(&self) -> &dyn Ledger {
        &*self.operator.layers().ledger
    }

    /// The store's time, and how far it may be off.
    pub(crate) fn moment(&self) -> Moment {
        Moment {
            now: self.stock.now(),
            uncertainty_ms: u32::try_from(self.stock.clock_uncertainty_ms()).unwrap_or(0),
        }
    }

    /// Words the answers that the listener gives by itself (400, 408, 414, 431), in the form of all others.
    pub fn error_answers(
        self: &Arc<Self>,
    ) -> impl Fn(StatusCode) -> http::Response<bytes::Bytes> + Send + Sync + 'static {
        let shared = self.clone();
        move |status| unasked::of_listener(status, shared.stock.now())
    }
}

/// What one core works with.
pub struct CoreState {
    /// What all cores share.
    pub shared: Arc<Shared>,
    /// The purchase flow with this core's claims.
    pub purchase: Purchase,
    /// Index of the core.
    pub index: usize,
    /// Pages in the place of the plain one at `/`: explicit routes, none of them the API's, and no fallback of their own.
    pub storefront: Option<axum::Router>,
}

/// One core, as the handlers see it.
pub(crate) struct Core {
    pub(crate) shared: Arc<Shared>,
    pub(crate) purchase: Purchase,
    pub(crate) index: CoreIndex,
    pub(crate) unique: Unique,
    pub(crate) pages: Mutex<Pages>,
    pub(crate) in_flight: InFlight,
}

impl Core {
    pub(crate) fn new(shared: Arc<Shared>, purchase: Purchase, index: usize) -> Self {
        Self {
            shared,
            purchase,
            index: CoreIndex::new(index),
            unique: Unique::new(),
            pages: Mutex::default(),
            in_flight: InFlight::default(),
        }
    }
}
