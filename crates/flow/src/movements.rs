//! Carries movements of units from the ledger to the store, in their order, each once.
//!
//! The ledger's rows are the truth: the store remembers the last one that it applied. So a movement is never handed over by itself, only
//! ever together with all before it, and a crash between ledger and store costs nothing but time.

use seckill_ledger::{Context, Movement};
use seckill_sale::{Activity, ActivityId, Stock};

use crate::{Error, Operator};

impl Operator {
    /// Applies every movement that the store has not applied yet; gives their number. No state: none.
    ///
    /// # Errors
    /// A layer that can't be reached; asking again is harmless.
    pub async fn apply_movements(&self, id: ActivityId) -> Result<u64, Error> {
        let Some(figures) = self.layers.stock.figures(id).await? else {
            return Ok(0);
        };
        let movements = self.layers.ledger.store_movements(id, figures.applied_movement).await?;
        for movement in &movements {
            let delta = movement.store_delta();
            self.layers.stock.apply_movement(id, movement.id, delta).await?;
            tracing::info!(activity = %id, movement = movement.id, kind = movement.kind.as_str(), delta, "units moved");
        }
        Ok(movements.len() as u64)
    }

    /// Applies movements after the ledger has decided. A failure is not the caller's: what he asked is done, and the scheduler applies them.
    pub(crate) async fn apply_movements_or_later(&self, id: ActivityId) {
        if let Err(error) = self.apply_movements(id).await {
            tracing::warn!(activity = %id, %error, "movements could not be applied; the scheduler does it");
            self.tell_scheduler();
        }
    }

    /// Takes units from the product and adds them to the activity; gives their movement, and the activity with them.
    ///
    /// # Errors
    /// [`seckill_ledger::Conflict::ProductShort`] or [`seckill_ledger::Conflict::Closed`]; no error once the ledger has moved them.
    pub async fn add_stock(
        &self,
        id: ActivityId,
        units: Stock,
        context: Context,
    ) -> Result<(Movement, Activity), Error> {
        let ledger = &self.layers.ledger;
        let mut activity = ledger.activity(id).await?;
        let movement = ledger.add_stock(id, units, context.clone()).await?;
        self.apply_movements_or_later(id).await;
        match ledger.activity(id).await {
            Ok(present) => activity = present,
            // Done before, it is in the row that was read first.
            Err(_) if context.idempotency.is_some_and(|key| key.replayed.is_told()) => {}
            Err(_) => {
                activity.stock_total += units.get();
                activity.version += 1;
            }
        }
        self.show(&activity).await;
        Ok((movement, activity))
    }
}
