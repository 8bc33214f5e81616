//! Tokens that were verified a moment ago, so that a buyer who clicks again costs a comparison instead of a signature check.
//!
//! Sets of 8 entries, each behind a lock of its own that is held for one comparison; cores meet in a set about never, and a token
//! that one core verified is known to all. A set grows with its first entries, so an idle node holds none of the memory.
//!
//! What keeps it safe: only verified tokens enter; the whole token is compared, not a digest of it; expiry is checked on every hit;
//! a cache belongs to one key and goes with it. Memory is bounded by the number of entries times the length of a token that is kept.

use std::hash::{BuildHasher, RandomState};

use parking_lot::Mutex;
use seckill_sale::EpochMs;

use crate::identity::Identity;

/// Tokens that are kept: the users of a hundred-thousand-people sale, with room. With tokens of 200 bytes about 35 MB when full.
pub const ENTRIES_DEFAULT: usize = 131_072;
/// Longer tokens are verified every time. Bounds the memory: 128 MB with [`ENTRIES_DEFAULT`] tokens of this length.
const TOKEN_LENGTH_MAX: usize = 1024;
const WAYS: usize = 8;
/// Bytes of the signature that choose the set. They are as good as random, and nobody but the issuer can make them.
const HASHED_BYTES: usize = 32;

#[derive(Debug)]
struct Entry {
    hash: u64,
    token: Box<str>,
    identity: Identity,
}

/// Verified tokens of one key.
#[derive(Debug)]
pub(crate) struct TokenCache {
    sets: Box<[Mutex<Vec<Entry>>]>,
    hasher: RandomState,
}

impl TokenCache {
    /// A cache for `entries` tokens, rounded up to a power of two, at least 8.
    pub(crate) fn new(entries: usize) -> Self {
        let sets = entries.div_ceil(WAYS).next_power_of_two();
        let empty = || Mutex::new(Vec::new());
        Self {
            sets: std::iter::repeat_with(empty).take(sets).collect(),
            hasher: RandomState::new(),
        }
    }

    fn hash(&self, token: &str) -> u64 {
        let bytes = token.as_bytes();
        self.hasher.hash_one(&bytes[bytes.len().saturating_sub(HASHED_BYTES)..])
    }

    fn set(&self, hash: u64) -> &Mutex<Vec<Entry>> {
        &self.sets[hash as usize & (self.sets.len() - 1)]
    }

    /// Whose token this is, where it was verified before and has not expired by `now`.
    pub(crate) fn get(&self, token: &str, now: EpochMs) -> Option<Identity> {
        let hash = self.hash(token);
        let set = self.set(hash).lock();
        let entry = set.iter().find(|entry| entry.hash == hash && *entry.token == *token)?;
        entry.identity.is_live_at(now).then(|| entry.identity.clone())
    }

    /// Keeps a verified token, in the place of an expired one or else of any: with a random victim a crowd that is larger than the
    /// cache and comes round and round still finds part of itself, where the oldest as the victim would find nobody.
    pub(crate) fn put(&self, token: &str, identity: Identity, now: EpochMs) {
        if TOKEN_LENGTH_MAX < token.len() {
            return;
        }
        let hash = self.hash(token);
        let entry = Entry {
            hash,
            token: token.into(),
            identity,
        };
        let mut set = self.set(hash).lock();
        let same = |kept: &Entry| kept.hash == hash && kept.token == entry.token;
        let replaced = set.iter().position(|kept| same(kept) || !kept.identity.is_live_at(now));
        match replaced {
            Some(at) => set[at] = entry,
            None if set.len() < WAYS => set.push(entry),
            None => set[(hash >> 61) as usize] = entry,
        }
    }
}

const _: () = assert!(
    WAYS == 1 << (64 - 61),
    "the three topmost bits of the hash choose the victim"
);

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
        cache.put(&format!("header.claims-of-a.{tail}"), identity("a", 10), EpochMs(0));
        assert_eq!(cache.get(&format!("header.claims-of-b.{tail}"), EpochMs(0)), None);
        assert_eq!(
            cache.get(&format!("header.claims-of-a.{tail}"), EpochMs(0)),
            Some(identity("a", 10))
        );
    }

    #[test]
    fn expiry_is_checked_on_every_hit() {
        let cache = TokenCache::new(8);
        cache.put("token", identity("a", 10), EpochMs(0));
        assert!(cache.get("token", EpochMs(9)).is_some());
        assert!(cache.get("token", EpochMs(10)).is_none());
    }

    #[test]
    fn memory_is_bounded() {
        let cache = TokenCache::new(64);
        for n in 0..10_000 {
            cache.put(&format!("token {n}"), identity("a", 10), EpochMs(0));
        }
        let kept: usize = cache.sets.iter().map(|set| set.lock().len()).sum();
        assert!(kept <= 64, "{kept}");
        let long = "x".repeat(TOKEN_LENGTH_MAX + 1);
        cache.put(&long, identity("a", 10), EpochMs(0));
        assert_eq!(cache.get(&long, EpochMs(0)), None);
    }

    #[test]
    fn crowd_larger_than_the_cache_still_finds_part_of_itself() {
        let cache = TokenCache::new(1024);
        let round = || {
            let hit = |n: &i32| {
                let token = format!("token {n}");
                let found = cache.get(&token, EpochMs(0)).is_some();
                if !found {
                    cache.put(&token, identity("a", 10), EpochMs(0));
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
