//! Tokens that were verified a moment ago, so that a buyer who clicks again costs a comparison instead of a signature check.
//!
//! ```text
//! set, 128 bytes: | lock | 6 tags | 6 pointers ──▶ identity | token
//! ```
//!
//! With a hundred thousand users nearly every look-up waits for memory, so it is laid out for two waits: the set, then the entry. The lock
//! is a set's own and held for one comparison; cores meet in a set about never, and a token that one core verified is known to all.
//!
//! What keeps it safe: only verified tokens enter; the whole token is compared, not a digest of it; expiry is checked on every hit;
//! a cache belongs to one key and goes with it. Memory is bounded by the number of entries times the length of a token that is kept.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use parking_lot::Mutex;
use seckill_sale::EpochMs;

use crate::identity::Identity;

/// Tokens that are kept: the users of a hundred-thousand-people sale, with room. With tokens of 200 bytes about 40 MB when full.
pub const ENTRIES_DEFAULT: usize = 131_072;
/// Longer tokens are verified every time. Bounds the memory: 150 MB with [`ENTRIES_DEFAULT`] tokens of this length.
const TOKEN_LENGTH_MAX: usize = 1024;
/// As many as fit into two cache lines, which processors fetch together.
const WAYS: usize = 6;
/// Bytes of the signature that choose the set. They are as good as random, and nobody but the issuer can make them, so a fast hash does.
const HASHED_BYTES: usize = 32;

/// Tokens of one set. A token is looked at only where its tag fits; 0 is no tag.
#[derive(Debug, Default)]
struct Set {
    tags: [u16; WAYS],
    entries: [Option<Box<Entry>>; WAYS],
}

/// A set with its lock.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line(Mutex<Set>);

const _: () = assert!(size_of::<Line>() == 128, "a set and its lock are fetched at once");

/// A token in room for the longest of its class.
#[derive(Debug)]
struct Entry<T: ?Sized = [u8]> {
    identity: Identity,
    length: usize,
    room: T,
}

impl Entry {
    fn new(token: &[u8], identity: Identity) -> Box<Self> {
        fn of<const ROOM: usize>(token: &[u8], identity: Identity) -> Box<Entry> {
            let mut room = [0; ROOM];
            room[..token.len()].copy_from_slice(token);
            let length = token.len();
            Box::new(Entry { identity, length, room })
        }
        match token.len() {
            0..=192 => of::<192>(token, identity),
            193..=256 => of::<256>(token, identity),
            257..=384 => of::<384>(token, identity),
            385..=512 => of::<512>(token, identity),
            _ => of::<TOKEN_LENGTH_MAX>(token, identity),
        }
    }

    fn token(&self) -> &[u8] {
        &self.room[..self.length]
    }
}

/// Verified tokens of one key.
#[derive(Debug)]
pub(crate) struct TokenCache {
    sets: Box<[Line]>,
    hasher: RandomState,
}

impl TokenCache {
    /// A cache for `entries` tokens, rounded up to whole sets.
    pub(crate) fn new(entries: usize) -> Self {
        let sets = entries.div_ceil(WAYS).max(1);
        Self {
            sets: std::iter::repeat_with(Line::default).take(sets).collect(),
            hasher: RandomState::default(),
        }
    }

    /// The set and the tag of a token.
    fn place(&self, token: &[u8]) -> (&Mutex<Set>, u16) {
        let hash = self.hasher.hash_one(&token[token.len().saturating_sub(HASHED_BYTES)..]);
        // The high half, scaled to the number of sets, chooses the set.
        let set = ((hash >> 32) * self.sets.len() as u64) >> 32;
        (&self.sets[set as usize].0, (hash as u16).max(1))
    }

    /// Whose token this is, where it was verified before and has not expired by `now`.
    pub(crate) fn get(&self, token: &[u8], now: EpochMs) -> Option<Identity> {
        let (set, tag) = self.place(token);
        let set = set.lock();
        let at = set.tags.iter().position(|&kept| kept == tag)?;
        let entry = set.entries[at].as_deref()?;
        (entry.identity.is_live_at(now) && entry.token() == token).then(|| entry.identity.clone())
    }

