//! Metrics that belong together: those of each activity, and those of the way from ticket to order.

use crate::{Counter, CounterFamily, Depth, Gauge, GaugeFamily, Registry};

/// Activities that are shown one by one. A server holds far fewer unended ones; all further share the label `other`.
const ACTIVITIES_MAX: usize = 1_000;
/// Reasons of failed orders that are shown one by one.
const REASONS_MAX: usize = 50;

/// What is shown of each activity; the label is its id.
#[derive(Clone, Debug)]
pub struct Activities {
    /// `seckill_stock_left{activity}`, in units.
    pub stock_left: GaugeFamily,
    /// `seckill_activity_starts_timestamp_seconds{activity}`
    pub starts: GaugeFamily,
    /// `seckill_activity_preheated{activity}`, 1 or 0.
    pub preheated: GaugeFamily,
    /// `seckill_activity_open{activity}`, 1 or 0.
    pub open: GaugeFamily,
    /// `seckill_activity_fenced{activity}`, 1 or 0.
    pub fenced: GaugeFamily,
    /// `seckill_activity_store_up{activity}`, 1 or 0: whether the servers that have it answer.
    pub store_up: GaugeFamily,
    /// `seckill_activity_admit_ratio{activity}`, from 0 to 1: what the node lets in by itself.
    pub admit_ratio: GaugeFamily,
    /// `seckill_activity_held_back{activity}`, 1 or 0: whether the node admits nobody for its backlog.
    pub held_back: GaugeFamily,
    /// `seckill_audit_balanced{activity}`, 1 or 0; to be removed while it could not be read stably.
    pub audit_balanced: GaugeFamily,
}

impl Activities {
    pub(crate) fn new(registry: &Registry) -> Self {
        let family = |name: &str, help: &str| registry.gauge_family(name, help, &["activity"], ACTIVITIES_MAX);
        Self {
            stock_left: family("seckill_stock_left", "Units left for sale."),
            starts: family(
                "seckill_activity_starts_timestamp_seconds",
                "When the activity starts, in seconds since 1970.",
            ),
            preheated: family("seckill_activity_preheated", "1 where the stock is in place."),
            open: family("seckill_activity_open", "1 while purchases are admitted."),
            fenced: family(
                "seckill_activity_fenced",
                "1 while nothing is admitted because the store must be rebuilt.",
            ),
            store_up: family(
                "seckill_activity_store_up",
                "1 while the part of the store that has it answers.",
            ),
            admit_ratio: family(
                "seckill_activity_admit_ratio",
                "Share of its purchases that this node lets in by itself, lower while the store is slow for it.",
            ),
            held_back: family(
                "seckill_activity_held_back",
                "1 while this node admits nobody to it, since too many of its tickets wait, or one for too long.",
            ),
            audit_balanced: family(
                "seckill_audit_balanced",
                "1 where the audit's equation holds, 0 where it does not.",
            ),
        }
    }

    /// Drops every activity that is not kept, such as those that are over.
    pub fn retain(&self, keep: impl Fn(&str) -> bool) {
        for family in [
            &self.stock_left,
            &self.starts,
            &self.preheated,
            &self.open,
            &self.fenced,
            &self.store_up,
            &self.admit_ratio,
            &self.held_back,
            &self.audit_balanced,
        ] {
            family.retain(|values| keep(&values[0]));
        }
    }
}

/// What is shown of the way from ticket to order.
#[derive(Clone, Debug)]
pub struct Settlement {
    /// `seckill_queue_depth`: tickets that wait for their order, and the peak.
    pub queue_depth: Depth,
    /// `seckill_queue_oldest_seconds`: age of the oldest of them, 0 where none waits.
    pub queue_oldest: Gauge,
    /// `seckill_orders_written_total`
    pub orders_written: Counter,
    /// `seckill_order_failures_total{reason}`
    pub order_failures: CounterFamily,
    /// `seckill_dead_letters`
    pub dead_letters: Gauge,
    /// `seckill_refunds_required`: late payments that nobody has given back yet.
    pub refunds_required: Gauge,
    /// `seckill_workers`: workers alive in this process.
    pub workers: Gauge,
    /// `seckill_worker_last_batch_timestamp_seconds`
    pub worker_last_batch: Gauge,
}

impl Settlement {
    pub(crate) fn new(registry: &Registry) -> Self {
        let failures = ("seckill_order_failures_total", "Orders that could not be written.");
        let last_batch = "When a worker last finished a batch, in seconds since 1970.";
        Self {
            queue_depth: registry.depth("seckill_queue_depth", "Tickets that wait for their order."),
            queue_oldest: registry.gauge("seckill_queue_oldest_seconds", "Age of the oldest ticket that waits."),
            orders_written: registry.counter("seckill_orders_written_total", "Orders written to the database."),
            order_failures: registry.counter_family(failures.0, failures.1, &["reason"], REASONS_MAX),
            dead_letters: registry.gauge("seckill_dead_letters", "Tickets that a person must decide on."),
            refunds_required: registry.gauge("seckill_refunds_required", "Late payments that are to be given back."),
            workers: registry.gauge("seckill_workers", "Workers alive in this process."),
            worker_last_batch: registry.gauge("seckill_worker_last_batch_timestamp_seconds", last_batch),
        }
    }
}
