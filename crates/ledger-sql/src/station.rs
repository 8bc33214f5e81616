//! What a thread of a crew works with, and what it holds only while there is work.

use std::time::Instant;

/// What a thread works with. By default it is there all the time.
pub(crate) trait Station: Send + 'static {
    /// Whether it holds something that others could use, and that it would give back.
    fn holds(&self) -> bool {
        false
    }

    /// Gets what a job needs before the job is taken: one that has it already may take the job meanwhile, and then `wanted` says no. What
    /// can't be had is the job's business.
    fn get_ready(&mut self, _wanted: &dyn Fn() -> bool) {}

    /// The job that comes next was asked for then: it may be another one than that which was got ready for.
    fn next_was_asked_at(&mut self, _asked: Instant) {}

    /// A job is done, or was taken by another one while this got ready for it; and one more waits or not.
    fn job_done(&mut self, _waits: bool) {}

    /// Gives back what it holds.
    fn rest(&mut self) {}
}

impl Station for rusqlite::Connection {}
