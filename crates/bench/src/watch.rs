//! Looks at a server's metrics while it is under load: how far the orders have come, how old the oldest intent is.
//!
//! What it sees is exact to one look ([`LOOK_EVERY`]) and errs to the server's disadvantage: a change is dated by the look that found it.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::admin::Admin;
use crate::metrics::Metrics;
use crate::{Error, Result};

/// How often it looks.
pub const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Looks that are kept for the chart; later ones still count for the extremes.
const LOOKS_MAX: usize = 6_000;

/// One look.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Look {
    /// Since the load began.
    pub at_ms: u64,
    /// Orders written since the watch began.
    pub orders_written: f64,
    /// Intents in the queue.
    pub queue_depth: f64,
    /// Age of the oldest of them.
    pub oldest_s: f64,
}

/// What a watch has seen.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Seen {
    /// The looks, oldest first.
    pub looks: Vec<Look>,
    /// The oldest intent of all looks; `None` where the server doesn't say.
    pub oldest_s_max: Option<f64>,
    /// The deepest queue of all looks.
    pub queue_depth_max: Option<f64>,
    /// When the counter of written orders was first seen at its last value.
    #[serde(skip)]
    pub last_written: Option<Instant>,
    #[serde(skip)]
    began: Option<Instant>,
}

impl Seen {
    /// Counts the looks' times from the load's beginning: the watch begins earlier, before the connections are made.
    pub(crate) fn count_from(&mut self, started: Instant) {
        let earlier = self
            .began
            .map_or(Duration::ZERO, |began| started.saturating_duration_since(began));
        let earlier_ms = u64::try_from(earlier.as_millis()).unwrap_or(u64::MAX);
        self.looks
            .iter_mut()
            .for_each(|look| look.at_ms = look.at_ms.saturating_sub(earlier_ms));
        self.began = Some(started);
    }
}

/// A running watch.
#[derive(Debug)]
pub(crate) struct Watch {
    stop: mpsc::SyncSender<()>,
    thread: std::thread::JoinHandle<Seen>,
}

impl Watch {
    /// Watches a server; `others` write orders, too.
    pub(crate) fn start(admin: Admin, others: Vec<Admin>) -> Result<Self> {
        let (stop, stopped) = mpsc::sync_channel(1);
        let work = move || look_until(&admin, &others, &stopped);
        let thread = std::thread::Builder::new()
            .name("watch".into())
            .spawn(work)
            .map_err(Error::io("start a thread"))?;
        Ok(Self { stop, thread })
    }

    /// Looks a last time and ends.
    pub(crate) fn finish(self) -> Result<Seen> {
        drop(self.stop);
        self.thread
            .join()
            .map_err(|_| Error::Usage("the watching thread failed".into()))
    }
}

fn look_until(admin: &Admin, others: &[Admin], stopped: &mpsc::Receiver<()>) -> Seen {
    let begun = Instant::now();
    let mut seen = Seen {
        began: Some(begun),
        ..Seen::default()
    };
    let mut first_written = None;
    loop {
        let last = stopped.recv_timeout(LOOK_EVERY) != Err(mpsc::RecvTimeoutError::Timeout);
        // A server too busy to be looked at is no reason to end the run: the next look may succeed.
        if let Ok(metrics) = admin.metrics()
            && let Ok(of_others) = others.iter().map(orders_written).sum::<Result<f64>>()
        {
            let written = of(&metrics) + of_others;
            add_look(&mut seen, &metrics, written, begun, &mut first_written);
        }
        if last {
            return seen;
        }
    }
}

fn orders_written(admin: &Admin) -> Result<f64> {
    admin.metrics().map(|metrics| of(&metrics))
}

/// Orders that a process has written.
fn of(metrics: &Metrics) -> f64 {
    metrics.sum("seckill_orders_written_total").unwrap_or(0.0)
}

fn add_look(seen: &mut Seen, metrics: &Metrics, written: f64, begun: Instant, first_written: &mut Option<f64>) {
    let now = Instant::now();
    let larger = |old: Option<f64>, new: Option<f64>| old.into_iter().chain(new).reduce(f64::max);
    let (depth, oldest) = (
        metrics.sum("seckill_queue_depth"),
        metrics.sum("seckill_queue_oldest_seconds"),
    );
    seen.queue_depth_max = larger(seen.queue_depth_max, depth);
    seen.oldest_s_max = larger(seen.oldest_s_max, oldest);
    let orders_written = written - *first_written.get_or_insert(written);
    if seen.looks.last().map_or(0.0, |look| look.orders_written) < orders_written {
        seen.last_written = Some(now);
    }
    let at_ms = u64::try_from((now - begun).as_millis()).unwrap_or(u64::MAX);
    let look = Look {
        at_ms,
        orders_written,
        queue_depth: depth.unwrap_or(0.0),
        oldest_s: oldest.unwrap_or(0.0),
    };
    if seen.looks.len() == LOOKS_MAX {
        seen.looks.pop();
    }
    seen.looks.push(look);
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
