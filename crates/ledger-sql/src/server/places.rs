//! Connections that this process has at its server, and whether the server has too few for all that want some.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How long after a refusal connections count as scarce.
const SCARCE_FOR: Duration = Duration::from_secs(30);

/// How long a connection is used where they are scarce and work waits; then others may have its place.
const TURN_MAX: Duration = Duration::from_millis(250);

/// The same where nobody here was refused: other processes may be.
const LIFE_MAX: Duration = Duration::from_secs(60);

/// By how much shorter the next one is used, so that those which were made together are not all made again at one moment, and after how
/// many it begins anew.
const LIFE_STEP: Duration = Duration::from_secs(2);
const LIFE_STEPS: u32 = 16;

/// Shared by all connections of a ledger.
#[derive(Debug, Default)]
pub(super) struct Places {
    taken: AtomicU32,
    /// How many were ever taken.
    made: AtomicU32,
    refused_at: Mutex<Option<Instant>>,
}

impl Places {
    /// How many this process has.
    pub(super) fn taken(&self) -> u32 {
        self.taken.load(Ordering::Relaxed)
    }

    /// The server had none left for this process.
    pub(super) fn note_refused(&self, now: Instant) {
        *self.refused_at.lock() = Some(now);
    }

    fn are_scarce(&self, now: Instant) -> bool {
        let refused_at = *self.refused_at.lock();
        refused_at.is_some_and(|at| now.duration_since(at) < SCARCE_FOR)
    }
}

/// Why a place is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// Connections are scarce, and nothing waits for this one.
    Idle,
    /// Connections are scarce, and its turn was long enough: others come before it.
    Turn,
    /// It is old, and nobody here lacks one.
    Old,
}

/// One of the places, until it is dropped.
pub(super) struct Taken {
    places: Arc<Places>,
    since: Instant,
    life_max: Duration,
}

impl Taken {
    pub(super) fn one_of(places: &Arc<Places>, now: Instant) -> Self {
        places.taken.fetch_add(1, Ordering::Relaxed);
        let step = places.made.fetch_add(1, Ordering::Relaxed) % LIFE_STEPS;
        Self {
            places: Arc::clone(places),
            since: now,
            life_max: LIFE_MAX.saturating_sub(LIFE_STEP * step),
        }
    }

    /// Whether it is to be given up after a job, where more work waits or not, and why.
    pub(super) fn is_over(&self, waits: bool, now: Instant) -> Option<Over> {
        let taken_for = now.duration_since(self.since);
        if !self.places.are_scarce(now) {
            return (self.life_max <= taken_for).then_some(Over::Old);
        }
        if !waits {
            return Some(Over::Idle);
        }
        (TURN_MAX <= taken_for).then_some(Over::Turn)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.places.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_given_up_soon_where_they_are_scarce_and_late_where_they_are_not() {
        let (places, begin) = (Arc::new(Places::default()), Instant::now());
        let taken = Taken::one_of(&places, begin);
        let soon = begin + Duration::from_millis(1);
        assert_eq!(taken.is_over(false, soon), None, "nobody was refused");
        let late = begin + LIFE_MAX;
        assert_eq!(taken.is_over(true, late), Some(Over::Old), "nobody has to come first");
        places.note_refused(begin);
        assert_eq!(taken.is_over(false, soon), Some(Over::Idle), "nothing waits for it");
        assert_eq!(taken.is_over(true, soon), None);
        assert_eq!(taken.is_over(true, begin + TURN_MAX), Some(Over::Turn));
        assert_eq!(taken.is_over(false, begin + SCARCE_FOR), None);
    }

    #[test]
    fn places_that_were_taken_together_are_given_up_one_after_another() {
        let (places, begin) = (Arc::new(Places::default()), Instant::now());
        let mut taken: Vec<_> = (0..LIFE_STEPS).map(|_| Taken::one_of(&places, begin)).collect();
        for second in 0..=LIFE_MAX.as_secs() {
            let before = taken.len();
            taken.retain(|taken| taken.is_over(true, begin + Duration::from_secs(second)).is_none());
            assert!(before - taken.len() <= 1, "{second} s");
        }
        assert_eq!(places.taken(), 0);
    }
}
