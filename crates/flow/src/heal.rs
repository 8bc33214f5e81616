//! Heals the state of a sale by itself: one that started anew with its server, one that lost a part, one that is gone.
//!
//! ```text
//! doubtful ──books agree with the ledger──▶ confirmed in place: nobody is lost, nothing is rewritten
//!    │ they do not                               sound, its epoch passed by the ledger's ──▶ raised
//!    │                                           sound, of an epoch that the ledger never drew ──▶ followed, raised
//!    ▼                                           of another sale that had the number ──▶ taken away; this sale is preheated
//! broken, gone ──▶ epoch + 1, given up, built from the ledger and from what is left of it
//! ```
//! The ledger's epoch is counted up first, and an epoch is used by nobody but who drew it. Two that heal at once have two epochs: the store
//! goes on with the later one, and whoever has the earlier one finds that out at his next step.

use seckill_ledger::{OpeningRow, Tally};
use seckill_sale::{Activity, ActivityId, Figures, Status};
use seckill_stock::{Condition, Confirmed, Counted, Remedy};

use crate::instead::{GRACE_MS, Instead, first_of};
use crate::renew::TakenOver;
use crate::{Error, Operator, Preheated};

/// How often a doubtful state of which a part goes on is counted before it is built anew.
const COUNTS_MAX: usize = 4;

/// What was found and done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Healed {
    /// The state can be used, or somebody else has healed it.
    Nothing,
    /// Somebody builds it just now.
    InHand,
    /// It can't be used, and is left alone for now.
    Left,
    /// There is no state.
    Absent,
    /// It can be used again.
    Done,
    /// There was none, and there is one again.
    Built,
}

impl Operator {
    /// Looks whether the store's state of a sale can be used, and heals it where it can't and `is_due` says that it is to be tried.
    pub(crate) async fn heal(
        &self,
        activity: &Activity,
        is_due: impl FnOnce(&Condition) -> bool,
    ) -> Result<Healed, Error> {
        let id = activity.id;
        let _one_at_a_time = self.building.lock().await;
        let condition = self.layers.stock.condition(id).await?;
        if !is_due(&condition) {
            return Ok(Healed::Left);
        }
        let is_ahead = matches!(condition, Condition::Sound { epoch: Some(epoch) } if activity.epoch < Some(epoch));
        if !is_ahead {
            self.is_issued(id);
        }
        match condition {
            Condition::Absent { may_be_lost } => {
                let is_lost = may_be_lost && activity.epoch.is_some() && !self.is_over_for_good(activity).await?;
                if is_lost {
                    return Ok(match self.build_instead_of_lost(id).await? {
                        Healed::Done => Healed::Built,
                        healed => healed,
                    });
                }
                Ok(Healed::Absent)
            }
            Condition::Sound { epoch: Some(epoch) } => match activity.epoch {
                Some(newest) if epoch < newest => {
                    self.can_heal(activity, Remedy::InPlace).await?;
                    // Never to that epoch itself: whoever drew it may yet give out its numbers, from another server.
                    let row = self.epoch_past(id, newest).await?;
                    self.raise(id, row.epoch).await?;
                    Ok(Healed::Nothing)
                }
                Some(newest) if epoch == newest => Ok(Healed::Nothing),
                _ => self.follow_unissued(id, epoch).await,
            },
            Condition::Sound { epoch: None } => Ok(Healed::Nothing),
            Condition::InHand => Ok(Healed::InHand),
            Condition::Doubtful(figures) => {
                let by = self.remedy_of(activity, &figures).await?;
                self.can_heal(activity, by).await?;
                self.vouch(activity, *figures).await
            }
            Condition::Broken => self.build_instead_of_lost(id).await,
            Condition::Another { .. } => {
                self.take_away_another(id).await?;
                Ok(Healed::Absent)
            }
        }
    }

    /// Asked before an epoch is drawn: it costs a row in the operators' log, and is for nothing where the store can't be written.
    pub(crate) async fn can_heal(&self, activity: &Activity, by: Remedy) -> Result<(), Error> {
        let can_heal = self.layers.stock.can_heal(activity.id, activity.sub_stocks(), by);
        Ok(can_heal.await?)
    }

    /// How a doubtful state will be put right, as far as can be known without an epoch: where the ledger has more results than it, it is not
    /// in place, for results only become more. Where a part goes on, one that came between is asked about for nothing.
    async fn remedy_of(&self, activity: &Activity, figures: &Figures) -> Result<Remedy, Error> {
        let tally = self.layers.ledger.tally(activity.id).await?;
        let told = figures.queued + figures.dead + tally.succeeded + tally.failed;
        Ok(match told <= figures.accepted {
            true => Remedy::InPlace,
            false => Remedy::Build,
        })
    }

