//! Epochs: whoever builds, confirms or raises a state draws one of his own from the ledger, and nobody uses one that somebody else drew.

use seckill_ledger::{Context, OpeningRow};
use seckill_sale::{ActivityId, Epoch, Restored};
use seckill_stock::{Confirmed, GivenUp};

use crate::instead::{Instead, first_of};
use crate::{Error, Operator};

/// Epochs counted up at the most until the store's own is passed: a restored ledger is behind by the rebuilds since its copy.
pub(crate) const EPOCHS_MAX: u32 = 1_000;

impl Operator {
    /// Counts the epoch up, and gives up what lies in the way; none where a state can be used.
    pub(crate) async fn begin(
        &self,
        id: ActivityId,
        context: &Context,
        instead: &Instead,
    ) -> Result<Option<(OpeningRow, Vec<Restored>)>, Error> {
        if let Instead::Of(old) = instead {
            return Ok(Some((
                self.epoch_past(id, old.figures.epoch).await?,
                old.buyers.clone(),
            )));
        }
        for _ in 0..EPOCHS_MAX {
            let row = self.layers.ledger.begin_opening(id, context.clone()).await?;
            if row.epoch == Epoch::FIRST {
                self.first_drawn.lock().insert(id);
            }
            match self
                .layers
                .stock
                .give_up(id, row.activity.sub_stocks(), row.epoch)
                .await?
            {
                GivenUp::Remains(remains) => return Ok(Some((row, remains))),
                GivenUp::Sound => {
                    // Somebody has just built it, with an older epoch than the one that is drawn now: the ledger would settle nothing for it.
                    self.raise(id, row.epoch).await?;
                    return Ok(None);
                }
                GivenUp::Newer(_) => {}
            }
        }
        Err(Error::Unstable)
    }

    /// Counts the ledger's epoch up until it is past this one.
    pub(crate) async fn epoch_past(&self, id: ActivityId, epoch: Epoch) -> Result<OpeningRow, Error> {
        for _ in 0..EPOCHS_MAX {
            let row = self.layers.ledger.begin_opening(id, self.own_context()).await?;
            if epoch < row.epoch {
                return Ok(row);
            }
        }
        Err(Error::Unstable)
    }

    /// Gives a sound state the epoch that the caller has drawn.
    pub(crate) async fn raise(&self, id: ActivityId, epoch: Epoch) -> Result<(), Error> {
        let raised = Confirmed {
            activity: id,
            epoch,
            next_sequence: first_of(epoch),
            counted: None,
            grace_ms: 0,
        };
        self.layers.stock.confirm(raised).await?;
        tracing::warn!(activity = %id, %epoch, "the store follows the ledger's epoch");
        Ok(())
    }
}
