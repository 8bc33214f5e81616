//! Following what another process may have changed: switches, blocks, lists of users, activities.

use std::sync::Arc;
use std::time::Instant;

use seckill_console::Console;
use seckill_settings::StoreUrl;
use tokio::time::{MissedTickBehavior, interval};

use super::house::REFRESH_EVERY;
use super::node::Node;

/// Whatever must be in force within a second.
pub(super) async fn small_things(node: Arc<Node>, console: Arc<Console>) {
    let mut ticks = interval(REFRESH_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let refreshing = async {
        loop {
            tokio::select! {
                () = node.shutdown.house.cancelled() => return,
                _ = ticks.tick() => refresh(&node, &console).await,
            }
        }
    };
    // Beside it, and by the store alone: a shut of another node does not wait for a database that does not answer.
    let watching = async {
        let StoreUrl::Remote(_) = node.settings.store.url else {
            return;
        };
        let mut ticks = interval(REFRESH_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !node.shutdown.house.is_cancelled() {
            ticks.tick().await;
            node.operator.follow_store(node.metrics.database_up.value() == 0.0);
            console.watch_switches().await;
        }
    };
    tokio::join!(refreshing, watching, writing(&node));
}

/// Writes pauses that the store has lost: every process may be the only one that knows. It waits for store and ledger.
async fn writing(node: &Node) {
    if !node.operator.layers().queue.loses_states() {
        return;
    }
    let mut ticks = interval(REFRESH_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let write = async {
        loop {
            ticks.tick().await;
            if let Err(error) = node.operator.write_unanswered().await {
                tracing::debug!(%error, "a pause that the store has lost is not in the ledger yet");
            }
        }
    };
    tokio::select! {
        () = node.shutdown.house.cancelled() => {}
        () = write => {}
    }
}

/// Lists of users, apart from what must be in force within a second: one of a million takes its time.
pub(super) async fn lists(node: Arc<Node>, console: Arc<Console>) {
    let mut ticks = interval(REFRESH_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let refreshing = async {
        loop {
            ticks.tick().await;
            match console.refresh_lists().await {
                Ok(()) => {}
                // Said by others already.
                Err(error) if error.is_outage() => {
                    tracing::debug!(%error, "the lists of users could not be taken over");
                }
                Err(error) => tracing::warn!(%error, "the lists of users could not be taken over"),
            }
        }
    };
    tokio::select! {
        () = node.shutdown.house.cancelled() => {}
        () = refreshing => {}
    }
}

/// Takes over what the ledger says now, and tells it and the store what they were not told yet. An unreachable ledger leaves everything as
/// it is.
async fn refresh(node: &Node, console: &Console) {
    node.metrics.tick(Instant::now());
    node.fences.look(node);
    let up = node.ledger.ping().await.is_ok();
    node.metrics.database_up.set_flag(up);
    let refreshed = console.refresh_switches_and_blocks().await;
    if !up {
        return;
    }
    // Of an outage the ledger tells itself, once.
    if let Err(error) = refreshed
        && !error.is_outage()
    {
        tracing::warn!(%error, "switches or blocks could not be taken over");
    }
    if let Err(error) = node.operator.open_fences().await {
        tracing::debug!(%error, "a fence that a broken call of this node left is not open yet");
    }
    if !node.roles.scheduler
        && let Err(error) = node.operator.refresh_catalogue().await
        && !matches!(&error, seckill_flow::Error::Ledger(error) if error.is_outage())
    {
        tracing::warn!(%error, "the activities could not be read");
    }
    if let Ok(owed) = node.ledger.refunds_required().await {
        node.metrics.settlement.refunds_required.set_count(owed);
    }
}
