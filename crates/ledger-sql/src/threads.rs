//! Threads that own connections. Callers hand them jobs through a bounded queue with two lanes and await the answer; a caller who
//! goes away leaves his job to run to its end, so that no transaction is ever cut in two.
//!
//! Nothing here needs a certain executor: the waits are tokio's channels and semaphores, without its timers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use seckill_ledger::Error;
use tokio::sync::{Semaphore, oneshot};

use crate::lanes::{Job, Lanes};

pub(crate) use crate::lanes::Lane;

/// Jobs that may wait in one lane; further callers wait for a place.
const JOBS_WAITING_MAX: usize = 256;

struct Queue<C> {
    lanes: Mutex<Lanes<C>>,
    filled: Condvar,
    places_people: Arc<Semaphore>,
    places_batches: Arc<Semaphore>,
}

impl<C> Queue<C> {
    fn push(&self, lane: Lane, job: Job<C>) {
        self.lanes.lock().push(lane, job);
        self.filled.notify_one();
    }

    /// The next job; none once the queue is closed and empty.
    fn pop(&self) -> Option<(Lane, Job<C>)> {
        let mut lanes = self.lanes.lock();
        loop {
            if let Some(next) = lanes.next() {
                return Some(next);
            }
            if lanes.closed && lanes.is_empty() {
                return None;
            }
            self.filled.wait(&mut lanes);
        }
    }

    fn done(&self, lane: Lane) {
        self.lanes.lock().done(lane);
        if let Lane::Sale(_) = lane {
            // What waited for its sale's turn may be another thread's now; when the queue is closed, all of them wait for its end.
            self.filled.notify_all();
        }
    }
}

/// Threads with one connection each that work off one queue. Dropping it lets what waits run to its end and joins them.
pub(crate) struct Crew<C> {
    queue: Arc<Queue<C>>,
    threads: Vec<JoinHandle<()>>,
    /// How long a person waits; none: as long as it takes.
    people_wait_max: Option<Duration>,
}

impl<C: Send + 'static> Crew<C> {
    pub(crate) fn start(name: &str, connections: Vec<C>) -> Result<Self, Error> {
        let queue = Arc::new(Queue {
            lanes: Mutex::new(Lanes::new(connections.len())),
            filled: Condvar::new(),
            places_people: Arc::new(Semaphore::new(JOBS_WAITING_MAX)),
            places_batches: Arc::new(Semaphore::new(JOBS_WAITING_MAX)),
        });
        let mut crew = Self {
            queue: Arc::clone(&queue),
            threads: Vec::with_capacity(connections.len()),
            people_wait_max: None,
        };
        for connection in connections {
            let queue = Arc::clone(&queue);
            let thread = std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || work_off(&queue, connection))
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
        let late = |_| Err(Error::Outage("the database does not answer".to_owned()));
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
            Lane::Person => &self.queue.places_people,
            Lane::Batch | Lane::Sale(_) => &self.queue.places_batches,
        };
        let place = Arc::clone(places)
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let (answer, answered) = oneshot::channel();
        let job = move |connection: &mut C| {
            drop(place);
            // A caller who went away does not want the answer.
            let _ = answer.send(work(connection));
        };
        self.queue.push(lane, Box::new(job));
        answered
            .await
            .unwrap_or_else(|_| Err(Error::Outage("the work on the database was broken off".to_owned())))
    }
}

fn work_off<C>(queue: &Queue<C>, mut connection: C) {
    while let Some((lane, job)) = queue.pop() {
        // A panic is a bug of one job. Its transaction was rolled back while unwinding; the connection goes on.
        if catch_unwind(AssertUnwindSafe(|| job(&mut connection))).is_err() {
            tracing::error!("a job on the database panicked");
        }
        queue.done(lane);
    }
}

impl<C> Drop for Crew<C> {
    fn drop(&mut self) {
        self.queue.lanes.lock().closed = true;
        self.queue.filled.notify_all();
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

    #[test]
    fn a_person_waits_for_a_database_that_hangs_no_longer_than_he_may_and_a_batch_does() {
        let crew = Crew::start("test", vec![Connection::open_in_memory().unwrap()]).unwrap();
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
        let crew = Crew::start("test", vec![Connection::open_in_memory().unwrap()]).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let broken: Result<(), Error> = runtime.block_on(crew.run(Lane::Person, |_| panic!("a bug")));
        assert!(matches!(broken, Err(Error::Outage(_))));
        assert_eq!(runtime.block_on(crew.run(Lane::Batch, |_| Ok(1))), Ok(1));
    }
}
