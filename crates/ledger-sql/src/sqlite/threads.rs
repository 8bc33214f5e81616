//! Threads that own connections. Callers hand them jobs through a bounded queue with two lanes and await the answer; a caller who
//! goes away leaves his job to run to its end, so that no transaction is ever cut in two.
//!
//! Nothing here needs a certain executor: the waits are tokio's channels and semaphores, without its timers.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;
use seckill_ledger::Error;
use tokio::sync::{Semaphore, oneshot};

/// Jobs that may wait in one lane; further callers wait for a place.
const JOBS_WAITING_MAX: usize = 256;

/// Jobs of people in a row before a batch gets its turn.
const PEOPLE_IN_A_ROW_MAX: u32 = 16;

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// Who waits for a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// A person: not behind a long row of batches.
    Person,
    /// A worker with a batch.
    Batch,
}

#[derive(Default)]
struct Lanes {
    people: VecDeque<Job>,
    batches: VecDeque<Job>,
    people_in_a_row: u32,
    closed: bool,
}

impl Lanes {
    fn next(&mut self) -> Option<Job> {
        let batch_first = PEOPLE_IN_A_ROW_MAX <= self.people_in_a_row && !self.batches.is_empty();
        if !batch_first && let Some(job) = self.people.pop_front() {
            self.people_in_a_row += 1;
            return Some(job);
        }
        self.people_in_a_row = 0;
        self.batches.pop_front()
    }
}

struct Queue {
    lanes: Mutex<Lanes>,
    filled: Condvar,
    places_people: Arc<Semaphore>,
    places_batches: Arc<Semaphore>,
}

impl Queue {
    fn push(&self, lane: Lane, job: Job) {
        let mut lanes = self.lanes.lock();
        match lane {
            Lane::Person => lanes.people.push_back(job),
            Lane::Batch => lanes.batches.push_back(job),
        }
        drop(lanes);
        self.filled.notify_one();
    }

    /// The next job; none once the queue is closed and empty.
    fn pop(&self) -> Option<Job> {
        let mut lanes = self.lanes.lock();
        loop {
            if let Some(job) = lanes.next() {
                return Some(job);
            }
            if lanes.closed {
                return None;
            }
            self.filled.wait(&mut lanes);
        }
    }
}

/// Threads with one connection each that work off one queue. Dropping it lets what waits run to its end and joins them.
pub(super) struct Crew {
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
}

impl Crew {
    pub(super) fn start(name: &str, connections: Vec<Connection>) -> Result<Self, Error> {
        let queue = Arc::new(Queue {
            lanes: Mutex::default(),
            filled: Condvar::new(),
            places_people: Arc::new(Semaphore::new(JOBS_WAITING_MAX)),
            places_batches: Arc::new(Semaphore::new(JOBS_WAITING_MAX)),
        });
        let mut crew = Self {
            queue: Arc::clone(&queue),
            threads: Vec::with_capacity(connections.len()),
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

    /// Runs `work` on one of the threads.
    pub(super) async fn run<T, F>(&self, lane: Lane, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, Error> + Send + 'static,
    {
        let places = match lane {
            Lane::Person => &self.queue.places_people,
            Lane::Batch => &self.queue.places_batches,
        };
        let place = Arc::clone(places)
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let (answer, answered) = oneshot::channel();
        let job = move |connection: &mut Connection| {
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

fn work_off(queue: &Queue, mut connection: Connection) {
    while let Some(job) = queue.pop() {
        // A panic is a bug of one job. Its transaction was rolled back while unwinding; the connection goes on.
        if catch_unwind(AssertUnwindSafe(|| job(&mut connection))).is_err() {
            tracing::error!("a job on the database panicked");
        }
    }
}

impl Drop for Crew {
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
    use super::*;

    fn job(_: &mut Connection) {}

    fn lanes(people: usize, batches: usize) -> Lanes {
        let mut lanes = Lanes::default();
        lanes.people.extend((0..people).map(|_| Box::new(job) as Job));
        lanes.batches.extend((0..batches).map(|_| Box::new(job) as Job));
        lanes
    }

    #[test]
    fn people_go_before_batches_but_do_not_starve_them() {
        let mut lanes = lanes(40, 2);
        let mut turns = Vec::new();
        while let Some(_job) = lanes.next() {
            turns.push(lanes.batches.len());
        }
        let first_batch = turns.iter().position(|&left| left == 1);
        assert_eq!(first_batch, Some(PEOPLE_IN_A_ROW_MAX as usize));
        assert_eq!(turns.len(), 42);
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
