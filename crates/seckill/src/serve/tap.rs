//! What a node that sells turns by itself: it admits nobody while the backlog is full or old, lets a smaller share in while the store is slow,
//! and lets switches go back whose time is over.

use std::sync::Arc;
use std::time::{Duration, Instant};

use seckill_flow::{AutoAdmitRatio, AutoAdmitRule, BacklogLimits, BacklogReading, HoldingBack, StoreReading, wait_ms};
use seckill_gate::{AutoAdmit, Switches};
use seckill_metrics::{Histogram, Outcome, percentile_us};
use tokio::time::{MissedTickBehavior, interval};

use super::node::Node;

/// How often it looks at the backlog and the clock.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often it looks at the store.
const STORE_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Looks until the shutdown.
pub(super) async fn watch(node: Arc<Node>) {
    let mut tap = Tap::new(&node);
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            () = node.shutdown.house.cancelled() => return,
            _ = ticks.tick() => tap.look(&node, Instant::now()),
        }
    }
}

struct Tap {
    holding: HoldingBack,
    backlog_full: u64,
    ratio: AutoAdmitRatio,
    store: StoreSeen,
}

impl Tap {
    fn new(node: &Node) -> Self {
        Self {
            holding: HoldingBack::default(),
            backlog_full: node.metrics.purchases.total(Outcome::BacklogFull),
            ratio: AutoAdmitRatio::default(),
            store: StoreSeen::of(&node.metrics.store_command_duration, Instant::now()),
        }
    }

    fn look(&mut self, node: &Node, now: Instant) {
        node.gate.go_back(node.stock.now());
        let switches = node.gate.switches();
        self.look_at_backlog(node, &switches);
        node.stock.set_backlog_max(node.gate.backlog_max());
        if STORE_LOOK_EVERY <= now.duration_since(self.store.at) {
            self.look_at_store(node, switches.auto_admit, now);
        }
    }

    fn look_at_backlog(&mut self, node: &Node, switches: &Switches) {
        let (depth, full) = (node.queue.depth(), node.metrics.purchases.total(Outcome::BacklogFull));
        let limits = BacklogLimits {
            max: switches.backlog_max,
            resume: switches.backlog_resume(),
            oldest_max_ms: i64::try_from(switches.backlog_oldest_max_s).unwrap_or(0) * 1_000,
        };
        let reading = BacklogReading {
            tickets: depth.tickets,
            oldest_ms: wait_ms(depth.oldest_accepted_at, node.stock.now()),
            was_full: self.backlog_full != full,
        };
        self.backlog_full = full;
        let held = node.gate.holds_back();
        let holds = self.holding.look(limits, reading);
        if holds == held {
            return;
        }
        node.gate.set_holds_back(holds);
        let BacklogReading { tickets, oldest_ms, .. } = reading;
        if holds {
            tracing::warn!(
                tickets,
                oldest_ms,
                "admissions are held back: the backlog is full, or its oldest ticket too old"
            );
        } else {
            tracing::info!(tickets, oldest_ms, "admissions begin again");
        }
    }

    fn look_at_store(&mut self, node: &Node, switch: AutoAdmit, now: Instant) {
        let is_up = !node.layers.lock().as_ref().is_none_or(|layers| layers.store.is_down());
        let seen = StoreSeen::of(&node.metrics.store_command_duration, now);
        let reading = seen.since(&self.store, is_up);
        self.store = seen;
        let rule = match switch {
            AutoAdmit::Off => None,
            AutoAdmit::On { store_p99_ms, step } => Some(AutoAdmitRule {
                slow_us: u64::from(store_p99_ms) * 1_000,
                step,
            }),
        };
        let before = node.gate.auto_admit_ratio();
        let ratio = self.ratio.second(rule, reading);
        if ratio.to_bits() == before.to_bits() {
            return;
        }
        node.gate.set_auto_admit_ratio(ratio);
        let p99_ms = reading.p99_us / 1_000;
        if ratio < before {
            tracing::warn!(
                ratio,
                p99_ms,
                "the store is slow: a smaller share of purchases is let in"
            );
        } else {
            tracing::info!(ratio, p99_ms, "a larger share of purchases is let in again");
        }
    }
}

/// What the store had done by a moment.
struct StoreSeen {
    at: Instant,
    buckets: Vec<(u64, u64)>,
    took: Duration,
}

impl StoreSeen {
    fn of(steps: &Histogram, at: Instant) -> Self {
        Self {
            at,
            buckets: steps.buckets(),
            took: steps.sum(),
        }
    }

    /// What it did between an earlier moment and this one.
    fn since(&self, earlier: &Self, is_up: bool) -> StoreReading {
        let new = self.buckets.iter().zip(&earlier.buckets);
        let new: Vec<_> = new
            .map(|((bound, now), (_, then))| (*bound, now.saturating_sub(*then)))
            .collect();
        let took = self.took.saturating_sub(earlier.took).as_secs_f64();
        StoreReading {
            p99_us: percentile_us(&new, 0.99),
            busy: took / self.at.duration_since(earlier.at).as_secs_f64(),
            is_up,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_step_lets_everybody_in_within_five_quick_seconds_of_the_longest_overload() {
        let AutoAdmit::On { store_p99_ms, step } = AutoAdmit::default() else {
            panic!("it is on");
        };
        let slow_us = u64::from(store_p99_ms) * 1_000;
        let rule = Some(AutoAdmitRule { slow_us, step });
        let took = |p99_us| StoreReading {
            p99_us,
            busy: 1.0,
            is_up: true,
        };
        let mut share = AutoAdmitRatio::default();
        for _ in 0..60 {
            share.second(rule, took(slow_us + 1));
        }
        let quick_seconds = (1..).find(|_| share.second(rule, took(slow_us / 2)) == 1.0);
        assert_eq!(quick_seconds, Some(5));
    }
}
