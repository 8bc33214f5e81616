//! Figures that are known elsewhere, set before each page of metrics.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use seckill_flow::wait_ms;
use seckill_listener::Counts;
use seckill_metrics::Metrics;
use seckill_sale::{ActivityId, Phase};

use super::node::Node;

/// Has the figures of `node` and of its public port, where it has one, set at every scrape.
pub(crate) fn connect(node: &Arc<Node>, counts: Option<Arc<Counts>>) {
    if let Some(keys) = node.key_file.clone() {
        let up = move || f64::from(u8::from(keys.is_up()));
        let help = "1 while the newest file of public keys is in force.";
        node.metrics.registry.gauge_fn("seckill_key_file_up", help, up);
    }
    let weak: Weak<Node> = Arc::downgrade(node);
    node.metrics.on_scrape(move |metrics| {
        if let Some(node) = weak.upgrade() {
            let open = counts.as_ref().map_or(0, |counts| counts.open());
            metrics.connections.set_count(open as u64);
            set_queue(&node, metrics);
            set_activities(&node, metrics);
            set_switches(&node, metrics);
        }
    });
}

fn set_queue(node: &Node, metrics: &Metrics) {
    let (depth, now) = (node.queue.depth(), node.stock.now());
    let settlement = &metrics.settlement;
    settlement.queue_depth.set(depth.tickets);
    settlement
        .queue_oldest
        .set(wait_ms(depth.oldest_accepted_at, now) as f64 / 1000.0);
    settlement.dead_letters.set_count(depth.dead);
    settlement.workers.set_count(node.workers_running());
    settlement
        .worker_last_batch
        .set(node.counts.last_batch_at.load(Ordering::Relaxed) as f64 / 1000.0);
    let core = seckill_metrics::Core::OTHER;
    let written = node.counts.orders_written.load(Ordering::Relaxed);
    settlement
        .orders_written
        .add(core, written.saturating_sub(settlement.orders_written.total()));
    for (reason, counter) in [
        ("store_oversold", &node.counts.oversold),
        ("dead_letter", &node.counts.buried),
    ] {
        let failures = settlement.order_failures.get(&[reason]);
        failures.add(core, counter.load(Ordering::Relaxed).saturating_sub(failures.total()));
    }
    let down = node.layers.lock().as_ref().is_none_or(|layers| layers.store.is_down());
    metrics.store_up.set_flag(!down);
    let servers = node.layers.lock().as_ref().map(|layers| layers.store.servers());
    let servers = servers.unwrap_or_default();
    for (server, is_up) in &servers {
        metrics
            .store_servers
            .set(&[server.as_str()], f64::from(u8::from(*is_up)));
    }
    let is_known = |server: &str| servers.iter().any(|(known, _)| known == server);
    metrics.store_servers.retain(|values| is_known(&values[0]));
}

fn can_ask_of(node: &Node, activity: ActivityId) -> bool {
    let layers = node.layers.lock();
    layers.as_ref().is_some_and(|layers| layers.store.can_ask_of(activity))
}

fn set_activities(node: &Node, metrics: &Metrics) {
    let (now, all) = (node.stock.now(), node.gate.catalogue().all());
    let (ratios, held_back) = (node.gate.auto_admit_ratios(), node.gate.held_back());
    let mut shown = Vec::new();
    for activity in all.values() {
        let id = activity.id.to_string();
        let stock_left = node.stock.stock_left(activity.id);
        let labels = [id.as_str()];
        let open = activity.phase(now, stock_left) == Phase::Open;
        metrics
            .activities
            .stock_left
            .set(&labels, stock_left.unwrap_or(0) as f64);
        metrics
            .activities
            .starts
            .set(&labels, activity.window.starts_at.0 as f64 / 1000.0);
        metrics
            .activities
            .preheated
            .set(&labels, f64::from(u8::from(stock_left.is_some())));
        metrics.activities.open.set(&labels, f64::from(u8::from(open)));
        metrics
            .activities
            .fenced
            .set(&labels, f64::from(u8::from(node.fences.shows(activity.id))));
        let flag = |on: bool| f64::from(u8::from(on));
        let shown_of = &metrics.activities;
        let ratio = ratios.get(&activity.id).copied().unwrap_or(1.0);
        shown_of.admit_ratio.set(&labels, ratio);
        shown_of.held_back.set(&labels, flag(held_back.contains(&activity.id)));
        shown_of.store_up.set(&labels, flag(can_ask_of(node, activity.id)));
        match node.operator.last_balanced(activity.id) {
            Some(balanced) => metrics
                .activities
                .audit_balanced
                .set(&labels, f64::from(u8::from(balanced))),
            None => metrics.activities.audit_balanced.remove(&labels),
        }
        shown.push(id);
    }
    metrics.activities.retain(|id| shown.iter().any(|other| other == id));
}

fn set_switches(node: &Node, metrics: &Metrics) {
    let switches = node.gate.switches();
    let flag = |on: bool| f64::from(u8::from(on));
    metrics.switches.set(&["entry_open"], flag(switches.entry_open));
    metrics.switches.set(&["admit_ratio"], switches.admit_ratio);
    metrics.switches.set(&["read_only"], flag(switches.read_only));
    metrics.switches.set(&["backlog_max"], switches.backlog_max as f64);
    metrics
        .switches
        .set(&["backlog_resume"], switches.backlog_resume() as f64);
    let oldest_max_s = switches.backlog_oldest_max_s as f64;
    metrics.switches.set(&["backlog_oldest_max_s"], oldest_max_s);
    metrics
        .switches
        .set(&["backlog_holds_back"], flag(!node.gate.held_back().is_empty()));
    metrics
        .switches
        .set(&["auto_admit_ratio"], node.gate.auto_admit_ratio());
}
