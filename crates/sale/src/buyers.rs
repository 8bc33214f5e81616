//! The buyers of one sale, kept small and readable from every core: about 80 bytes a buyer with 17-byte ids.
//!
//! Entries lie in 64 shards, each a vector of fixed-size entries, a vector of id bytes and a hash table of indexes with their hashes.
//! A shard grows alone, so no growth ever moves more than a sixty-fourth of the buyers at once. Entries are never moved or reused;
//! an index stays valid as long as the sale.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use parking_lot::RwLock;

use crate::buyer::{Entry, State};
use crate::{TicketState, UserId};

/// Where an entry lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    shard: u32,
    index: u32,
}

#[derive(Debug)]
struct Shard {
    table: HashTable<(u32, u32)>,
    entries: Vec<Entry>,
    text: Vec<u8>,
}

impl Shard {
    fn text(&self, entry: &Entry) -> &[u8] {
        &self.text[entry.text_at as usize..][..usize::from(entry.text_length)]
    }

    fn find(&self, hash: u32, user: &UserId) -> Option<u32> {
        let wanted = user.as_str().as_bytes();
        let same = |&(other, index): &(u32, u32)| other == hash && self.text(&self.entries[index as usize]) == wanted;
        self.table.find(spread(hash), same).map(|&(_, index)| index)
    }
}

/// The table wants 64 bits, with entropy in the highest seven and the lowest ones; this spreads the 32 that are kept.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// All buyers of one sale.
#[derive(Debug)]
pub(crate) struct Buyers {
    hasher: DefaultHashBuilder,
    shards: Box<[RwLock<Shard>]>,
}

impl Buyers {
    const SHARDS: u32 = 64;
    /// Buyers that room is made for beforehand at the most: 10 MB. A larger crowd lets its shards grow.
    const EXPECTED_MAX: u64 = 131_072;
    /// Bytes of an id that room is made for.
    const ID_BYTES_USUAL: usize = 20;

    /// Room for `expected` buyers, so that a usual sale copies and clears no memory while the rush is on. It is taken from the
    /// system, a page at a time, when buyers come.
    pub(crate) fn for_about(expected: u64) -> Self {
        let mean = expected.min(Self::EXPECTED_MAX) as usize / Self::SHARDS as usize;
        // Shards fill like throws of a die: four standard deviations above the mean nearly none goes.
        let count = mean + 4 * mean.isqrt() + 1;
        let shard = || {
            RwLock::new(Shard {
                table: HashTable::with_capacity(count),
                entries: Vec::with_capacity(count),
                text: Vec::with_capacity(count * Self::ID_BYTES_USUAL),
            })
        };
        Self {
            hasher: DefaultHashBuilder::default(),
            shards: (0..Self::SHARDS).map(|_| shard()).collect(),
        }
    }

    /// Shard and hash of a user: six bits choose the shard, 32 others find the entry.
    fn locate(&self, user: &UserId) -> (u32, u32) {
        let hash = self.hasher.hash_one(user.as_str().as_bytes());
        let low = hash as u32;
        let shard = (hash >> 58) as u32;
        (shard, low)
    }

    pub(crate) fn get(&self, user: &UserId) -> Option<(Place, Entry)> {
        let (shard, hash) = self.locate(user);
        let guard = self.shards[shard as usize].read();
        let index = guard.find(hash, user)?;
        Some((Place { shard, index }, guard.entries[index as usize]))
    }

    /// Adds a buyer who is not there yet.
    pub(crate) fn insert(&self, user: &UserId, mut entry: Entry) -> Place {
        let (shard, hash) = self.locate(user);
        let guard = &mut *self.shards[shard as usize].write();
        let index = u32::try_from(guard.entries.len()).expect("a shard holds fewer than 2^32 buyers");
        entry.text_at = u32::try_from(guard.text.len()).expect("a shard holds less than 4 GiB of ids");
        entry.text_length = u8::try_from(user.as_str().len()).expect("a user id has at most 64 bytes");
        guard.text.extend_from_slice(user.as_str().as_bytes());
        guard.entries.push(entry);
        guard
            .table
            .insert_unique(spread(hash), (hash, index), |&(hash, _)| spread(hash));
        Place { shard, index }
    }

