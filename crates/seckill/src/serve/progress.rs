//! What other processes settle: this one sees it in the figures of the store, wakes those who wait for a result, and measures the pace.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use seckill_sale::{ActivityId, Figures};
use tokio::time::{MissedTickBehavior, interval};

use super::node::Node;

/// How often it looks. A stream hears of its result that much later than the worker that wrote it.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Looks until the shutdown.
pub(super) async fn follow(node: Arc<Node>) {
    let mut seen = HashMap::new();
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            () = node.shutdown.house.cancelled() => return,
            _ = ticks.tick() => look(&node, &mut seen),
        }
    }
}

/// Tickets with a final result, and the state that they were counted in.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Concluded {
    epoch: u64,
    units: u64,
}

fn look(node: &Node, seen: &mut HashMap<ActivityId, Concluded>) {
    let mut settled = 0;
    for &id in node.gate.catalogue().all().keys() {
        let figures = node
            .layers
            .lock()
            .as_ref()
            .and_then(|layers| layers.store.shared_figures(id));
        let Some(now) = figures.map(|figures| concluded(&figures)) else {
            continue;
        };
        let before = seen.insert(id, now);
        if before == Some(now) {
            continue;
        }
        node.results.wake_sale(id);
        if let Some(before) = before.filter(|before| before.epoch == now.epoch) {
            settled += now.units.saturating_sub(before.units);
        }
    }
    node.pace.count(settled, node.stock.now());
    let catalogue = node.gate.catalogue().all();
    seen.retain(|id, _| catalogue.contains_key(id));
}

const fn concluded(figures: &Figures) -> Concluded {
    Concluded {
        epoch: figures.epoch.get(),
        units: figures.accepted.saturating_sub(figures.queued),
    }
}
