//! What a state is built in the place of, and where its numbers begin.

use seckill_sale::Epoch;

use crate::renew::Old;

/// A state that takes the place of a lost one admits nobody for so long: every node that lives has heard of it by then, and has offered what it
/// admitted to the lost one. So a buyer who has a ticket already comes before a stranger.
pub(crate) const GRACE_MS: u64 = 1_000;

/// What a state is built in the place of.
pub(crate) enum Instead {
    /// There is none, as far as anybody knows.
    OfNothing,
    /// One that is whole, and behind the ledger: an operator gives it up.
    Of(Old),
    /// One that was lost or broken, and is healed.
    OfLost,
}

impl Instead {
    pub(crate) const fn is_healing(&self) -> bool {
        matches!(self, Self::OfLost)
    }

    pub(crate) const fn is_nothing(&self) -> bool {
        matches!(self, Self::OfNothing)
    }

    pub(crate) const fn replaces(&self) -> Option<Epoch> {
        match self {
            Self::Of(old) => Some(old.figures.epoch),
            Self::OfNothing | Self::OfLost => None,
        }
    }

    pub(crate) const fn grace_ms(&self) -> u64 {
        if self.is_healing() { GRACE_MS } else { 0 }
    }

    pub(crate) const fn next_sequence(&self) -> u64 {
        match self {
            Self::Of(old) => old.figures.next_sequence,
            Self::OfNothing | Self::OfLost => 1,
        }
    }
}

/// Sequences that belong to one epoch: more than a state can give out, since every ticket holds a unit. An older state may have given out
/// sequences that the ledger never heard of; the next epoch begins past all of them, so no sequence is ever used twice. The gap shows in
/// ticket numbers after a loss. A sale of several shards leaves gaps, too: where all its buyers belong to one of sixteen, the newest sequence
/// is sixteen times the number of tickets. So one of up to 62,500,000 units fits in any case, and the others where a hash spreads buyers.
pub const SEQUENCES_AN_EPOCH: u64 = seckill_sale::Stock::MAX;

/// The first sequence that belongs to an epoch.
pub(crate) const fn first_of(epoch: Epoch) -> u64 {
    (epoch.get() - 1) * SEQUENCES_AN_EPOCH + 1
}

/// Past every sequence that a record has, and past all that belong to older epochs.
pub(crate) fn next_sequence(sequence_max: u64, epoch: Epoch) -> u64 {
    first_of(epoch).max(sequence_max + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_of_an_epoch_begin_past_those_of_older_ones() {
        let epoch = |n| Epoch::new(n).expect("in range");
        assert_eq!(next_sequence(0, epoch(1)), 1);
        assert_eq!(next_sequence(7, epoch(1)), 8);
        assert_eq!(next_sequence(7, epoch(2)), SEQUENCES_AN_EPOCH + 1);
        assert_eq!(
            next_sequence(5 * SEQUENCES_AN_EPOCH, epoch(2)),
            5 * SEQUENCES_AN_EPOCH + 1
        );
        assert!(
            i64::try_from(next_sequence(0, epoch(Epoch::MAX))).is_ok(),
            "databases keep it in 63 bits"
        );
    }
}
