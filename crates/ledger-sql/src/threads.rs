//! Threads that own connections. Callers hand them jobs through a bounded queue with two lanes and await the answer; a caller who
//! goes away leaves his job to run to its end, so that no transaction is ever cut in two. A person who has waited too long takes his back,
//! unless it is being committed (`caller.rs`).
//!
//! Nothing here needs a certain executor: the waits are tokio's channels and semaphores, without its timers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use seckill_ledger::Error;
use tokio::sync::{Semaphore, oneshot};

use crate::caller::Caller;
use crate::outages::Watch;
use crate::station::Station;
use crate::turns::{Turns, Waited};

pub(crate) use crate::lanes::Lane;

/// Jobs that may wait in one lane; further callers wait for a place.
const JOBS_WAITING_MAX: usize = 256;

/// After how long without a job a thread gives back what it holds: others may want it.
const REST_AFTER: Duration = Duration::from_secs(5);

/// Threads with one connection each that work off one queue. Dropping it lets what waits run to its end and joins them.
pub(crate) struct Crew<C> {
    turns: Arc<Turns<C>>,
    places_people: Arc<Semaphore>,
    places_batches: Arc<Semaphore>,
    watch: Watch,
    threads: Vec<JoinHandle<()>>,
    /// How long a person waits; none: as long as it takes.
    people_wait_max: Option<Duration>,
}

impl<C: Station> Crew<C> {
    /// One thread for each of `connections`; `watch` hears which jobs the database can't do.
    pub(crate) fn start(name: &str, connections: Vec<C>, watch: Watch) -> Result<Self, Error> {
        let mut crew = Self {
            turns: Arc::new(Turns::new(connections.len())),
            places_people: Arc::new(Semaphore::new(JOBS_WAITING_MAX)),
            places_batches: Arc::new(Semaphore::new(JOBS_WAITING_MAX)),
            watch,
            threads: Vec::with_capacity(connections.len()),
            people_wait_max: None,
        };
        for (number, connection) in connections.into_iter().enumerate() {
            let turns = Arc::clone(&crew.turns);
            let thread = std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || work_off(&turns, number, connection))
                .map_err(|error| Error::Outage(format!("no thread for the database: {error}")))?;
            crew.threads.push(thread);
        }
        Ok(crew)
    }

    /// The same, where a person waits so long at most, and not for ever, for a database that does not answer. Whoever asks needs a runtime
    /// with timers then.
    pub(crate) fn answering_people_within(self, limit: Option<Duration>) -> Self {
        let mut crew = self;
        crew.people_wait_max = limit;
        crew
    }

    /// Runs `work` on one of the threads. Work that changes something asks its caller right before it commits.
    ///
    /// # Errors
    /// What `work` says; [`Error::Outage`] where it broke off. Where a person has waited too long, what [`Caller::give_up`] says.
    pub(crate) async fn run<T, F>(&self, lane: Lane, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut C, &Caller) -> Result<T, Error> + Send + 'static,
    {
        let limit = match lane {
            Lane::Person => self.people_wait_max,
            Lane::Batch | Lane::Sale(_) => None,
        };
        let caller = Caller::default();
        let whole = self.run_whole(lane, caller.clone(), work);
        let Some(limit) = limit else {
            return whole.await;
        };
        let late = |_| {
            let late = caller.give_up();
            self.watch.note(None, Some(&late));
            Err(late)
        };
        tokio::time::timeout(limit, whole).await.unwrap_or_else(late)
    }

    async fn run_whole<T, F>(&self, lane: Lane, caller: Caller, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut C, &Caller) -> Result<T, Error> + Send + 'static,
    {
        let places = match lane {
            Lane::Person => &self.places_people,
            Lane::Batch | Lane::Sale(_) => &self.places_batches,
        };
        let place = Arc::clone(places)
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let (answer, answered) = oneshot::channel();
        let watch = self.watch.clone();
        let activity = match lane {
            Lane::Sale(activity) => Some(activity),
            Lane::Person | Lane::Batch => None,
        };
        let asked = Instant::now();
        let job = move |connection: &mut C| {
            drop(place);
            if caller.has_given_up() {
                return;
            }
            connection.next_was_asked_at(asked);
            let done = work(connection, &caller);
            // Of what he waited for in vain the watch was told when he gave up.
            if done.is_ok() || !caller.has_given_up() {
                watch.note(activity, done.as_ref().err());
            }
            // A caller who went away does not want the answer.
            let _ = answer.send(done);
        };
        self.turns.push(lane, Box::new(job));
        answered
            .await
            .unwrap_or_else(|_| Err(Error::Outage("the work on the database was broken off".to_owned())))
    }
}

fn work_off<C: Station>(turns: &Turns<C>, thread: usize, mut connection: C) {
    loop {
        match turns.wait(thread, connection.holds().then_some(REST_AFTER)) {
            Waited::Job => {}
            Waited::Idle => {
                connection.rest();
                continue;
            }
            Waited::End => return,
        }
        connection.get_ready(&|| turns.has_next());
        let Some((lane, job)) = turns.take() else {
            connection.job_done(turns.has_next());
            continue;
        };
        // A panic is a bug of one job. Its transaction was rolled back while unwinding; the connection goes on.
        if catch_unwind(AssertUnwindSafe(|| job(&mut connection))).is_err() {
            tracing::error!("a job on the database panicked");
        }
        turns.done(lane);
        connection.job_done(turns.has_next());
    }
}

impl<C> Drop for Crew<C> {
    fn drop(&mut self) {
        self.turns.close();
        for thread in self.threads.drain(..) {
            // Its panics were caught; there is nobody to tell of anything else.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
#[path = "threads_tests.rs"]
mod tests;
