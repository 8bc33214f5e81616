//! Rate limits in fixed memory: one cache line read and one compare-and-swap a check, no lock, no allocation, no sweep.
//!
//! The rule is the generic cell rate algorithm (ITU-T I.371, virtual scheduling): a key has one number, the moment at which its debt
//! is paid (theoretical arrival time). A request adds one interval to the debt; it is refused where the debt is larger than the burst
//! allows. A refused request changes nothing, so hammering does not prolong the wait.
//!
//! ```text
//! table: sets of 8 words, 64 bytes each = one cache line         word: | tag, 22 bits | paid at, 42 bits of microseconds |
//! keyed 64-bit hash of the key ── low bits ──▶ set ── high bits ──▶ tag
//! ```
//!
//! A key that is not in its set takes the place of the key with the smallest debt there.
//! - A key without debt loses nothing by that: it would begin without debt anyway. So a set forgets nothing that matters while no more
//!   than 8 of its keys are in debt at once; with a table one third full of those, one key in a thousand is forgotten.
//! - Where all 8 are in debt, the least indebted one is forgotten. Made-up keys that come once owe one interval each, so a flood of them
//!   pushes out itself, and never a key that owes more. To free a key that has used up its burst, an attacker has to bring 8 other keys of
//!   the same set into a larger debt, and he cannot tell which keys share a set: the hash is keyed with secret random bits.
//! - The newcomer is never refused for want of room, or else the flood would shut out everybody else.
//!
//! Two keys share a word with a probability of 8 in 4 million a pair and set; they then share a limit, until the process restarts.

mod permit;
mod rule;

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use seckill_sale::{EpochMs, Quota};

use crate::limits::rate::Limit;

pub use permit::Permit;
use rule::Rule;

/// Words of a set: a cache line.
const WAYS: usize = 8;
const TIME_BITS: u32 = 42;
const TIME_MASK: u64 = (1 << TIME_BITS) - 1;
/// Debts stay below this: a quarter of the time's range (12.7 days), so that past and future can be told.
const DEBT_US_MAX: u64 = 1 << (TIME_BITS - 2);
/// Debts may look larger by this where cores read the clock at slightly different moments, or it was set back.
const CLOCK_STEP_US_MAX: u64 = 1_000_000;
/// Swaps that may be lost to others before the request is refused: that many requests of the same set got through meanwhile.
const SWAPS_MAX: u32 = 64;

#[repr(align(64))]
#[derive(Debug)]
struct Set([AtomicU64; WAYS]);

/// The limit of one kind of key (addresses, users, …), changeable while it runs.
#[derive(Debug)]
pub struct Limiter {
    /// As [`Rule`] packs it.
    rate: AtomicU64,
    sets: Box<[Set]>,
    hasher: RandomState,
}

/// Why a request of a key has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Milliseconds until the next request of this key may pass, at least 1.
    pub ms: u64,
    /// What the limit allows.
    pub quota: Quota,
}

/// One of the words of a set, as read.
struct Place {
    at: usize,
    word: u64,
    debt_us: u64,
}

impl Limiter {
    /// A limiter whose table has at least `slots` places of 8 bytes (rounded up to a power of two).
    #[must_use]
    pub fn new(limit: Limit, slots: usize) -> Self {
        let sets = slots.div_ceil(WAYS).next_power_of_two();
        let set = || Set([const { AtomicU64::new(0) }; WAYS]);
        let limiter = Self {
            rate: AtomicU64::new(0),
            sets: std::iter::repeat_with(set).take(sets).collect(),
            hasher: RandomState::new(),
        };
        limiter.set(limit);
        limiter
    }

    /// Changes the limit for the next check on. Debts stay; those that the new limit could not have made are forgiven.
    pub fn set(&self, limit: Limit) {
        self.rate.store(Rule::packed(limit), Ordering::Relaxed);
    }

    /// Takes a permit of `key` for good.
    ///
    /// # Errors
    /// [`Wait`] where it has used up what the limit allows.
    pub fn check(&self, key: impl Hash, now: EpochMs) -> Result<(), Wait> {
        self.take(key, now).map(|_| ())
    }

    /// Takes a permit of `key` that may be given back.
    ///
    /// # Errors
    /// As [`Limiter::check`].
    pub fn take(&self, key: impl Hash, now: EpochMs) -> Result<Permit, Wait> {
        let Some(rule) = self.rule() else {
            return Ok(Permit::FREE);
        };
        let (words, tag) = self.set_of(key);
        let now_us = microseconds(now);
        for _ in 0..SWAPS_MAX {
            let place = place(&rule, words, tag, now_us)?;
            let paid_at = now_us.wrapping_add(place.debt_us + rule.interval_us) & TIME_MASK;
            if place.swap(words, tag | paid_at) {
                return Ok(Permit {
                    interval_us: rule.interval_us,
                    paid_at,
                });
            }
        }
        Err(rule.wait(rule.interval_us))
    }

    /// What is allowed now; none where nothing is limited.
    fn rule(&self) -> Option<Rule> {
        Rule::unpacked(self.rate.load(Ordering::Relaxed))
    }

    /// Where a key stands, and as what.
    fn set_of(&self, key: impl Hash) -> (&[AtomicU64; WAYS], u64) {
        let hash = self.hasher.hash_one(key);
        let Set(words) = &self.sets[hash as usize & (self.sets.len() - 1)];
        (words, (hash >> TIME_BITS).max(1) << TIME_BITS)
    }
}

impl Place {
    /// Writes the word, unless somebody else has written it since.
    fn swap(&self, words: &[AtomicU64; WAYS], word: u64) -> bool {
        let swapped = words[self.at].compare_exchange(self.word, word, Ordering::Relaxed, Ordering::Relaxed);
        swapped.is_ok()
    }
}

/// The place of a key that has a permit left.
fn place(rule: &Rule, words: &[AtomicU64; WAYS], tag: u64, now_us: u64) -> Result<Place, Wait> {
    let place = find(words, tag, now_us, rule.credible_us());
    if rule.tolerance_us < place.debt_us {
        return Err(rule.wait(place.debt_us - rule.tolerance_us));
    }
    Ok(place)
}

const fn microseconds(now: EpochMs) -> u64 {
    now.0.cast_unsigned().wrapping_mul(1000)
}

/// The word of `tag`, or the one whose loss matters least, as a place without debt for it.
fn find(words: &[AtomicU64; WAYS], tag: u64, now_us: u64, credible_us: u64) -> Place {
    let mut least = Place {
        at: 0,
        word: 0,
        debt_us: u64::MAX,
    };
    for (at, word) in words.iter().enumerate() {
        let word = word.load(Ordering::Relaxed);
        let debt_us = debt_us(word, now_us, credible_us);
        if word & !TIME_MASK == tag {
            return Place { at, word, debt_us };
        }
        if debt_us < least.debt_us {
            least = Place { at, word, debt_us };
        }
    }
    Place { debt_us: 0, ..least }
}

/// What a word still owes. A debt larger than the limit can make is none: the word is weeks old, or from a laxer limit or another clock.
const fn debt_us(word: u64, now_us: u64, credible_us: u64) -> u64 {
    let ahead = (word & TIME_MASK).wrapping_sub(now_us) & TIME_MASK;
    if ahead <= credible_us { ahead } else { 0 }
}

#[cfg(test)]
#[path = "limiter_tests.rs"]
mod tests;
