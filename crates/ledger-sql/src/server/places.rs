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

/// Shared by all connections of a ledger.
#[derive(Debug, Default)]
pub(super) struct Places {
    taken: AtomicU32,
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

    /// Whether one that was connected so long is to give its place up after a job, where more work waits or not.
    pub(super) fn is_over(&self, connected_for: Duration, waits: bool, now: Instant) -> bool {
        let refused_at = *self.refused_at.lock();
        let is_scarce = refused_at.is_some_and(|at| now.duration_since(at) < SCARCE_FOR);
        match is_scarce {
            true => !waits || TURN_MAX <= connected_for,
            false => LIFE_MAX <= connected_for,
        }
    }
}

/// One of the places, until it is dropped.
pub(super) struct Taken(Arc<Places>);

impl Taken {
    pub(super) fn one_of(places: &Arc<Places>) -> Self {
        places.taken.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(places))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_given_up_soon_where_they_are_scarce_and_late_where_they_are_not() {
        let (places, begin) = (Places::default(), Instant::now());
        let short = Duration::from_millis(1);
        assert!(!places.is_over(short, false, begin), "nobody was refused");
        assert!(places.is_over(LIFE_MAX, true, begin));
        places.note_refused(begin);
        assert!(places.is_over(short, false, begin), "nothing waits for it");
        assert!(!places.is_over(short, true, begin));
        assert!(places.is_over(TURN_MAX, true, begin));
        assert!(!places.is_over(TURN_MAX, false, begin + SCARCE_FOR));
    }
}
