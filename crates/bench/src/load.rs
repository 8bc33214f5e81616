//! Puts load on a server: closed loop (every connection asks again as soon as it is answered) and open loop (requests have intended
//! start times that don't wait for anybody).
//!
//! In an open loop latency counts from the intended time. A server that stalls delays the requests behind the stall, and their wait
//! belongs to it; counting from the actual send would hide it (coordinated omission). Start times are kept to the millisecond, the
//! grain of the timer.

mod open;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::client::Connection;
use crate::jobs::Jobs;
use crate::outcome::LoadReport;
pub use crate::pace::Pace;
use crate::tally::{Tally, Times};
use crate::{Error, Result};
pub(crate) use open::open_all;

/// More connections than this are refused: one process has no descriptors for them.
pub const CONNECTIONS_MAX: usize = 20_000;
/// More client threads than this are refused.
pub const THREADS_MAX: usize = 64;
/// How often the progress callback is called.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Called now and then with (requests begun, requests in all).
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// A run of load.
#[derive(Clone)]
pub struct Load {
    /// Where to.
    pub target: SocketAddr,
    /// Where else to: connections are spread evenly over all.
    pub others: Vec<SocketAddr>,
    /// What is sent, in this order.
    pub jobs: Arc<Jobs>,
    /// How many requests; more than there are jobs begins again with the first.
    pub requests: usize,
    /// Connections, opened before the clock starts.
    pub connections: usize,
    /// Client threads, each with a runtime of its own.
    pub threads: usize,
    /// How long one answer may take.
    pub answer_limit: Duration,
    /// When requests are sent.
    pub pace: Pace,
    /// No request is sent later than this behind the start, however many are left; none: all are sent.
    pub within: Option<Duration>,
    /// Told how far the run has come.
    pub progress: Option<Progress>,
}

impl std::fmt::Debug for Load {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Load")
            .field("target", &self.target)
            .field("requests", &self.requests)
            .field("connections", &self.connections)
            .field("pace", &self.pace)
            .finish_non_exhaustive()
    }
}

impl Load {
    /// Every job once, in a closed loop over 64 connections on one thread, 15 s for an answer.
    pub fn once_each(target: SocketAddr, jobs: Arc<Jobs>) -> Self {
        let requests = jobs.len();
        Self {
            target,
            others: Vec::new(),
            jobs,
            requests,
            connections: 64,
            threads: 1,
            answer_limit: Duration::from_secs(15),
            pace: Pace::Closed,
            within: None,
            progress: None,
        }
    }

    fn check(&self) -> Result<()> {
        let wrong = |why: &str| Err(Error::Usage(format!("load: {why}")));
        if self.jobs.is_empty() || self.requests == 0 {
            return wrong("nothing to send");
        }
        if self.connections == 0 || CONNECTIONS_MAX < self.connections {
            return wrong(&format!("connections must lie in 1..={CONNECTIONS_MAX}"));
        }
        if self.threads == 0 || THREADS_MAX < self.threads {
            return wrong(&format!("threads must lie in 1..={THREADS_MAX}"));
        }
        match self.pace {
            Pace::Steady { rate_per_s } if !(rate_per_s.is_finite() && 0.001 <= rate_per_s) => {
                wrong("the rate must be above 0")
            }
            _ => Ok(()),
        }
    }
}

/// What the threads share.
struct Shared {
    load: Load,
    next: AtomicUsize,
    connected: Barrier,
    started: std::sync::OnceLock<Instant>,
}

