//! Which thread of a crew takes the next job: the one that stopped last, so that in a calm the same few work, and what the others hold can
//! be given back.

use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::lanes::{Job, Lane, Lanes};

/// Why a thread waits no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    /// A job may be its own.
    Job,
    /// Nothing was to be done for as long as it waits at most.
    Idle,
    /// Nothing will be to be done any more.
    End,
}

struct State<C> {
    lanes: Lanes<C>,
    /// Threads that wait; the one that is woken next is the last.
    waiting: Vec<usize>,
}

/// Jobs, and threads that wait for them.
pub(crate) struct Turns<C> {
    state: Mutex<State<C>>,
    woken: Vec<Condvar>,
}

impl<C> Turns<C> {
    /// For so many threads, which are numbered from 0.
    pub(crate) fn new(threads: usize) -> Self {
        let state = State {
            lanes: Lanes::new(threads),
            waiting: Vec::with_capacity(threads),
        };
        Self {
            state: Mutex::new(state),
            woken: (0..threads).map(|_| Condvar::new()).collect(),
        }
    }

    pub(crate) fn push(&self, lane: Lane, job: Job<C>) {
        let mut state = self.state.lock();
        state.lanes.push(lane, job);
        self.wake(&mut state, 1);
    }

    /// Nothing is added any more: threads end when nothing is left.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.lanes.closed = true;
        self.wake(&mut state, usize::MAX);
    }

    fn wake(&self, state: &mut MutexGuard<'_, State<C>>, threads_max: usize) {
        for _ in 0..threads_max {
            let Some(thread) = state.waiting.pop() else { return };
            self.woken[thread].notify_one();
        }
    }

    /// Waits for a job. Who holds something waits no longer than `limit`; who holds nothing, and has no limit, is woken after all others.
    pub(crate) fn wait(&self, thread: usize, limit: Option<Duration>) -> Waited {
        let mut state = self.state.lock();
        loop {
            if state.lanes.has_next() {
                return Waited::Job;
            }
            if state.lanes.closed && state.lanes.is_empty() {
                return Waited::End;
            }
            match limit {
                Some(limit) => {
                    state.waiting.push(thread);
                    let _ = self.woken[thread].wait_for(&mut state, limit);
                }
                None => {
                    state.waiting.insert(0, thread);
                    self.woken[thread].wait(&mut state);
                }
            }
            // Whoever wakes a thread takes it off the list: one that still stands there was not woken.
            if let Some(place) = state.waiting.iter().position(|&waiting| waiting == thread) {
                state.waiting.remove(place);
                if limit.is_some() {
                    return Waited::Idle;
                }
            }
        }
    }

    /// Whether a job could be taken now.
    pub(crate) fn has_next(&self) -> bool {
        self.state.lock().lanes.has_next()
    }

    /// The next job, if another thread has not taken it; [`Turns::done`] is told when it is done.
    pub(crate) fn take(&self) -> Option<(Lane, Job<C>)> {
        let mut state = self.state.lock();
        let taken = state.lanes.next();
        if state.lanes.closed && state.lanes.is_empty() {
            self.wake(&mut state, usize::MAX);
        }
        taken
    }

    pub(crate) fn done(&self, lane: Lane) {
        let mut state = self.state.lock();
        state.lanes.done(lane);
        // What waited for its sale's turn may be another thread's now.
        if let Lane::Sale(_) = lane
            && state.lanes.has_next()
        {
            self.wake(&mut state, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    #[test]
    fn who_holds_something_is_woken_first_and_who_holds_nothing_last() {
        let turns = Arc::new(Turns::<()>::new(3));
        let wait = |number: usize, limit: Option<Duration>| {
            let waits = turns.clone();
            let thread = thread::spawn(move || waits.wait(number, limit));
            while !turns.state.lock().waiting.contains(&number) {
                thread::yield_now();
            }
            thread
        };
        let long = Some(Duration::from_secs(600));
        let [early, late] = [wait(0, long), wait(1, long)];
        let empty_handed = wait(2, None);
        assert_eq!(turns.state.lock().waiting, [2, 0, 1]);
        turns.push(Lane::Person, Box::new(|()| ()));
        assert_eq!(late.join().unwrap(), Waited::Job);
        assert!(turns.take().is_some() && turns.take().is_none());
        turns.close();
        assert_eq!(
            [early, empty_handed].map(|thread| thread.join().unwrap()),
            [Waited::End; 2]
        );
    }

    #[test]
    fn who_holds_something_waits_no_longer_than_his_limit() {
        let turns = Turns::<()>::new(1);
        assert_eq!(turns.wait(0, Some(Duration::from_millis(1))), Waited::Idle);
        assert_eq!(turns.state.lock().waiting, [] as [usize; 0]);
    }
}
