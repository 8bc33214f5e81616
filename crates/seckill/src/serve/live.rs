//! What the console shows of this node: who it is among the others, and what it did, read off its counters ten times a second.

use std::sync::Arc;
use std::time::Duration;

use seckill_console::{Console, Live};
use seckill_metrics::{Recorder, SLOT_MS};
use tokio::time::{MissedTickBehavior, interval};

use super::node::Node;

/// What the console needs to know of this node.
pub(crate) fn of(node: &Node) -> Live {
    // It has just answered; from now on it is looked at again and again.
    node.metrics.database_up.set_flag(true);
    Live {
        members: node.membership.members(),
        member: node.membership.own().clone(),
        recorder: Arc::new(Recorder::new(node.metrics.clone())),
        worker_counts: node.counts.clone(),
        shutdown: node.shutdown.streams.clone(),
    }
}

/// Records until the house is closed.
pub(crate) async fn record(node: Arc<Node>, console: Arc<Console>) {
    let mut ticks = interval(Duration::from_millis(SLOT_MS.unsigned_abs()));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            () = node.shutdown.house.cancelled() => return,
            _ = ticks.tick() => console.sample(),
        }
    }
}
