//! How fast orders are written, as a moving average that answers can show.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use seckill_sale::EpochMs;

/// Orders written a second, lately.
#[derive(Debug, Default)]
pub struct Pace {
    per_second: AtomicU64,
    window: Mutex<Window>,
}

#[derive(Debug, Default)]
struct Window {
    started_at: Option<EpochMs>,
    orders: u64,
}

/// Length of one measurement, in milliseconds.
const WINDOW_MS: i64 = 500;

impl Pace {
    /// Orders a second over the last full window; 0 before the first.
    #[must_use]
    pub fn per_second(&self) -> u64 {
        self.per_second.load(Ordering::Relaxed)
    }

    /// Counts `orders` written at `now`.
    pub fn count(&self, orders: u64, now: EpochMs) {
        let mut window = self.window.lock();
        let started_at = *window.started_at.get_or_insert(now);
        window.orders += orders;
        let elapsed_ms = now.since(started_at);
        if WINDOW_MS <= elapsed_ms {
            let per_second = window.orders.saturating_mul(1000) / elapsed_ms.unsigned_abs().max(1);
            let before = self.per_second();
            let smoothed = if before == 0 {
                per_second
            } else {
                u64::midpoint(before, per_second)
            };
            self.per_second.store(smoothed, Ordering::Relaxed);
            *window = Window {
                started_at: Some(now),
                orders: 0,
            };
        } else if elapsed_ms < 0 {
            *window = Window {
                started_at: Some(now),
                orders,
            };
        }
    }
}

/// How long the oldest of `accepted_at` waits at `now`, in milliseconds; 0 where nothing waits.
#[must_use]
pub fn wait_ms(accepted_at: Option<EpochMs>, now: EpochMs) -> i64 {
    accepted_at.map_or(0, |at| now.since(at).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pace_is_orders_over_time_and_survives_a_clock_that_goes_back() {
        let pace = Pace::default();
        pace.count(100, EpochMs(1_000));
        assert_eq!(pace.per_second(), 0);
        pace.count(100, EpochMs(1_500));
        assert_eq!(pace.per_second(), 400);
        pace.count(5, EpochMs(100));
        pace.count(5, EpochMs(600));
        assert_eq!(pace.per_second(), u64::midpoint(400, 20));
    }
}
