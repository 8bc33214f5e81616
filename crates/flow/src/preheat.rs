//! Puts an activity into the store: by hand, by the scheduler and after a loss alike. One procedure, which never sells a unit twice.
//!
//! It works from the ledger: epoch + 1, units that are neither sold nor returned, less those that dead letters keep, and every buyer that
//! the ledger knows. Where the store has a state that can be used, nothing is changed. What is left of one that can't be is given up first,
//! after the epoch was counted up: from then on the ledger refuses what workers still bring from it, so what is counted stays so. Tickets
//! that only the remains know wait again, and keep their units.

use std::time::Duration;

use seckill_ledger::{Conflict, Context};
use seckill_sale::{Activity, ActivityId, Epoch, NotReady, Opened, Restored, Status};
use seckill_stock::{Condition, Error as StockError, OpenOutcome, Opening, Remedy};

use crate::instead::{Instead, next_sequence};
use crate::renew::beside;
use crate::retried::{Retried, with_retried};
use crate::unissued::of_this_sale;
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

/// Readings of the ledger before it is given up as changing all the time.
const ATTEMPTS_MAX: u32 = 8;
/// Other processes that may come in between before a preheat gives up.
const BUILDERS_MAX: u32 = 5;
/// How often one looks whether somebody else is still at work, and how long between two looks. A first state takes no longer; whoever builds
/// a large one, or has died, is not waited for.
const LOOKS_MAX: u32 = 20;
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Operator {
    /// Makes sure that the store has a state of the activity. Allowed from creation to the end.
    ///
    /// # Errors
    /// [`Error::Ended`], [`Conflict::Closed`], or a layer that can't be reached; asking again is harmless.
    pub async fn preheat(&self, id: ActivityId, context: Context) -> Result<Preheated, Error> {
        for _ in 1..BUILDERS_MAX {
            self.leave_to_others(id).await?;
            let _one_at_a_time = self.building.lock().await;
            match self.preheat_once(id, context.clone()).await {
                // Somebody else builds it, too, or has begun anew: what he has built is there at the next look.
                Err(Error::Unstable | Error::Stock(StockError::NotReady(NotReady::Recovering))) => {}
                done => return done,
            }
        }
        let _one_at_a_time = self.building.lock().await;
        self.preheat_once(id, context).await
    }

    /// Gives somebody who builds the state just now the time to end: to take it from him would keep buyers out for longer.
    async fn leave_to_others(&self, id: ActivityId) -> Result<(), Error> {
        for _ in 0..LOOKS_MAX {
            if self.layers.stock.condition(id).await? != Condition::InHand {
                break;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    async fn preheat_once(&self, id: ActivityId, context: Context) -> Result<Preheated, Error> {
        let activity = self.layers.ledger.activity(id).await?;
        if activity.status == Status::Closed {
            return Err(closed());
        }
        if activity.window.ends_at <= self.layers.stock.now() {
            return Err(Error::Ended);
        }
        if self.may_have_usable_state(id).await?
            && let Some(present) = self.present(id).await?
        {
            self.sync_terms(id).await?;
            return Ok(present);
        }
        self.rebuild(id, context).await
    }

    /// As [`Operator::preheat`], also after the end of the window: recovery needs a state for the dead letters of an ended sale. Whoever is
    /// asked by name waits for no other builder.
    pub(crate) async fn rebuild(&self, id: ActivityId, context: Context) -> Result<Preheated, Error> {
        self.take_away_another(id).await?;
        let instead = match self.may_have_usable_state(id).await? {
            true => Instead::OfNothing,
            false => Instead::OfLost,
        };
        self.build(id, context, &instead).await
    }

    /// False where the store has something that is no state anybody can use.
    pub(crate) async fn may_have_usable_state(&self, id: ActivityId) -> Result<bool, Error> {
        let condition = self.layers.stock.condition(id).await?;
        Ok(matches!(condition, Condition::Sound { .. } | Condition::Absent { .. }))
    }

    /// Builds the state in the place of `instead`.
    pub(crate) async fn build(&self, id: ActivityId, context: Context, instead: &Instead) -> Result<Preheated, Error> {
        let activity = self.layers.ledger.activity(id).await?;
        self.can_heal(&activity, Remedy::Build).await?;
        let mut failed = Vec::new();
        let mut retried = Retried::default();
        for _ in 0..ATTEMPTS_MAX {
            let Some((row, remains)) = self.begin(id, &context, instead).await? else {
                return self.present(id).await?.ok_or(Error::Unstable);
            };
            let known = self.known(id).await?;
            let tally = self.layers.ledger.tally(id).await?;
            // An operator who discarded a dead letter or added units in between: units and buyers would not belong together.
            if tally.available != row.available || tally.dead != known.units_dead {
                continue;
            }
            // Behind the records: a letter that an operator retries just now is in either.
            let retried = retried.of(known.units_dead, || self.layers.ledger.retried(id)).await?;
            let remains = of_this_sale(&activity, with_retried(retried, remains));
            let unpromised = row.available.saturating_sub(known.units_dead);
            let taken = beside(&remains, &known, unpromised);
            // Their buyers were told that they have a ticket, so they are told how it ended.
            let heals = instead.is_healing() || (instead.is_nothing() && !remains.is_empty());
            if heals {
                let without_unit = self.fail_without_unit(id, row.epoch, &taken).await?;
                if !without_unit.is_empty() {
                    failed.extend(without_unit);
                    continue;
                }
            }
            let issued = remains.iter().map(|buyer| buyer.sequence + 1).max().unwrap_or(1);
            let next_sequence = next_sequence(known.sequence_max, row.epoch)
                .max(issued)
                .max(instead.next_sequence());
            let left = unpromised - taken.units;
            let seen = self.layers.stock.last_seen(id);
            let opened = |activity: &Activity| Opened {
                terms: activity.terms(),
                epoch: row.epoch,
                left,
                next_sequence,
                applied_movement: row.last_movement,
            };
            let waiting = taken.kept.len();
            let buyers = [known.buyers, taken.kept.clone()].concat();
            let accepted: u64 = buyers.iter().map(|buyer| buyer.quantity.get()).sum();
            let outcome = self.open(id, opened, buyers, instead).await?;
            self.first_drawn.lock().remove(&id);
            if let OpenOutcome::Exists { .. } = outcome {
                return self.present(id).await?.ok_or(Error::Unstable);
            }
            tracing::info!(activity = %id, epoch = %row.epoch, left, next_sequence, waiting, "preheated");
            let preheated = Preheated {
                created: true,
                epoch: row.epoch,
                left,
            };
            if heals {
                self.tell_of_loss(id, preheated, &taken, (&failed, accepted), seen)
                    .await;
            }
            // The state is there: what follows is not the caller's any more.
            self.apply_movements_or_later(id).await;
            let activity = self.layers.ledger.activity(id).await.unwrap_or(row.activity);
            self.show(&activity).await;
            return Ok(preheated);
        }
        Err(Error::Unstable)
    }

    async fn open(
        &self,
        id: ActivityId,
        opened: impl FnOnce(&Activity) -> Opened,
        buyers: Vec<Restored>,
        instead: &Instead,
    ) -> Result<OpenOutcome, Error> {
        let _one_at_a_time = self.terms.lock().await;
        let activity = self.layers.ledger.activity(id).await?;
        if activity.status == Status::Closed && !instead.is_healing() {
            return Err(closed());
        }
        let opened = opened(&activity);
        // Somebody began a later state meanwhile: what was read for this one may be old.
        if activity.epoch != Some(opened.epoch) {
            return Err(Error::Unstable);
        }
        let opening = Opening {
            opened,
            shards: activity.sub_stocks(),
            buyers,
            replaces: instead.replaces(),
            grace_ms: instead.grace_ms(),
        };
        Ok(self.layers.stock.open(opening).await?)
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
