//! Why a purchase is not admitted: a value, ordered as the checks run. The first that applies is the answer.

use crate::{Buyer, Code, EpochMs};

/// Whom a rate limit counts, and so whose was hit: `data.scope` of an answer. Who keeps the count, each node or all of them, is not told by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The client's address.
    Ip,
    /// The user, per activity.
    User,
    /// The device.
    Device,
    /// The whole activity.
    Activity,
    /// The whole node.
    Node,
}

impl Scope {
    /// The word used in answers, metrics and settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ip => "ip",
            Self::User => "user",
            Self::Device => "device",
            Self::Activity => "activity",
            Self::Node => "node",
        }
    }
}

/// What a rate limit allows, as it is told to whoever was refused by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Quota {
    /// Requests that may come at once after a pause.
    pub burst: u32,
    /// Seconds in which all of them are allowed anew, rounded up.
    pub window_s: u32,
}

impl Quota {
    /// Of a rate with so many microseconds from one request to the next, and so many that may come at once.
    #[must_use]
    pub fn of_rate(interval_us: u64, burst: u32) -> Self {
        let window_s = (interval_us * u64::from(burst)).div_ceil(1_000_000);
        Self {
            burst,
            window_s: u32::try_from(window_s).unwrap_or(u32::MAX),
        }
    }
}

/// Why the store cannot admit now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotReady {
    /// Open but not preheated yet; the scheduler does it at once.
    NotPreheated,
    /// Being rebuilt from the ledger.
    Recovering,
    /// No space left to record an admission.
    StoreFull,
    /// The store takes no writes.
    StoreReadOnly,
    /// Fewer copies than the durability setting asks for.
    StoreUnsafe,
}

impl NotReady {
    /// The word in `data.reason`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotPreheated => "not_ready",
            Self::Recovering => "recovering",
            Self::StoreFull => "store_full",
            Self::StoreReadOnly => "store_read_only",
            Self::StoreUnsafe => "store_unsafe",
        }
    }
}

/// Why a purchase is not admitted. The order of the variants is the order of the checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The address asks too often; wait so many milliseconds.
    LimitedByIp {
        /// Milliseconds until the next request may pass.
        retry_after_ms: u64,
        /// What the limit allows.
        quota: Quota,
    },
    /// No identity.
    Unauthenticated,
    /// The body or an id has not the right form.
    Malformed {
        /// What is wrong, for a programmer.
        detail: String,
    },
    /// No such activity on this node.
    UnknownActivity,
    /// More units than one purchase may have.
    QuantityAboveLimit,
    /// On a block list.
    Blocked,
    /// Not among those whom the sale is for.
    NotEligible,
    /// The sale or the entrance is paused.
    Paused {
        /// When it goes on, where that is known.
        resumes_at: Option<EpochMs>,
    },
    /// Before the window.
    NotStarted {
        /// When it starts.
        starts_at: EpochMs,
    },
    /// After the window, or closed.
    Ended,
    /// Purchase token missing or not valid.
    ChallengeFailed,
    /// User or device asks too often.
    Limited {
        /// Whose limit.
        scope: Scope,
        /// Milliseconds until the next request may pass.
        retry_after_ms: u64,
        /// What the limit allows.
        quota: Quota,
    },
    /// The key came with another body before.
    KeyReused,
    /// This user has a ticket; it is told to him.
    AlreadyTook(Box<Buyer>),
    /// No units left for this quantity.
    SoldOut,
    /// Too many accepted purchases wait to be written.
    BacklogFull,
    /// The store cannot admit now.
    NotReady(NotReady),
    /// Shed by overload, or the store cannot be reached; nothing was changed.
    Busy,
    /// Shed because it waited for the store too long; nothing was changed.
    Late,
    /// Whether it was admitted is not known.
    OutcomeUnknown,
}

impl Refusal {
    /// Its code.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::LimitedByIp { .. } | Self::Limited { .. } => Code::TooOften,
            Self::Unauthenticated => Code::Unauthenticated,
            Self::Malformed { .. } | Self::QuantityAboveLimit => Code::Malformed,
            Self::UnknownActivity => Code::UnknownActivity,
            Self::Blocked | Self::NotEligible => Code::Blocked,
            Self::Paused { .. } => Code::Paused,
            Self::NotStarted { .. } => Code::NotStarted,
            Self::Ended => Code::Ended,
            Self::ChallengeFailed => Code::ChallengeFailed,
            Self::KeyReused => Code::KeyReused,
            Self::AlreadyTook(_) => Code::AlreadyTook,
            Self::SoldOut => Code::SoldOut,
            Self::BacklogFull => Code::BacklogFull,
            Self::NotReady(_) => Code::StoreNotReady,
            Self::Busy | Self::Late => Code::Busy,
            Self::OutcomeUnknown => Code::OutcomeUnknown,
        }
    }
}
