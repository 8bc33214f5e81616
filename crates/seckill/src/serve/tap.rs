//! What a node that sells turns by itself: it admits nobody to a sale while its backlog is full or old, lets a smaller share in while the store is
//! slow for it, and lets switches go back whose time is over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use seckill_flow::{AutoAdmitRatios, AutoAdmitRule, BacklogLimits, BacklogReading, HeldBack, wait_ms};
use seckill_gate::{AutoAdmit, Switches};
use seckill_queue::SaleDepth;
use seckill_sale::ActivityId;
use tokio::time::{MissedTickBehavior, interval};

use super::node::Node;

/// How often it looks at the backlog and the clock.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often it looks at the store.
const STORE_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Looks until the shutdown.
pub(super) async fn watch(node: Arc<Node>) {
    let mut tap = Tap::new();
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
    held_back: HeldBack,
    ratios: AutoAdmitRatios,
    store_looked_at: Instant,
}

impl Tap {
    fn new() -> Self {
        Self {
            held_back: HeldBack::default(),
            ratios: AutoAdmitRatios::default(),
            store_looked_at: Instant::now(),
        }
    }

    fn look(&mut self, node: &Node, now: Instant) {
        node.gate.go_back(node.stock.now());
        let switches = node.gate.switches();
        node.stock.set_backlog_max(switches.backlog_max);
        self.look_at_backlog(node, &switches);
        if STORE_LOOK_EVERY <= now.duration_since(self.store_looked_at) {
            self.store_looked_at = now;
            self.look_at_store(node, switches.auto_admit, now);
        }
    }

    fn look_at_backlog(&mut self, node: &Node, switches: &Switches) {
        let (full, now) = (node.gate.take_backlog_full(), node.stock.now());
        let limits = BacklogLimits {
            max: switches.backlog_max,
            resume: switches.backlog_resume(),
            oldest_max_ms: i64::try_from(switches.backlog_oldest_max_s).unwrap_or(0) * 1_000,
        };
        let reading = |depth: SaleDepth| BacklogReading {
            activity: depth.activity,
            in_queue: depth.in_queue,
            oldest_ms: wait_ms(depth.oldest_accepted_at, now),
            was_full: full.contains(&depth.activity),
        };
        let sales: Vec<_> = node.queue.depths().into_iter().map(reading).collect();
        let (before, held) = (node.gate.held_back(), self.held_back.look(limits, &sales));
        if *before == held {
            return;
        }
        node.stock.set_held_back(held.clone());
        tell_held_back(&before, &held, &sales);
        node.gate.set_held_back(held);
    }

    fn look_at_store(&mut self, node: &Node, switch: AutoAdmit, now: Instant) {
        let is_up = !node.layers.lock().as_ref().is_none_or(|layers| layers.store.is_down());
        let rule = match switch {
            AutoAdmit::Off => None,
            AutoAdmit::On { store_p99_ms, step } => Some(AutoAdmitRule {
                slow_us: u64::from(store_p99_ms) * 1_000,
                step,
            }),
        };
        let sales = node.steps.take(rule, now);
        let (before, ratios) = (node.gate.auto_admit_ratios(), self.ratios.second(rule, is_up, &sales));
        if *before != ratios {
            tell_ratios(&before, &ratios);
            node.gate.set_auto_admit_ratios(ratios);
        }
    }
}

fn tell_held_back(before: &BTreeSet<ActivityId>, held: &BTreeSet<ActivityId>, sales: &[BacklogReading]) {
    for activity in before.symmetric_difference(held) {
        let reading = sales.iter().find(|reading| reading.activity == *activity);
        let tickets = reading.map_or(0, |reading| reading.in_queue.tickets);
        let oldest_ms = reading.map_or(0, |reading| reading.oldest_ms);
        if held.contains(activity) {
            tracing::warn!(
                %activity, tickets, oldest_ms,
                "admissions are held back: the backlog is full, or the oldest ticket too old"
            );
        } else {
            tracing::info!(%activity, tickets, oldest_ms, "admissions begin again");
        }
    }
}

fn tell_ratios(before: &BTreeMap<ActivityId, f64>, ratios: &BTreeMap<ActivityId, f64>) {
    let of = |ratios: &BTreeMap<ActivityId, f64>, activity: &ActivityId| ratios.get(activity).copied().unwrap_or(1.0);
    let known: BTreeSet<_> = before.keys().chain(ratios.keys()).collect();
    for activity in known {
        let (before, ratio) = (of(before, activity), of(ratios, activity));
        if ratio < before {
            tracing::warn!(%activity, ratio, "the store is slow: a smaller share of purchases is let in");
        } else if before < ratio {
            tracing::info!(%activity, ratio, "a larger share of purchases is let in again");
        }
    }
}

#[cfg(test)]
mod tests {
    use seckill_flow::StoreReading;

    use super::*;

    #[test]
    fn the_usual_step_lets_everybody_in_within_five_quick_seconds_of_the_longest_overload() {
        let AutoAdmit::On { store_p99_ms, step } = AutoAdmit::default() else {
            panic!("it is on");
        };
        let slow_us = u64::from(store_p99_ms) * 1_000;
        let rule = Some(AutoAdmitRule { slow_us, step });
        let activity = ActivityId::new(1).expect("in range");
        let second = |slow| {
            let reading = StoreReading {
                steps: 100,
                slow,
                late: slow,
                busy: 1.0,
                claims: 100,
            };
            BTreeMap::from([(activity, reading)])
        };
        let mut shares = AutoAdmitRatios::default();
        for _ in 0..60 {
            shares.second(rule, true, &second(2));
        }
        let quick_seconds = (1..).find(|_| shares.second(rule, true, &second(0)).is_empty());
        assert_eq!(quick_seconds, Some(5));
    }
}
