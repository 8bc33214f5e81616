//! Tokens that were verified a moment ago, so that a buyer who clicks again costs a comparison instead of a signature check.
//!
//! ```text
//! set, one cache line: | 6 tags | 6 pointers ──▶ identity | token
//! ```
//!
//! With a hundred thousand users nearly every look-up waits for memory, so it is laid out for two waits: the set, then the entry. It
//! writes nothing that cores share: a lock, or a count of references, would fetch each line from the core that looked last.
//! A token that one core verified is known to all.
//!
//! What keeps it safe: only verified tokens enter; the whole token is compared, not a digest of it, so a tag that belongs to another
//! entry by now finds nothing; expiry is checked on every hit; a cache belongs to one key and goes with it. Memory is bounded by the
//! number of entries times the length of a token that is kept.

use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

use arc_swap::ArcSwapOption;
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use seckill_sale::EpochMs;

use crate::identity::Identity;

/// Tokens that are kept: the users of a hundred-thousand-people sale, with room. With tokens of 200 bytes about 45 MB when full.
pub const ENTRIES_DEFAULT: usize = 131_072;
/// Longer tokens are verified every time. Bounds the memory: 150 MB with [`ENTRIES_DEFAULT`] tokens of this length.
const TOKEN_LENGTH_MAX: usize = 1024;
/// Bytes of a token that lie beside its identity. Of usual tokens, all.
const HEAD_BYTES: usize = 256;
/// As many as fit into a cache line.
const WAYS: usize = 6;
/// Bytes of the signature that choose the set. They are as good as random, and nobody but the issuer can make them, so a fast hash does.
const HASHED_BYTES: usize = 32;

/// Tokens whose hashes fall into the same part of all hashes. One is looked at only where its tag fits; 0 is no tag.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Set {
    tags: [AtomicU16; WAYS],
    entries: [ArcSwapOption<Entry>; WAYS],
}

const _: () = assert!(size_of::<Set>() == 64, "a set is one cache line");

/// A verified token.
#[derive(Debug)]
struct Entry {
    identity: Identity,
    head_length: usize,
    head: [u8; HEAD_BYTES],
    rest: Box<[u8]>,
}

impl Entry {
    fn new(token: &[u8], identity: Identity) -> Self {
        let head_length = token.len().min(HEAD_BYTES);
        let mut head = [0; HEAD_BYTES];
        head[..head_length].copy_from_slice(&token[..head_length]);
        Self {
            identity,
            head_length,
            head,
            rest: token[head_length..].into(),
        }
    }

    fn is(&self, token: &[u8]) -> bool {
        let parts = token.split_at_checked(self.head_length);
        parts.is_some_and(|(head, rest)| self.head[..self.head_length] == *head && *self.rest == *rest)
    }
}

/// Verified tokens of one key.
#[derive(Debug)]
pub(crate) struct TokenCache {
    sets: Box<[Set]>,
    hasher: RandomState,
    /// Held by those who put a token in. They have verified a signature, which takes much longer.
    putting: Mutex<()>,
}

impl TokenCache {
    /// A cache for `entries` tokens, rounded up to whole sets.
    pub(crate) fn new(entries: usize) -> Self {
        let sets = entries.div_ceil(WAYS).max(1);
        Self {
            sets: std::iter::repeat_with(Set::default).take(sets).collect(),
            hasher: RandomState::default(),
            putting: Mutex::new(()),
        }
    }

    /// The set and the tag of a token.
    fn place(&self, token: &[u8]) -> (&Set, u16) {
        let hash = self.hasher.hash_one(&token[token.len().saturating_sub(HASHED_BYTES)..]);
        // The high half, scaled to the number of sets, chooses the set.
        let set = ((hash >> 32) * self.sets.len() as u64) >> 32;
        (&self.sets[set as usize], (hash as u16).max(1))
    }

    /// Whose token this is, where it was verified before and has not expired by `now`.
    pub(crate) fn get(&self, token: &[u8], now: EpochMs) -> Option<Identity> {
        let (set, tag) = self.place(token);
        let at = set.tags.iter().position(|kept| kept.load(Relaxed) == tag)?;
        let entry = set.entries[at].load();
        let entry = entry.as_deref()?;
        (entry.identity.is_live_at(now) && entry.is(token)).then(|| entry.identity.clone())
    }

    /// Keeps a verified token, in the place of an expired one or else of any: with a random victim a crowd that is larger than the
    /// cache and comes round and round still finds part of itself, where the oldest as the victim would find nobody.
    pub(crate) fn put(&self, token: &[u8], identity: Identity, now: EpochMs) {
        if TOKEN_LENGTH_MAX < token.len() {
            return;
        }
        let (set, tag) = self.place(token);
        let entry = Arc::new(Entry::new(token, identity));
        let is_free = |kept: &ArcSwapOption<Entry>| {
            let kept = kept.load();
            kept.as_ref().is_none_or(|kept| !kept.identity.is_live_at(now))
        };
        let _held = self.putting.lock();
        // A tag stands in a set once, so that a look-up has one token to compare.
        let same = set.tags.iter().position(|kept| kept.load(Relaxed) == tag);
        let at = same
            .or_else(|| set.entries.iter().position(is_free))
            .unwrap_or(tag as usize % WAYS);
        set.entries[at].store(Some(entry));
        set.tags[at].store(tag, Relaxed);
    }
}

#[cfg(test)]
#[path = "token_cache_tests.rs"]
mod tests;
