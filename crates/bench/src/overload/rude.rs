//! People without patience: whoever is told to come later, or hears nothing, asks again at once with the same key, until he knows or all
//! of them leave. An open loop: when each wants to come is fixed beforehand, and his wait counts from there.
//!
//! As many people try at a time as there are connections. Who finds none free waits for one, as outside of a full page. A purchase is written
//! out when its buyer comes: written beforehand, those of a minute would take gigabytes. One thread, since it shares the cores with the server.

mod crowd;
mod heard;
mod people;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::client::Connection;
use crate::load::{Pace, open_all};
use crate::outcome::LoadReport;
use crate::tally::Times;
use crate::{Error, Result};
pub(super) use crowd::Crowd;
use heard::Heard;
pub use people::People;
use people::Seen;

/// How long one answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);

/// A storm of such people.
#[derive(Debug, Clone)]
pub(super) struct Storm {
    /// Where to: connections are spread evenly over all.
    pub(super) targets: Vec<SocketAddr>,
    /// Who comes.
    pub(super) crowd: Crowd,
    /// How many want to come.
    pub(super) people: usize,
    /// How many of them a second.
    pub(super) rate_per_s: f64,
    /// When all that are left leave at once, in the middle of whatever they do.
    pub(super) leave_after: Duration,
    /// How many can try at a time.
    pub(super) connections: usize,
}

/// What all connections share.
struct Shared {
    storm: Storm,
    next: AtomicUsize,
    started: Instant,
    seen: Mutex<Seen>,
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        // All tasks are on one thread: the lock is never contended.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the storm and waits for its end. Blocks.
pub(super) fn run(storm: Storm) -> Result<(LoadReport, People)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(Error::io("start a runtime"))?.block_on(rage(storm))
}

async fn rage(storm: Storm) -> Result<(LoadReport, People)> {
    let open = open_all(&storm.targets, storm.connections, ANSWER_LIMIT).await?;
    let started = Instant::now();
    let shared = Arc::new(Shared {
        storm,
        next: AtomicUsize::new(0),
        started,
        seen: Mutex::new(Seen::from(started)),
    });
    let tasks: Vec<_> = open
        .into_iter()
        .map(|connection| tokio::spawn(one_connection(Arc::clone(&shared), connection)))
        .collect();
    for task in tasks {
        task.await
            .map_err(|error| Error::Usage(format!("storm: a connection's task failed: {error}")))?;
    }
    let shared = Arc::into_inner(shared).expect("all tasks have ended and dropped theirs");
    let seen = shared.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(seen.report(shared.storm.people))
}

/// One person after the other, until nobody wants to come any more or all leave.
async fn one_connection(shared: Arc<Shared>, mut connection: Connection) {
    let mut trying = None;
    let leave_at = shared.started + shared.storm.leave_after;
    let all = everybody(&shared, &mut connection, &mut trying);
    let _left = tokio::time::timeout_at(leave_at.into(), all).await;
    if let Some(number) = trying {
        let mut seen = shared.seen();
        seen.left += 1;
        seen.tally.note_unknown(number);
    }
}

/// `trying` is who tries at the moment.
async fn everybody(shared: &Shared, connection: &mut Connection, trying: &mut Option<usize>) {
    let pace = Pace::Steady {
        rate_per_s: shared.storm.rate_per_s,
    };
    let mut request = Vec::new();
    loop {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        if shared.storm.people <= number {
            return;
        }
        let offset = pace.offset(number, shared.storm.people).expect("a steady pace");
        let intended = shared.started + offset;
        tokio::time::sleep_until(intended.into()).await;
        shared.storm.crowd.write(number, &mut request);
        *trying = Some(number);
        shared.seen().came += 1;
        one_person(shared, connection, &request, number, intended).await;
        *trying = None;
    }
}

/// Asks until he knows.
async fn one_person(shared: &Shared, connection: &mut Connection, request: &[u8], number: usize, intended: Instant) {
    let came = Instant::now();
    let mut is_unsure = false;
    let mut first = Some(intended);
    loop {
        shared.seen().requests += 1;
        let sent = Instant::now();
        let outcome = connection.exchange(request).await;
        let done = Instant::now();
        let heard = Heard::of(outcome);
        is_unsure |= matches!(heard, Heard::Busy | Heard::Nothing);
        // A refusal of what he asked again is late by its own time alone; what he wanted is late by all that he waited.
        let counts_from = first.take().unwrap_or(sent);
        let counts_from = if heard == Heard::Accepted {
            intended
        } else {
            counts_from
        };
        let times = Times {
            intended: counts_from,
            sent,
            done,
        };
        shared.seen().tally.count(times, outcome);
        match heard {
            Heard::Accepted => return shared.seen().accept(done - came),
            Heard::HasTicket => return shared.seen().tally.note_unknown(number),
            Heard::Refused if is_unsure => return shared.seen().tally.note_unknown(number),
            Heard::Refused => return,
            Heard::Later | Heard::Busy => {}
            // A connection that fails without waiting for anything would keep all others from their turn.
            Heard::Nothing => tokio::task::yield_now().await,
        }
    }
}

#[cfg(test)]
mod tests;