    /// Keeps a verified token, in the place of an expired one or else of any: with a random victim a crowd that is larger than the
    /// cache and comes round and round still finds part of itself, where the oldest as the victim would find nobody.
    pub(crate) fn put(&self, token: &[u8], identity: Identity, now: EpochMs) {
        if TOKEN_LENGTH_MAX < token.len() {
            return;
        }
        let (set, tag) = self.place(token);
        let entry = Entry::new(token, identity);
        let mut set = set.lock();
        let free = |kept: &Option<Box<Entry>>| kept.as_ref().is_none_or(|kept| !kept.identity.is_live_at(now));
        // A tag stands in a set once, so that a look-up has one token to compare.
        let same = set.tags.iter().position(|&kept| kept == tag);
        let at = same
            .or_else(|| set.entries.iter().position(free))
            .unwrap_or(tag as usize % WAYS);
        set.tags[at] = tag;
        let replaced = set.entries[at].replace(entry);
        drop(set);
        drop(replaced);
    }
}

#[cfg(test)]
mod tests {
    use seckill_sale::UserId;

    use super::*;

    fn identity(user: &str, expires_at: i64) -> Identity {
        Identity {
            user: UserId::new(user).expect("a user id"),
            expires_at: EpochMs(expires_at),
        }
    }

    #[test]
    fn whole_token_is_compared() {
        let cache = TokenCache::new(8);
        let tail = "s".repeat(HASHED_BYTES);
        cache.put(
            format!("header.claims-of-a.{tail}").as_bytes(),
            identity("a", 10),
            EpochMs(0),
        );
        assert_eq!(
            cache.get(format!("header.claims-of-b.{tail}").as_bytes(), EpochMs(0)),
            None
        );
        assert_eq!(
            cache.get(format!("header.claims-of-a.{tail}").as_bytes(), EpochMs(0)),
            Some(identity("a", 10))
        );
    }

    #[test]
    fn expired_token_makes_room_first() {
        let cache = TokenCache::new(WAYS);
        for n in 0..WAYS {
            cache.put(
                format!("token {n}").as_bytes(),
                identity("a", if n == 3 { 10 } else { 1000 }),
                EpochMs(0),
            );
        }
        cache.put(b"newcomer", identity("b", 1000), EpochMs(10));
        let kept = |n: &usize| cache.get(format!("token {n}").as_bytes(), EpochMs(10)).is_some();
        assert_eq!((0..WAYS).filter(kept).collect::<Vec<_>>(), [0, 1, 2, 4, 5]);
        assert_eq!(cache.get(b"newcomer", EpochMs(10)), Some(identity("b", 1000)));
    }

    #[test]
    fn expiry_is_checked_on_every_hit() {
        let cache = TokenCache::new(8);
        cache.put(b"token", identity("a", 10), EpochMs(0));
        assert!(cache.get(b"token", EpochMs(9)).is_some());
        assert!(cache.get(b"token", EpochMs(10)).is_none());
    }

    #[test]
    fn memory_is_bounded() {
        let cache = TokenCache::new(64);
        for n in 0..10_000 {
            cache.put(format!("token {n}").as_bytes(), identity("a", 10), EpochMs(0));
        }
        let kept: usize = cache
            .sets
            .iter()
            .map(|set| set.0.lock().entries.iter().flatten().count())
            .sum();
        assert!(kept < 64 + WAYS, "{kept}");
        let long = "x".repeat(TOKEN_LENGTH_MAX + 1);
        cache.put(long.as_bytes(), identity("a", 10), EpochMs(0));
        assert_eq!(cache.get(long.as_bytes(), EpochMs(0)), None);
    }

    #[test]
    fn crowd_larger_than_the_cache_still_finds_part_of_itself() {
        let cache = TokenCache::new(1024);
        let round = || {
            let hit = |n: &i32| {
                let token = format!("token {n}");
                let found = cache.get(token.as_bytes(), EpochMs(0)).is_some();
                if !found {
                    cache.put(token.as_bytes(), identity("a", 10), EpochMs(0));
                }
                found
            };
            (0..1500).filter(hit).count()
        };
        round();
        round();
        assert!(300 < round());
    }
}