    /// A closed sale needs no new state once its units are returned: its buyers are in the ledger. Before that somebody's ticket may wait.
    async fn is_over_for_good(&self, activity: &Activity) -> Result<bool, Error> {
        Ok(activity.status == Status::Closed && self.layers.ledger.tally(activity.id).await?.available == 0)
    }

    async fn build_instead_of_lost(&self, id: ActivityId) -> Result<Healed, Error> {
        let preheated = self.build(id, self.own_context(), &Instead::OfLost).await?;
        tracing::error!(activity = %id, "the store had lost or broken the state of a sale; it was built anew");
        self.note_rebuilt(id);
        self.sync_terms(id).await?;
        Ok(if preheated.created {
            Healed::Done
        } else {
            Healed::Nothing
        })
    }

    /// A state that is whole and perhaps old goes on in place where it and the ledger agree to the unit. That is sound: the ledger is always
    /// written first, so whatever the store had settled is in the ledger; where the ledger has no unit more than that, it has no ticket that
    /// the state does not know, and no result that it lacks. What was admitted after this state, and is in nobody's hands but a worker's,
    /// is refused by the ledger for its epoch, and adopted. Its number is not given out again: the next one is of the new epoch.
    ///
    /// Of several shards some may be sound and go on meanwhile: they are counted again then.
    async fn vouch(&self, activity: &Activity, mut figures: Figures) -> Result<Healed, Error> {
        let id = activity.id;
        let seen = self.layers.stock.last_seen(id);
        for _ in 0..COUNTS_MAX {
            let lacks = seen.is_some_and(|seen| figures.accepted < seen.accepted);
            let (row, counted) = self.agreed(activity, &figures).await?;
            if let Some(counted) = counted {
                let left = counted.left;
                let confirmed = Confirmed {
                    activity: id,
                    epoch: row.epoch,
                    next_sequence: first_of(row.epoch),
                    counted: Some(counted),
                    grace_ms: if lacks { GRACE_MS } else { 0 },
                };
                if self.layers.stock.confirm(confirmed).await? {
                    // Tickets that it lacks are on their way to it, as to one that was built anew.
                    self.note_rebuilt(id);
                    tracing::warn!(activity = %id, epoch = %row.epoch, left, "the store started anew with the whole state of a sale; it goes on");
                    let preheated = Preheated {
                        created: true,
                        epoch: row.epoch,
                        left,
                    };
                    self.tell_of_loss(id, preheated, &TakenOver::default(), (&[], figures.accepted), seen)
                        .await;
                    self.sync_terms(id).await?;
                    self.apply_movements(id).await?;
                    return Ok(Healed::Done);
                }
            }
            match self.layers.stock.condition(id).await? {
                Condition::Doubtful(now) if counted.is_none() && now.revision == figures.revision => break,
                Condition::Doubtful(now) => figures = *now,
                Condition::Broken => break,
                // Somebody else has healed it, or is at it.
                Condition::Sound { .. } | Condition::InHand | Condition::Absent { .. } | Condition::Another { .. } => {
                    return Err(Error::Unstable);
                }
            }
        }
        tracing::warn!(activity = %id, "the store started anew, and differs from the ledger; its state is built anew");
        self.build_instead_of_lost(id).await
    }

    /// Counts the ledger's epoch up, past that of the state: from then on the ledger stands still. What the state is confirmed with; none
    /// where the two differ.
    async fn agreed(&self, activity: &Activity, figures: &Figures) -> Result<(OpeningRow, Option<Counted>), Error> {
        let id = activity.id;
        let row = self.epoch_past(id, figures.epoch).await?;
        let tally = self.layers.ledger.tally(id).await?;
        let newest = self.layers.ledger.newest_ticket(id).await?;
        let is_issued = newest.is_none_or(|newest| newest.sequence < figures.next_sequence);
        let left = row.available.checked_sub(figures.queued + figures.dead);
        let Some(left) = left.filter(|_| is_issued && tally.available == row.available && agree(figures, &tally))
        else {
            return Ok((row, None));
        };
        let counted = |applied_movement| Counted {
            revision: figures.revision,
            left,
            applied_movement,
        };
        if !activity.sub_stocks().is_split() {
            let last = row.last_movement;
            return Ok((row, Some(counted(last))));
        }
        // Which of several shards has a unit too many, or has missed a movement, nobody knows.
        let missed = self.layers.ledger.store_movements(id, figures.applied_movement).await?;
        let keeps = left == figures.stock_left && missed.is_empty();
        Ok((row, keeps.then(|| counted(figures.applied_movement))))
    }
}

/// Whether the ledger has exactly the results that the store has.
const fn agree(figures: &Figures, tally: &Tally) -> bool {
    figures.accepted == figures.queued + figures.dead + tally.succeeded + tally.failed && figures.dead == tally.dead
}
