//! What happens around a sale: payment, cancelled units, dead letters, the clock, and how buyers hear of their result.

use std::fmt;
use std::time::Duration;

use crate::duration;
use crate::reader::Reader;
use crate::secret::Secret;
use crate::sections::webhook_secret;

const WEBHOOK_SECRET: &str = "payments.webhook_secret";

/// Unpaid orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orders {
    /// How long an order waits for its payment.
    pub pay_within: Duration,
}

impl Orders {
    pub(super) fn narrow(reader: &Reader<'_>) -> Self {
        Self {
            pay_within: reader.get("orders.pay_within"),
        }
    }
}

/// Where the unit of a cancelled or expired order goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCancel {
    /// Back to the product.
    Product,
    /// Back to the running sale.
    Sale,
}

/// Units of cancelled orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    /// Where they go.
    pub on_cancel: OnCancel,
}

impl Units {
    pub(super) fn narrow(reader: &Reader<'_>) -> Self {
        let sale = reader.get::<String>("units.on_cancel") == "sale";
        Self {
            on_cancel: if sale { OnCancel::Sale } else { OnCancel::Product },
        }
    }
}

/// What becomes of dead letters after the end of their sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterEnd {
    /// A person decides.
    Keep,
    /// They are discarded this long after the end.
    DiscardAfter(Duration),
}

impl AfterEnd {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "keep" {
            Some(Self::Keep)
        } else {
            text.strip_prefix("discard after ")
                .and_then(duration::parse)
                .map(Self::DiscardAfter)
        }
    }
}

impl fmt::Display for AfterEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep => f.write_str("keep"),
            Self::DiscardAfter(time) => write!(f, "discard after {}", duration::format(*time)),
        }
    }
}

/// Tickets that could not be settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetters {
    /// What becomes of them after the end.
    pub after_end: AfterEnd,
}

impl DeadLetters {
    pub(super) fn narrow(reader: &Reader<'_>) -> Self {
        Self {
            after_end: reader.get("dead_letters.after_end"),
        }
    }
}

/// Payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payments {
    /// Secret of the webhook's signature, base64, with or without its `whsec_`. `None`: there is no webhook.
    pub webhook_secret: Option<Secret>,
    /// Orders are paid by the buyer's own call.
    pub sandbox: bool,
}

impl Payments {
    pub(super) fn narrow(reader: &Reader<'_>, public: bool) -> Self {
        let payments = Self {
            webhook_secret: reader.get(WEBHOOK_SECRET),
            sandbox: reader.get("payments.sandbox"),
        };
        if let Some(secret) = &payments.webhook_secret {
            webhook_secret::check(reader, WEBHOOK_SECRET, secret);
        }
        if payments.sandbox && public {
            reader.warn("payments.sandbox is on while server.listen can be reached from outside: every buyer can pay for nothing");
        }
        payments
    }
}

/// Result streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streams {
    /// Of one user.
    pub per_user_max: usize,
    /// Altogether.
    pub max: usize,
    /// How often a silent stream sends a sign of life.
    pub heartbeat: Duration,
}

impl Streams {
    pub(super) fn narrow(reader: &Reader<'_>) -> Self {
        Self {
            per_user_max: reader.get("streams.per_user_max"),
            max: reader.get("streams.max"),
            heartbeat: reader.get("streams.heartbeat"),
        }
    }
}

/// What happens by the clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// How long before its start an activity is preheated.
    pub preheat_before: Duration,
    /// How often the scheduler looks.
    pub sweep_every: Duration,
    /// How long after its end an activity is closed.
    pub close_after_end: Duration,
}

impl Schedule {
    pub(super) fn narrow(reader: &Reader<'_>) -> Self {
        Self {
            preheat_before: reader.get("schedule.preheat_before"),
            sweep_every: reader.get("schedule.sweep_every"),
            close_after_end: reader.get("schedule.close_after_end"),
        }
    }
}

/// What a waiting buyer is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polls {
    /// Wait before the next poll, the first times.
    pub wait_first: Duration,
    /// How many times that is.
    pub first_count: u32,
    /// Wait afterwards.
    pub wait_later: Duration,
    /// Silence after which a page stops asking.
    pub give_up_after: Duration,
}

impl Polls {
    pub(super) fn narrow(reader: &Reader<'_>) -> Self {
        Self {
            wait_first: reader.get("polls.wait_first"),
            first_count: reader.get("polls.first_count"),
            wait_later: reader.get("polls.wait_later"),
            give_up_after: reader.get("polls.give_up_after"),
        }
    }
}