/// Runs the load and waits for its end. Blocks.
///
/// # Errors
/// [`Error::Usage`] for a load that makes no sense, [`Error::Io`] when the first connections can't be made.
pub fn run(load: &Load) -> Result<LoadReport> {
    load.check()?;
    let threads = load.threads.min(load.connections);
    let shared = Arc::new(Shared {
        load: load.clone(),
        next: AtomicUsize::new(0),
        connected: Barrier::new(threads),
        started: std::sync::OnceLock::new(),
    });
    let (send, receive) = mpsc::sync_channel(threads);
    for number in 0..threads {
        let (shared, send) = (Arc::clone(&shared), send.clone());
        let connections = load.connections / threads + usize::from(number < load.connections % threads);
        std::thread::Builder::new()
            .name(format!("load-{number}"))
            .spawn(move || {
                // The receiver below outlives every sender.
                let _received = send.send(one_thread(&shared, connections).map(Box::new));
            })
            .map_err(Error::io("start a load thread"))?;
    }
    drop(send);
    let mut all: Option<Tally> = None;
    let mut failed = None;
    loop {
        match receive.recv_timeout(PROGRESS_EVERY) {
            Ok(Ok(tally)) => match &mut all {
                Some(all) => all.merge(*tally),
                None => all = Some(*tally),
            },
            Ok(Err(error)) => failed = Some(error),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        if let Some(progress) = &load.progress {
            let begun = shared.next.load(Ordering::Relaxed).min(load.requests);
            progress(begun as u64, load.requests as u64);
        }
    }
    match (failed, all) {
        (None, Some(all)) => Ok(all.report()),
        (Some(error), _) => Err(error),
        (None, None) => Err(Error::Usage("load: every thread ended without a report".into())),
    }
}

/// Opens its connections, waits for the other threads to have theirs, then works until the jobs run out.
fn one_thread(shared: &Arc<Shared>, connections: usize) -> Result<Tally> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let opened = runtime.map_err(Error::io("start a runtime")).and_then(|runtime| {
        let load = &shared.load;
        let targets: Vec<_> = std::iter::once(load.target)
            .chain(load.others.iter().copied())
            .collect();
        let open = open_all(&targets, connections, load.answer_limit);
        let open = runtime.block_on(open)?;
        Ok((runtime, open))
    });
    if opened.is_err() {
        shared.next.store(shared.load.requests, Ordering::Relaxed);
    }
    // The barrier counts failed threads too: whoever is missing here would keep the others waiting for ever.
    shared.connected.wait();
    let (runtime, open) = opened?;
    let started = *shared.started.get_or_init(Instant::now);
    let tally = Arc::new(Mutex::new(Tally::new(started)));
    runtime.block_on(async {
        let tasks: Vec<_> = open
            .into_iter()
            .map(|connection| {
                tokio::spawn(one_connection(
                    Arc::clone(shared),
                    connection,
                    Arc::clone(&tally),
                    started,
                ))
            })
            .collect();
        for task in tasks {
            task.await
                .map_err(|error| Error::Usage(format!("load: a connection's task failed: {error}")))?;
        }
        Ok::<(), Error>(())
    })?;
    let tally = Arc::into_inner(tally).expect("all tasks have ended and dropped theirs");
    Ok(tally.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Takes the next job until there is none. All connections draw from one schedule, so a busy one delays nobody but its own request.
async fn one_connection(shared: Arc<Shared>, mut connection: Connection, tally: Arc<Mutex<Tally>>, started: Instant) {
    let load = &shared.load;
    loop {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        if load.requests <= number {
            return;
        }
        let index = number % load.jobs.len();
        let intended = load.pace.offset(number, load.requests).map(|offset| started + offset);
        let is_over = |at: Instant| load.within.is_some_and(|within| started + within <= at);
        if let Some(intended) = intended.filter(|&at| !is_over(at)) {
            tokio::time::sleep_until(intended.into()).await;
        }
        let sent = Instant::now();
        if is_over(intended.unwrap_or(sent).max(sent)) {
            return;
        }
        let outcome = connection.exchange(load.jobs.request(index)).await;
        let times = Times {
            intended: intended.unwrap_or(sent),
            sent,
            done: Instant::now(),
        };
        // Only tasks of this one thread share the tally: the lock is never contended.
        tally
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .record(index, times, outcome);
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
