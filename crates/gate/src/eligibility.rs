//! Who may buy in a sale that is not for everybody: by the level that his token says, by a list of users, or by both.
//!
//! Neither form of a list keeps the users' ids, and both are looked up by one SHA-256 of the id, without IO:
//!
//! ```text
//! users: the first 8 bytes of SHA-256(salt | id), sorted, and where each stretch of them begins; about 8.5 bytes a user
//! bloom: h1 | h2 = the first 16 bytes of SHA-256(id); bits (h1 + i·h2) mod size, i = 0 … hashes − 1
//! ```
//!
//! Numbers are big-endian and wrap at 2⁶⁴; bit p is in byte p / 8, counted from the least significant one (`1 << (p % 8)`). A shop makes a Bloom
//! filter by these rules: whoever is in it is never refused, some others are let in. The salt of the other form is secret and random, so that
//! nobody can look for an id that has a listed one's fingerprint; two ids share one by chance in a million lists of a million users.

mod lists;

use seckill_sale::UserId;
use sha2::{Digest, Sha256};

pub use lists::EligibleLists;

/// Most users of a list.
pub const ELIGIBLE_USERS_MAX: usize = 1_000_000;
/// Sales that are not over and have a list, at the most: every node keeps the lists of all, up to 8.5 MB each.
pub const ELIGIBLE_LISTS_MAX: usize = 64;
/// Most bits of a Bloom filter: 8 MiB, of which a list of a million users with one wrong one in a million needs less than half.
pub const BLOOM_BITS_MAX: u64 = 1 << 26;
/// Most bits that one user sets.
pub const BLOOM_HASHES_MAX: u32 = 32;
/// Fingerprints of one stretch, on average: a cache line.
const STRETCH: usize = 8;

/// Fingerprint of a user in lists with this salt.
#[must_use]
pub fn fingerprint(salt: &[u8; 16], user: &UserId) -> u64 {
    let digest = Sha256::new().chain_update(salt).chain_update(user.as_str()).finalize();
    first(&digest)
}

fn first(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(*bytes.first_chunk().expect("a digest has 32 bytes"))
}

/// A list of users.
#[derive(Debug)]
pub struct EligibleUsers {
    version: u64,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Fingerprints {
        salt: [u8; 16],
        sorted: Box<[u64]>,
        /// Where each stretch of equal length of all hashes begins in `sorted`, and where the last one ends.
        starts: Box<[u32]>,
    },
    Bloom {
        bytes: Box<[u8]>,
        bits: u64,
        hashes: u32,
    },
}

impl EligibleUsers {
    /// A list of the users who have these fingerprints; `version` tells it from the sale's earlier lists.
    #[must_use]
    pub fn of_fingerprints(version: u64, salt: [u8; 16], mut fingerprints: Vec<u64>) -> Self {
        fingerprints.sort_unstable();
        fingerprints.dedup();
        let stretches = fingerprints.len().div_ceil(STRETCH).max(1);
        let mut starts = vec![0; stretches + 1];
        for &fingerprint in &fingerprints {
            starts[stretch(fingerprint, stretches) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let form = Form::Fingerprints {
            salt,
            sorted: fingerprints.into(),
            starts: starts.into(),
        };
        Self { version, form }
    }

    /// A Bloom filter of so many bits; none where they are not the first ones of `bytes`, or a number is out of its range.
    #[must_use]
    pub fn bloom(version: u64, bytes: Vec<u8>, bits: u64, hashes: u32) -> Option<Self> {
        let fine = (1..=BLOOM_BITS_MAX).contains(&bits)
            && (1..=BLOOM_HASHES_MAX).contains(&hashes)
            && bytes.len() as u64 == bits.div_ceil(8);
        let bytes = bytes.into();
        fine.then_some(Self {
            version,
            form: Form::Bloom { bytes, bits, hashes },
        })
    }

    /// The same list under the version that the ledger gave it.
    #[must_use]
    pub fn of_version(self, version: u64) -> Self {
        Self { version, ..self }
    }

    /// Tells it from the sale's other lists.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Fingerprints of its users, each once and in order; none of a Bloom filter, which does not know them.
    #[must_use]
    pub const fn fingerprints(&self) -> Option<&[u64]> {
        match &self.form {
            Form::Fingerprints { sorted, .. } => Some(sorted),
            Form::Bloom { .. } => None,
        }
    }

    /// Users of the list; none of a Bloom filter.
    #[must_use]
    pub fn users(&self) -> Option<usize> {
        self.fingerprints().map(<[u64]>::len)
    }

    /// Whether the user is on it.
    #[must_use]
    pub fn has(&self, user: &UserId) -> bool {
        match &self.form {
            Form::Fingerprints { salt, sorted, starts } => {
                let fingerprint = fingerprint(salt, user);
                let at = stretch(fingerprint, starts.len() - 1);
                sorted[starts[at] as usize..starts[at + 1] as usize].contains(&fingerprint)
            }
            Form::Bloom { bytes, bits, hashes } => {
                let digest = Sha256::digest(user.as_str());
                let (h1, h2) = (first(&digest), first(&digest[8..]));
                (0..u64::from(*hashes)).all(|i| {
                    let bit = h1.wrapping_add(i.wrapping_mul(h2)) % bits;
                    bytes[(bit / 8) as usize] & (1 << (bit % 8)) != 0
                })
            }
        }
    }
}

/// The stretch of a fingerprint, where there are so many of them.
fn stretch(fingerprint: u64, stretches: usize) -> usize {
    ((u128::from(fingerprint) * stretches as u128) >> 64) as usize
}

#[cfg(test)]
#[path = "eligibility_tests.rs"]
mod tests;
