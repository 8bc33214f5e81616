//! How long the engine pauses while the buyers' map grows: the one measurement here in time.
//!
//! Buyers are admitted batch by batch, each batch in a step of its own, on a real folder. The time that a step spends in calls of the disk
//! is taken off, since it is the disk's. The clock also counts when somebody else has the core; processor time does not, so P8 is judged
//! by that.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::claim::BATCH;
use crate::people::{activity, claim};
use crate::store::{Sales, Store};
use crate::timed_disk::{Spent, TimedDisk};

/// P8: no pause is longer.
pub const PAUSE_MAX: Duration = Duration::from_millis(20);

/// A clock and this thread's processor time, both from one moment on.
#[derive(Debug)]
pub(crate) struct Watch {
    began: Instant,
    cpu: Duration,
}

impl Watch {
    pub(crate) fn start() -> Self {
        Self {
            began: Instant::now(),
            cpu: cpu_time(),
        }
    }

    pub(crate) fn read(&self) -> (Duration, Duration) {
        (self.began.elapsed(), cpu_time().saturating_sub(self.cpu))
    }
}

fn cpu_time() -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ThreadCPUTime);
    let nanoseconds = tv_sec.unsigned_abs() * 1_000_000_000 + tv_nsec.unsigned_abs();
    Duration::from_nanos(nanoseconds)
}

/// Times of all steps, each with the buyers there were before it; shortest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times(Vec<(Duration, usize)>);

impl Times {
    fn new(mut times: Vec<(Duration, usize)>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// The longest, and how many buyers there were before it.
    #[must_use]
    pub fn longest(&self) -> (Duration, usize) {
        self.0.last().copied().unwrap_or_default()
    }

    /// The time that `share` of the steps do not exceed; 0.9999 for one in ten thousand.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a length is an index"
        )]
        let rank = (self.0.len() as f64 * share).ceil() as usize;
        let step = self.0.get(rank.saturating_sub(1));
        step.map_or(Duration::ZERO, |&(time, _)| time)
    }
}

/// What was measured. The disk's calls are taken off both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Growth {
    /// By the clock.
    pub elapsed: Times,
    /// On a core.
    pub cpu: Times,
}

/// Admits this many buyers to one sale, from nobody on.
///
/// # Errors
/// Where the temporary folder cannot be used, or a buyer is not admitted.
pub fn measure(buyers: usize) -> anyhow::Result<Growth> {
    let spent = Arc::new(Spent::default());
    let nobody = Sales {
        buyers: 0,
        left: buyers as u64,
        ..Sales::ONE
    };
    let mut store = Store::open_on(nobody, |disk| TimedDisk {
        disk,
        spent: spent.clone(),
    })?;
    let mut elapsed_times = Vec::with_capacity(buyers.div_ceil(BATCH));
    let mut cpu_times = Vec::with_capacity(buyers.div_ceil(BATCH));
    let mut next = 0;
    while next < buyers {
        let end = (next + BATCH).min(buyers);
        let batch: Vec<_> = (next..end).map(|n| claim(activity(0), n as u64)).collect();
        let (disk_elapsed, disk_cpu) = spent.so_far();
        let watch = Watch::start();
        let answers = store.claim(batch)?;
        let (elapsed, cpu) = watch.read();
        let (disk_elapsed_after, disk_cpu_after) = spent.so_far();
        elapsed_times.push((elapsed.saturating_sub(disk_elapsed_after - disk_elapsed), next));
        cpu_times.push((cpu.saturating_sub(disk_cpu_after - disk_cpu), next));
        ensure!(
            answers.iter().all(Result::is_ok),
            "somebody was not admitted: {answers:?}"
        );
        next = end;
    }
    Ok(Growth {
        elapsed: Times::new(elapsed_times),
        cpu: Times::new(cpu_times),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_time_that_so_many_do_not_exceed() {
        let times = Times::new((1..=100).rev().map(|n| (Duration::from_millis(n), 7)).collect());
        assert_eq!(times.longest(), (Duration::from_millis(100), 7));
        assert_eq!(times.quantile(0.5), Duration::from_millis(50));
        assert_eq!(times.quantile(0.999), Duration::from_millis(100));
        assert_eq!(Times::new(Vec::new()).quantile(0.5), Duration::ZERO);
    }

    #[test]
    fn every_step_of_a_growth_is_timed() {
        let growth = measure(3 * BATCH + 1).expect("buyers are admitted");
        assert_eq!((growth.elapsed.0.len(), growth.cpu.0.len()), (4, 4));
    }
}
