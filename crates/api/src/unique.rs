//! Numbers that no other request gets: for request ids and for the keys of purchases without one. They need to differ, not to be secret,
//! so a counter that is mixed does (the finalizer of SplitMix64, Steele, Lea and Flood 2014): a hundredth of a generator for secrets.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The numbers of one core in one life of the process.
pub(crate) struct Unique {
    life: u64,
    count: AtomicU64,
}

/// An odd number near 2⁶⁴ over the golden ratio: its multiples run through all numbers.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

impl Unique {
    pub(crate) fn new() -> Self {
        Self {
            life: rand::random(),
            count: AtomicU64::new(rand::random()),
        }
    }

    /// A number that this core has not given out in 2⁶⁴ calls.
    pub(crate) fn next(&self) -> u64 {
        let mut mixed = self.count.fetch_add(STEP, Relaxed);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// 128 bits: the random number of this core and life, and one of its own numbers.
    pub(crate) fn next_wide(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.life.to_le_bytes());
        bytes[8..].copy_from_slice(&self.next().to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn numbers_differ_within_a_core_and_between_cores() {
        let (one, other) = (Unique::new(), Unique::new());
        let mut seen = HashSet::new();
        for _ in 0..10_000 {
            assert!(seen.insert(one.next_wide()) && seen.insert(other.next_wide()));
            let (a, b) = (one.next(), one.next());
            assert!(8 < (a ^ b).count_ones(), "{a:x} and {b:x} look alike");
        }
    }
}
