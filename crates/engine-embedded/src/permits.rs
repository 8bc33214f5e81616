//! Permits that were taken, each key until its moment.
//!
//! Trees, not hash tables: none of them ever has to move as it grows while claims wait. A record says how many of a key are taken by now and
//! when that was decided, so a replay forgets what the running state forgot. About 100 bytes a key, [`Permits::KEYS_MAX`] keys of each of two
//! kinds at most, which the first bit of a key tells apart: what somebody floods with keys of one kind stays open to the other.

use std::collections::{BTreeMap, BTreeSet};

use seckill_sale::EpochMs;

/// Of one key so many permits are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Permitted {
    pub(crate) key: [u8; 16],
    pub(crate) taken: u32,
    /// First moment at which it is forgotten.
    pub(crate) until: EpochMs,
    /// When that was decided.
    pub(crate) at: EpochMs,
}

/// What becomes of a wish for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decided {
    Given(Permitted),
    Refused,
    /// Too many keys are remembered.
    NoRoom,
}

#[derive(Debug)]
pub(crate) struct Permits {
    keys: BTreeMap<[u8; 16], (u32, EpochMs)>,
    ends: BTreeSet<(EpochMs, [u8; 16])>,
    /// Keys of each kind.
    counts: [usize; 2],
    keys_max: usize,
}

/// See [`seckill_stock::Stock::permit`].
const fn kind(key: &[u8; 16]) -> usize {
    (key[0] >> 7) as usize
}

impl Default for Permits {
    fn default() -> Self {
        Self::with_room(Self::KEYS_MAX)
    }
}

impl Permits {
    /// Keys of one kind that are remembered at the same time.
    const KEYS_MAX: usize = 500_000;
    /// Keys that are forgotten at once: more than come by one record, and so few that nobody waits for it.
    const FORGOTTEN_MAX: usize = 64;

    const fn with_room(keys_max: usize) -> Self {
        Self {
            keys: BTreeMap::new(),
            ends: BTreeSet::new(),
            counts: [0; 2],
            keys_max,
        }
    }

    pub(crate) fn decide(&self, key: [u8; 16], max: u32, until: EpochMs, now: EpochMs) -> Decided {
        let known = self.keys.get(&key).filter(|(_, until)| now < *until);
        let (taken, until) = known.copied().unwrap_or((0, until));
        if max <= taken || until <= now {
            return Decided::Refused;
        }
        if known.is_none() && self.keys_max <= self.counts[kind(&key)] {
            return Decided::NoRoom;
        }
        Decided::Given(Permitted {
            key,
            taken: taken + 1,
            until,
            at: now,
        })
    }

    pub(crate) fn apply(&mut self, permitted: &Permitted) {
        let Permitted { key, taken, until, at } = *permitted;
        if let Some((_, old)) = self.keys.insert(key, (taken, until)) {
            self.ends.remove(&(old, key));
        } else {
            self.counts[kind(&key)] += 1;
        }
        self.ends.insert((until, key));
        self.forget(at);
    }

    /// Forgets keys whose moment is over, the oldest of them first; not all of them at once. Costs a look where there is none.
    pub(crate) fn forget(&mut self, now: EpochMs) {
        for _ in 0..Self::FORGOTTEN_MAX {
            match self.ends.first() {
                Some(&(until, key)) if until <= now => {
                    self.ends.pop_first();
                    self.keys.remove(&key);
                    self.counts[kind(&key)] -= 1;
                }
                _ => return,
            }
        }
    }

    /// What is remembered, as records. They forget nothing: when they were decided does not matter any more.
    pub(crate) fn all(&self) -> impl Iterator<Item = Permitted> {
        self.keys.iter().map(|(&key, &(taken, until))| Permitted {
            key,
            taken,
            until,
            at: EpochMs(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u64) -> [u8; 16] {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&n.to_be_bytes());
        key
    }

    fn take(permits: &mut Permits, n: u64, until: i64, now: i64) -> Decided {
        let decided = permits.decide(key(n), 1, EpochMs(until), EpochMs(now));
        if let Decided::Given(permitted) = &decided {
            permits.apply(permitted);
        }
        decided
    }

    #[test]
    fn keys_past_the_bound_wait_until_others_are_forgotten() {
        let mut permits = Permits::with_room(3);
        for n in 0..3 {
            assert!(matches!(take(&mut permits, n, 10, 0), Decided::Given(_)));
        }
        assert_eq!(take(&mut permits, 3, 10, 9), Decided::NoRoom);
        assert_eq!(
            take(&mut permits, 0, 10, 9),
            Decided::Refused,
            "what is known is answered"
        );
        permits.forget(EpochMs(10));
        assert!(matches!(take(&mut permits, 3, 20, 10), Decided::Given(_)));
    }

    #[test]
    fn keys_of_one_kind_take_no_room_from_the_other() {
        let mut permits = Permits::with_room(2);
        for n in 0..2 {
            assert!(matches!(take(&mut permits, n, 10, 0), Decided::Given(_)));
        }
        assert_eq!(take(&mut permits, 2, 10, 0), Decided::NoRoom);
        let other = |n: u64| n | 1 << 63;
        for n in 0..2 {
            assert!(matches!(take(&mut permits, other(n), 10, 0), Decided::Given(_)));
        }
        assert_eq!(take(&mut permits, other(2), 10, 0), Decided::NoRoom);
        permits.forget(EpochMs(10));
        assert_eq!(permits.counts, [0; 2]);
    }

    #[test]
    fn each_record_forgets_more_than_it_brings() {
        let mut permits = Permits::default();
        for n in 0..10_000 {
            take(&mut permits, n, 10, 0);
        }
        for n in 10_000..10_200 {
            take(&mut permits, n, 20, 10);
        }
        assert_eq!((permits.keys.len(), permits.ends.len()), (200, 200));
    }

    #[test]
    fn records_of_all_that_is_remembered_rebuild_it() {
        let (mut permits, mut rebuilt) = (Permits::default(), Permits::default());
        for (n, until, now) in [(1, 10, 0), (2, 30, 5), (1, 30, 10)] {
            take(&mut permits, n, until, now);
        }
        permits.all().for_each(|permitted| rebuilt.apply(&permitted));
        assert_eq!((&rebuilt.keys, &rebuilt.ends), (&permits.keys, &permits.ends));
        assert_eq!(rebuilt.keys.len(), 2);
    }
}
