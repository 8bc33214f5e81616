//! What happens to a connection that comes while all places are taken.
//!
//! Where connections give way, the accept thread passes a few more on than there are places, and the core that gets one of them ends the
//! connection that asks for nothing for the longest time. Only the core knows which that is: what a connection does changes on its thread alone.

use std::sync::Arc;

use crate::watch::Watch;

/// Connections that may be passed on above the places, each in the place of one that gives way. Those have ended once their core comes
/// round to them, so more than a few are never open at once.
const PASSED_ON_MAX: usize = 64;

/// Who goes when a connection comes and all places are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// The new one: nobody loses a place because others come.
    RefuseNewest,
    /// The one that asks for nothing for the longest time: kept alive between two requests, or connected without a word. One whose head has
    /// begun goes only where there is no such other; one with a request under way, or a stream, never. Where all have one, the new one goes.
    /// Each core chooses among its own.
    LongestIdleGivesWay,
}

impl WhenFull {
    /// Connections that may be passed on above the places.
    pub(crate) fn passed_on_max(self) -> usize {
        match self {
            Self::RefuseNewest => 0,
            Self::LongestIdleGivesWay => PASSED_ON_MAX,
        }
    }
}

/// Ends the connection of `watches` that is the first to give way. Returns whether there was one.
pub(crate) fn make_room(watches: &[Arc<Watch>]) -> bool {
    let first = watches
        .iter()
        // Only this list still knows a connection that has ended.
        .filter(|watch| 1 < Arc::strong_count(watch))
        .filter_map(|watch| Some((watch.idle_rank()?, watch)))
        .min_by_key(|(rank, _)| *rank);
    first.is_some_and(|(_, watch)| {
        watch.give_way();
        true
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::deadlines::CoreState;
    use crate::phase::Verdict;

    /// Connections of one core, each made a millisecond after the other; the second ones of the pairs are those of their tasks.
    fn connections<const N: usize>() -> [(Arc<Watch>, Arc<Watch>); N] {
        let core = Arc::<CoreState>::default();
        std::array::from_fn(|_| {
            core.alive_ms.fetch_add(1, Relaxed);
            let watch = Arc::new(Watch::new(Arc::clone(&core)));
            (Arc::clone(&watch), watch)
        })
    }

    fn gone(of: &[(Arc<Watch>, Arc<Watch>)]) -> Vec<usize> {
        (0..of.len())
            .filter(|&at| of[at].0.verdict() == Some(Verdict::Silent))
            .collect()
    }

    #[test]
    fn longest_idle_gives_way_and_whoever_is_being_served_never_does() {
        let connections = connections::<5>();
        let watches: Vec<_> = connections.iter().map(|(watch, _)| Arc::clone(watch)).collect();
        watches[0].received(b"GET");
        watches[0].begin_request();
        watches[1].received(b"G");
        watches[2].upgrade();
        watches[3].core.alive_ms.fetch_add(1, Relaxed);
        watches[3].received(b"GET");
        watches[3].begin_request();
        watches[3].end_answer();
        let order: Vec<_> = (0..4).map(|_| (make_room(&watches), gone(&connections))).collect();
        assert_eq!(
            order,
            [
                (true, vec![4]),
                (true, vec![3, 4]),
                (true, vec![1, 3, 4]),
                (false, vec![1, 3, 4])
            ],
            "silent ones by age, then a head that has begun, then nobody"
        );
    }

    #[test]
    fn a_connection_that_ends_by_itself_gives_no_place_twice() {
        let [(ended, task), (leaving, _leaving_task)] = connections::<2>();
        drop(task);
        leaving.leave();
        assert!(!make_room(&[ended, leaving]));
    }
}
