//! The sub-stocks of a sale: which of them a buyer belongs to, and how their tickets share one row of sequences.
//!
//! ```text
//! 4 shards, each counts its own tickets:   shard 0: 1 5 9 …   shard 1: 2 6 10 …   shard 2: 3 7 11 …   shard 3: 4 8 12 …
//! ```
//! The k-th ticket of a shard has the sequence (k − 1) · shards + shard + 1. So no sequence is given out twice, each tells its shard, and
//! with one shard they are 1, 2, 3 … They ascend within a shard; over all of them they tell about, and not exactly, who came first.
//!
//! Both rules hold for ever: tickets, order numbers and buyers' entries were written by them. The hash is XXH3 (64 bits, no seed) of the
//! user id's bytes, modulo the number of shards.

use xxhash_rust::xxh3::xxh3_64;

use crate::UserId;
pub use crate::ids::Shards;

impl Shards {
    /// A sale in one piece.
    pub const ONE: Self = Self::checked(1);

    const fn checked(count: u64) -> Self {
        match Self::new(count) {
            Ok(shards) => shards,
            Err(_) => panic!("in range"),
        }
    }

    /// Whether there is more than one.
    #[must_use]
    pub const fn is_split(self) -> bool {
        self.get() != 1
    }

    /// The shard that a user belongs to, from 0.
    #[must_use]
    pub fn of(self, user: &UserId) -> u64 {
        match self.get() {
            1 => 0,
            shards => xxh3_64(user.as_str().as_bytes()) % shards,
        }
    }

    /// The shard of a ticket, and which of its tickets it is, from 1.
    #[must_use]
    pub const fn place(self, sequence: u64) -> (u64, u64) {
        let before = sequence.saturating_sub(1);
        (before % self.get(), before / self.get() + 1)
    }

    /// The sequence of the `nth` ticket of a shard.
    #[must_use]
    pub const fn sequence(self, shard: u64, nth: u64) -> u64 {
        nth.saturating_sub(1) * self.get() + shard + 1
    }

    /// The first ticket of a shard whose sequence is not below `sequence_min`.
    #[must_use]
    pub const fn first_nth(self, shard: u64, sequence_min: u64) -> u64 {
        sequence_min.saturating_sub(1 + shard).div_ceil(self.get()) + 1
    }

    /// The part of `units` that a shard begins with: as many as every other, the first ones one more where they don't divide.
    #[must_use]
    pub const fn share(self, shard: u64, units: u64) -> u64 {
        units / self.get() + if shard < units % self.get() { 1 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(count: u64) -> Shards {
        Shards::new(count).expect("in range")
    }

    #[test]
    fn one_shard_counts_as_ever() {
        for sequence in [1, 2, 3, 1_000_000_007] {
            assert_eq!(Shards::ONE.place(sequence), (0, sequence));
            assert_eq!(Shards::ONE.sequence(0, sequence), sequence);
            assert_eq!(Shards::ONE.first_nth(0, sequence), sequence);
        }
    }

    #[test]
    fn sequences_tell_their_shard_and_are_given_out_once() {
        for count in 1..=Shards::MAX {
            let shards = shards(count);
            let mut given: Vec<_> = (0..count)
                .flat_map(|shard| (1..=50).map(move |nth| shards.sequence(shard, nth)))
                .collect();
            for (place, sequence) in given.iter().enumerate() {
                let (shard, nth) = (place as u64 / 50, place as u64 % 50 + 1);
                assert_eq!(shards.place(*sequence), (shard, nth));
            }
            given.sort_unstable();
            assert_eq!(given, (1..=50 * count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_shard_goes_on_past_every_sequence_that_was_given_out() {
        for (count, sequence_min) in [(4, 1), (4, 2), (4, 5), (7, 1_000_000_001), (16, 33)] {
            let shards = shards(count);
            let mut firsts: Vec<_> = (0..count)
                .map(|shard| shards.sequence(shard, shards.first_nth(shard, sequence_min)))
                .collect();
            firsts.sort_unstable();
            assert_eq!(firsts, (sequence_min..sequence_min + count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn shares_are_even_and_lose_nothing() {
        for units in [0, 1, 3, 4, 5, 100, 103] {
            let shares: Vec<_> = (0..4).map(|shard| shards(4).share(shard, units)).collect();
            assert_eq!(shares.iter().sum::<u64>(), units);
            assert!(shares.iter().max().expect("four") - shares.iter().min().expect("four") <= 1);
        }
    }

    /// Values that stand in stores: they never change.
    #[test]
    fn users_stay_where_they_are() {
        let of = |user: &str| shards(16).of(&UserId::new(user).expect("valid"));
        assert_eq!(["alice", "bob", "u-1", "100000000001"].map(of), [0, 5, 0, 12]);
        let mut crowd = [0_u64; 16];
        for n in 0..16_000 {
            let shard = of(&format!("{}", 100_000 + 2 * n));
            crowd[usize::try_from(shard).expect("small")] += 1;
        }
        assert!(crowd.iter().all(|&users| (800..1_200).contains(&users)), "{crowd:?}");
    }
}
