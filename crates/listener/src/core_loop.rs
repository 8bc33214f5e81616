//! One core: takes arrivals, runs their connections, sweeps them for deadlines, and drains.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as HttpBody;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tower::Service;

use crate::admission::Permit;
use crate::body::Body;
use crate::connection::{self, Rules};
use crate::counts::Counts;
use crate::deadlines::{CoreState, Deadlines, millis};
use crate::full::make_room;
use crate::limits::Limits;
use crate::peer::Peer;
use crate::phase::Verdict;
use crate::watch::Watch;

/// How often a draining core looks whether it is through.
const DRAIN_SWEEP: Duration = Duration::from_millis(5);
/// A core that couldn't sweep for longer than this many intervals was starved; the rest of that
/// time isn't held against its clients.
const SWEEPS_MISSED_MAX: u32 = 4;

/// A connection on its way to a core.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) stream: std::net::TcpStream,
    pub(crate) address: SocketAddr,
    pub(crate) permit: Permit,
}

/// How the end is announced.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    /// Finish what is open, within the grace.
    pub(crate) shutdown: CancellationToken,
    /// Stop where you are.
    pub(crate) cut_off: CancellationToken,
}

/// One core's connections and their deadlines.
pub(crate) struct CoreLoop<C> {
    pub(crate) index: usize,
    pub(crate) state: Arc<CoreState>,
    pub(crate) arrivals: mpsc::Receiver<Arrival>,
    pub(crate) limits: Limits,
    pub(crate) rules: Rc<Rules>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) make_service: C,
}

impl<C, S, B> CoreLoop<C>
where
    C: Fn(Peer) -> S,
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible> + Clone + 'static,
    B: HttpBody<Data = Bytes> + Unpin + 'static,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    /// Serves until the shutdown and then until the last connection ended or the grace is over.
    /// Connections still open then end when the caller drops the runtime.
    pub(crate) async fn run(mut self, ending: Ending) {
        let mut sweep = Sweep::new(&self.limits);
        let mut cut_off_at = None;
        let mut arriving = true;
        loop {
            tokio::select! {
                arrival = self.arrivals.recv(), if arriving => match arrival {
                    Some(arrival) => if self.has_room(&sweep.watches) {
                        sweep.watches.extend(self.begin(arrival));
                    },
                    None => arriving = false,
                },
                () = ending.cut_off.cancelled() => break,
                () = ending.shutdown.cancelled(), if cut_off_at.is_none() => {
                    cut_off_at = Some(Instant::now() + self.limits.shutdown_grace);
                    self.state.draining.store(true, Relaxed);
                    sweep.hurry(self.limits.drain_idle());
                }
                now = sweep.interval.tick() => {
                    sweep.run(now, &self.state, &self.counts);
                    let Some(cut_off_at) = cut_off_at else { continue };
                    let open = self.state.open.load(Relaxed);
                    if !arriving && open == 0 {
                        break;
                    }
                    if cut_off_at <= now {
                        tracing::warn!(open, core = self.index, "connections cut off: shutdown grace is over");
                        break;
                    }
                }
            }
        }
    }

    /// Whether there is a place for one that just came, or one was made. The arrival counts as open already.
    fn has_room(&self, watches: &[Arc<Watch>]) -> bool {
        if self.counts.open.load(Relaxed) <= self.limits.connections_max {
            return true;
        }
        let (made, count) = match make_room(watches) {
            true => (true, &self.counts.gave_way_total),
            false => (false, &self.counts.refused_full_total),
        };
        count.fetch_add(1, Relaxed);
        made
    }

    fn begin(&self, arrival: Arrival) -> Option<Arc<Watch>> {
        let stream = match TcpStream::from_std(arrival.stream) {
            Ok(stream) => stream,
            Err(error) => {
                tracing::warn!(%error, "connection dropped: its runtime didn't take it");
                return None;
            }
        };
        let service = (self.make_service)(Peer {
            address: arrival.address,
            core: self.index,
        });
        let watch = Arc::new(Watch::new(Arc::clone(&self.state)));
        tokio::task::spawn_local(connection::serve(
            stream,
            arrival.permit,
            service,
            Arc::clone(&watch),
            Rc::clone(&self.rules),
        ));
        Some(watch)
    }
}

/// The sweep over a core's connections.
struct Sweep {
    watches: Vec<Arc<Watch>>,
    deadlines: Deadlines,
    interval: Interval,
    swept_at: Instant,
    alive: Duration,
}

impl Sweep {
    fn new(limits: &Limits) -> Self {
        Self {
            watches: Vec::new(),
            deadlines: Deadlines::new(limits),
            interval: every(limits.sweep_interval()),
            swept_at: Instant::now(),
            alive: Duration::ZERO,
        }
    }

    /// From now on silence is waited out only for `silence`, and looked at often.
    fn hurry(&mut self, silence: Duration) {
        self.deadlines = self.deadlines.cut(silence);
        if DRAIN_SWEEP < self.interval.period() {
            self.interval = every(DRAIN_SWEEP);
        }
    }

    fn run(&mut self, now: Instant, state: &CoreState, counts: &Counts) {
        let step = now.saturating_duration_since(self.swept_at);
        self.alive += step.min(self.interval.period() * SWEEPS_MISSED_MAX);
        self.swept_at = now;
        state.alive_ms.store(millis(self.alive), Relaxed);
        self.watches.retain(|watch| {
            if watch.judge_body(&self.deadlines) {
                counts.slow_total.fetch_add(1, Relaxed);
            }
            match watch.judge(&self.deadlines) {
                Some(Verdict::SlowHead) => _ = counts.slow_total.fetch_add(1, Relaxed),
                Some(Verdict::Stalled) => _ = counts.stalled_total.fetch_add(1, Relaxed),
                Some(Verdict::Silent) | None => {}
            }
            // Only this list still knows a connection that has ended.
            1 < Arc::strong_count(watch)
        });
    }
}

fn every(period: Duration) -> Interval {
    let mut interval = interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}