    pub(crate) fn set_state(&self, place: Place, state: TicketState) {
        self.shards[place.shard as usize].write().entries[place.index as usize].state = state.into();
    }

    pub(crate) fn read(&self, place: Place) -> (UserId, Entry) {
        let guard = self.shards[place.shard as usize].read();
        let entry = guard.entries[place.index as usize];
        (user_of(guard.text(&entry)), entry)
    }

    /// Removes a buyer from sight. His slot stays: places are never reused.
    pub(crate) fn erase(&self, user: &UserId) -> Option<(Place, Entry)> {
        let (shard, hash) = self.locate(user);
        let guard = &mut *self.shards[shard as usize].write();
        let index = guard.find(hash, user)?;
        let found = guard
            .table
            .find_entry(spread(hash), |&(_, other)| other == index)
            .ok()?;
        found.remove();
        let entry = guard.entries[index as usize];
        guard.entries[index as usize].state = State::Erased;
        Some((Place { shard, index }, entry))
    }

    /// Every buyer, shard by shard, in the order of arrival within a shard.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(Place, UserId, &Entry)) {
        for (shard, lock) in (0_u32..).zip(self.shards.iter()) {
            let guard = lock.read();
            for (index, entry) in (0_u32..).zip(guard.entries.iter()) {
                if entry.state != State::Erased {
                    visit(Place { shard, index }, user_of(guard.text(entry)), entry);
                }
            }
        }
    }

    /// The buyers of one shard, copied; none past the last shard. Lets a reader page through without holding a lock for long.
    pub(crate) fn page(&self, shard: u32) -> Option<Vec<(UserId, Entry)>> {
        let guard = self.shards.get(shard as usize)?.read();
        let alive = guard.entries.iter().filter(|entry| entry.state != State::Erased);
        Some(alive.map(|entry| (user_of(guard.text(entry)), *entry)).collect())
    }
}

fn user_of(text: &[u8]) -> UserId {
    let text = std::str::from_utf8(text).expect("only bytes of checked user ids are stored");
    UserId::new(text).expect("only checked user ids are stored")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Epoch, EpochMs, Quantity, RequestKey};

    fn entry(sequence: u64) -> Entry {
        Entry::new(
            RequestKey([7; 16]),
            sequence,
            Epoch::FIRST,
            Quantity::ONE,
            EpochMs(5),
            TicketState::Queued,
        )
    }

    #[test]
    fn every_buyer_is_found_again_and_no_other() {
        let buyers = Buyers::for_about(1000);
        let user = |n: u64| UserId::new(&format!("u{n:016x}")).expect("valid");
        let places: Vec<_> = (0..5000).map(|n| buyers.insert(&user(n), entry(n))).collect();
        for n in 0..5000 {
            let (place, found) = buyers.get(&user(n)).expect("was inserted");
            assert_eq!((place, found.sequence), (places[usize::try_from(n).expect("small")], n));
            assert_eq!(buyers.read(place).0, user(n));
        }
        assert!(buyers.get(&user(5000)).is_none());
    }

    #[test]
    fn users_are_compared_bytewise() {
        let buyers = Buyers::for_about(1000);
        buyers.insert(&UserId::new("Alice").expect("valid"), entry(1));
        assert!(buyers.get(&UserId::new("alice").expect("valid")).is_none());
    }

    #[test]
    fn an_erased_buyer_is_out_of_sight() {
        let buyers = Buyers::for_about(1000);
        let user = UserId::new("a").expect("valid");
        buyers.insert(&user, entry(1));
        assert!(buyers.erase(&user).is_some());
        assert!(buyers.get(&user).is_none());
        assert!(buyers.erase(&user).is_none());
        buyers.for_each(|_, user, _| panic!("{user} is still there"));
    }

    #[test]
    fn an_entry_takes_48_bytes() {
        assert_eq!(size_of::<Entry>(), 48);
    }
}
