//! Time as a value: epoch milliseconds, half-open windows, and the one place that reads the system's clock.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct EpochMs(pub i64);

impl EpochMs {
    /// This moment plus `ms`, without overflow.
    #[must_use]
    pub const fn plus(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this moment; negative where this one is earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for EpochMs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// When a sale admits: from `starts_at` on, and before `ends_at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// First millisecond that admits.
    pub starts_at: EpochMs,
    /// First millisecond that does not admit any more.
    pub ends_at: EpochMs,
}

impl Window {
    /// A window, unless it would be empty.
    #[must_use]
    pub fn new(starts_at: EpochMs, ends_at: EpochMs) -> Option<Self> {
        (starts_at < ends_at).then_some(Self { starts_at, ends_at })
    }

    /// Whether `now` lies in `[starts_at, ends_at)`.
    #[must_use]
    pub fn contains(self, now: EpochMs) -> bool {
        self.starts_at <= now && now < self.ends_at
    }
}

/// Where the time comes from. The store's clock decides the window of a sale.
pub trait Clock: Send + Sync + 'static {
    /// The present moment.
    fn now(&self) -> EpochMs;
}

/// The system's wall clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> EpochMs {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the clock that everything else must use"
        )]
        let now = std::time::SystemTime::now();
        let ms = now
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |elapsed| elapsed.as_millis());
        EpochMs(i64::try_from(ms).unwrap_or(i64::MAX))
    }
}

/// A clock that moves only when told to, for tests and simulations.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that stands at `now`.
    #[must_use]
    pub fn at(now: EpochMs) -> Self {
        Self(AtomicI64::new(now.0))
    }

    /// Puts the clock to `now`, forwards or backwards.
    pub fn set(&self, now: EpochMs) {
        self.0.store(now.0, Ordering::SeqCst);
    }

    /// Moves the clock by `ms`.
    pub fn advance(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> EpochMs {
        EpochMs(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_is_half_open() {
        let window = Window::new(EpochMs(10), EpochMs(20)).expect("not empty");
        assert_eq!(
            [9, 10, 19, 20].map(|ms| window.contains(EpochMs(ms))),
            [false, true, true, false]
        );
        assert_eq!(Window::new(EpochMs(20), EpochMs(20)), None);
    }
}
