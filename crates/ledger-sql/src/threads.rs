//! Threads that own connections. Callers hand them jobs through a bounded queue with two lanes and await the answer; a caller who
//! goes away leaves his job to run to its end, so that no transaction is ever cut in two.
//!
//! Nothing here needs a certain executor: the waits are tokio's channels and semaphores, without its timers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use seckill_ledger::Error;
use tokio::sync::{Semaphore, oneshot};

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

    /// The same, where a person waits so long at most, and not for ever, for a database that does not answer. His job is done when it
    /// answers. Whoever asks needs a runtime with timers then.
    pub(crate) fn answering_people_within(self, limit: Option<Duration>) -> Self {
        let mut crew = self;
        crew.people_wait_max = limit;
        crew
    }

    /// Runs `work` on one of the threads.
    ///
    /// # Errors
    /// What `work` says; [`Error::Outage`] where it broke off, or where a person has waited too long.
    pub(crate) async fn run<T, F>(&self, lane: Lane, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut C) -> Result<T, Error> + Send + 'static,
    {
        let limit = match lane {
            Lane::Person => self.people_wait_max,
            Lane::Batch | Lane::Sale(_) => None,
        };
        let Some(limit) = limit else {
            return self.run_whole(lane, work).await;
        };
        let late = |_| {
            let late = Error::Outage("the database does not answer".to_owned());
            self.watch.note(None, Some(&late));
            Err(late)
        };
        tokio::time::timeout(limit, self.run_whole(lane, work))
            .await
            .unwrap_or_else(late)
    }

    async fn run_whole<T, F>(&self, lane: Lane, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut C) -> Result<T, Error> + Send + 'static,
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
        let job = move |connection: &mut C| {
            drop(place);
            let done = work(connection);
            watch.note(activity, done.as_ref().err());
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
        let Some((lane, job)) = turns.take() else { continue };
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
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn watch() -> Watch {
        let [watch, _] = Watch::both();
        watch
    }

    #[test]
    fn a_person_waits_for_a_database_that_hangs_no_longer_than_he_may_and_a_batch_does() {
        let crew = Crew::start("test", vec![Connection::open_in_memory().unwrap()], watch()).unwrap();
        let crew = crew.answering_people_within(Some(Duration::from_millis(1)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.unwrap().block_on(async {
            let (release, hangs) = std::sync::mpsc::sync_channel::<()>(0);
            let late = crew.run(Lane::Person, move |_| Ok(hangs.recv())).await;
            assert!(matches!(late, Err(Error::Outage(why)) if why.contains("does not answer")));
            let behind = crew.run(Lane::Person, |_| Ok(())).await;
            assert!(matches!(behind, Err(Error::Outage(_))));
            let batch = crew.run(Lane::Batch, |_| Ok(7));
            let (answered, ()) = tokio::join!(batch, async { drop(release) });
            assert_eq!(answered.unwrap(), 7);
        });
    }

    #[test]
    fn a_job_that_panics_is_an_outage_and_the_thread_goes_on() {
        let crew = Crew::start("test", vec![Connection::open_in_memory().unwrap()], watch()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let broken: Result<(), Error> = runtime.block_on(crew.run(Lane::Person, |_| panic!("a bug")));
        assert!(matches!(broken, Err(Error::Outage(_))));
        assert_eq!(runtime.block_on(crew.run(Lane::Batch, |_| Ok(1))), Ok(1));
    }
}
