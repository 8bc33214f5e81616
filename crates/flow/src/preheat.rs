//! Puts an activity into the store: by hand, by the scheduler and after a loss alike. One procedure, which never sells a unit twice.
//!
//! It works from the ledger alone: epoch + 1, units that are neither sold nor returned, less those that dead letters keep, and every
//! buyer that the ledger knows. Where the store has a state already, nothing is changed: a queue is only where a state is.

use seckill_ledger::{Conflict, Context};
use seckill_sale::{ActivityId, Epoch, Opened, Status};
use seckill_stock::{OpenOutcome, Opening};

use crate::renew::Old;
use crate::{Error, Operator};

/// What preheating came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preheated {
    /// Whether the state is new; otherwise it was there and nothing changed.
    pub created: bool,
    /// Generation of the state.
    pub epoch: Epoch,
    /// Units left.
    pub left: u64,
}

/// Sequences that belong to one epoch: more than a state can give out, since every ticket holds a unit. An older state may have given out
/// sequences that the ledger never heard of; the next epoch begins past all of them, so no sequence is ever used twice. The gap shows in
/// ticket numbers after a loss. A sale of several shards leaves gaps, too: where all its buyers belong to one of sixteen, the newest sequence
/// is sixteen times the number of tickets. So one of up to 62,500,000 units fits in any case, and the others where a hash spreads buyers.
pub const SEQUENCES_AN_EPOCH: u64 = seckill_sale::Stock::MAX;

/// Readings of the ledger before it is given up as changing all the time.
const ATTEMPTS_MAX: u32 = 8;

impl Operator {
    /// Makes sure that the store has a state of the activity. Allowed from creation to the end.
    ///
    /// # Errors
    /// [`Error::Ended`], [`Conflict::Closed`], or a layer that can't be reached; asking again is harmless.
    pub async fn preheat(&self, id: ActivityId, context: Context) -> Result<Preheated, Error> {
        let activity = self.layers.ledger.activity(id).await?;
        if activity.status == Status::Closed {
            return Err(closed());
        }
        if activity.window.ends_at <= self.layers.stock.now() {
            return Err(Error::Ended);
        }
        if let Some(present) = self.present(id).await? {
            self.sync_terms(id).await?;
            return Ok(present);
        }
        self.rebuild(id, context).await
    }

    /// As [`Operator::preheat`], also after the end of the window: recovery needs a state for the dead letters of an ended sale.
    pub(crate) async fn rebuild(&self, id: ActivityId, context: Context) -> Result<Preheated, Error> {
        self.build(id, context, None).await
    }

    /// Builds the state, in place of `old` where there is one.
    pub(crate) async fn build(&self, id: ActivityId, context: Context, old: Option<&Old>) -> Result<Preheated, Error> {
        for _ in 0..ATTEMPTS_MAX {
            let row = match old {
                Some(old) => self.epoch_past(id, &old.figures).await?,
                None => self.layers.ledger.begin_opening(id, context.clone()).await?,
            };
            let known = self.known(id).await?;
            let tally = self.layers.ledger.tally(id).await?;
            // An operator who discarded a dead letter or added units in between: units and buyers would not belong together.
            if tally.available != row.available || tally.dead != known.units_dead {
                continue;
            }
            let unpromised = row.available.saturating_sub(known.units_dead);
            let taken = old.map(|old| old.beside(&known, unpromised)).unwrap_or_default();
            let left = unpromised - taken.units;
            let issued = old.map_or(1, |old| old.figures.next_sequence);
            let next_sequence = next_sequence(known.sequence_max, row.epoch).max(issued);
            let outcome = {
                let _one_at_a_time = self.terms.lock().await;
                let activity = self.layers.ledger.activity(id).await?;
                if activity.status == Status::Closed {
                    return Err(closed());
                }
                let opened = Opened {
                    terms: activity.terms(),
                    epoch: row.epoch,
                    left,
                    next_sequence,
                    applied_movement: row.last_movement,
                };
                let buyers = [known.buyers, taken.kept].concat();
                let replaces = old.map(|old| old.figures.epoch);
                let opening = Opening {
                    opened,
                    shards: activity.sub_stocks(),
                    buyers,
                    replaces,
                };
                self.layers.stock.open(opening).await?
            };
            if let OpenOutcome::Exists { .. } = outcome {
                return self.present(id).await?.ok_or(Error::Unstable);
            }
            tracing::info!(activity = %id, epoch = %row.epoch, left, next_sequence, "preheated");
            self.apply_movements(id).await?;
            let activity = self.layers.ledger.activity(id).await?;
            self.show(&activity).await;
            return Ok(Preheated {
                created: true,
                epoch: row.epoch,
                left,
            });
        }
        Err(Error::Unstable)
    }

    async fn present(&self, id: ActivityId) -> Result<Option<Preheated>, Error> {
        let figures = self.layers.stock.figures(id).await?;
        Ok(figures.map(|figures| Preheated {
            created: false,
            epoch: figures.epoch,
            left: figures.stock_left,
        }))
    }
}

fn closed() -> Error {
    Error::Ledger(Conflict::Closed.into())
}

/// Past every sequence that a record has, and past all that belong to older epochs.
fn next_sequence(sequence_max: u64, epoch: Epoch) -> u64 {
    let first_of_epoch = (epoch.get() - 1) * SEQUENCES_AN_EPOCH + 1;
    first_of_epoch.max(sequence_max + 1)
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
