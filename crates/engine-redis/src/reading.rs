//! Readings of all shards of a sale, and what two of them prove: units move between shards while they are read one after another, so one
//! reading proves nothing. Two between which no unit moved bound what there was at the moment between them.

use std::time::Instant;

use seckill_sale::{ActivityId, Figures, Shards};

use crate::keys::Place;
use crate::sales::merged;
use crate::summary::Summary;

/// All shards, each as it was at some moment between two.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) asked_at: Instant,
    pub(crate) answered_at: Instant,
    pub(crate) shards: Vec<Summary>,
}

impl Reading {
    /// Each shard with its place.
    pub(crate) fn places(&self, activity: ActivityId) -> impl Iterator<Item = (Place, &Summary)> {
        let shards = Shards::new(self.shards.len() as u64).unwrap_or(Shards::ONE);
        Place::all(activity, shards).zip(&self.shards)
    }

    /// The figures of the sale: exact where no unit moved between its shards meanwhile.
    pub(crate) fn figures(&self) -> Option<Figures> {
        let shards = Shards::new(self.shards.len() as u64).ok()?;
        merged(shards, self.shards.iter())
    }

    /// Units that are left, or on their way between shards; exact only where no unit moved meanwhile.
    pub(crate) fn units(&self) -> u64 {
        let of = |shard: &Summary| shard.figures.stock_left + shard.units_out();
        self.shards.iter().map(of).sum()
    }

    /// Units on their way between shards.
    pub(crate) fn units_out(&self) -> u64 {
        self.shards.iter().map(Summary::units_out).sum()
    }

    /// Whether nothing is on its way, and no unit moved between shards since `earlier`.
    pub(crate) fn stood_still_since(&self, earlier: &Self) -> bool {
        let still = |(now, before): (&Summary, &Summary)| {
            now.out.is_none()
                && before.out.is_none()
                && now.transfers == before.transfers
                && now.builder == before.builder
        };
        earlier.answered_at <= self.asked_at
            && self.shards.len() == earlier.shards.len()
            && self.shards.iter().zip(&earlier.shards).all(still)
    }

    /// Units of the whole sale at the most, at the moment between `earlier` and this; none where that is not known. In each shard they
    /// only fell, since none came.
    pub(crate) fn bound_since(&self, earlier: &Self) -> Option<u64> {
        let fell = |(now, before): (&Summary, &Summary)| now.figures.stock_left <= before.figures.stock_left;
        let bounded = self.stood_still_since(earlier) && self.shards.iter().zip(&earlier.shards).all(fell);
        bounded.then(|| earlier.units())
    }
}
