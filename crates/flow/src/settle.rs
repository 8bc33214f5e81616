//! From the queue to the ledger: 3 queue → 4 ledger, the second half of the main flow.
//!
//! A batch is taken, written in one transaction, and acknowledged with its results in one record of the queue. The ledger is always
//! first, so whatever dies in between, the batch is delivered again and the ledger answers with the results it has.

use std::sync::Arc;

use seckill_ledger::{Conflict, Error, Ledger, SettleBatch, Settled, TicketResult};
use seckill_queue::{Queue, Taken, Verdict, Verdicts};
use seckill_sale::{ActivityId, Conclusion, Delivery, Epoch, EpochMs, FailureReason};
use seckill_stock::Stock;

use crate::strays::Strays;
use crate::{Pace, Results};

/// How tickets are settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettleOptions {
    /// Tickets of one batch at the most.
    pub batch_size_max: usize,
    /// Failed attempts after which a ticket is parked.
    pub attempts_max: u32,
    /// Wait after the first failed attempt, in milliseconds; it doubles with each further one.
    pub retry_wait_first_ms: i64,
    /// Longest wait between attempts, in milliseconds.
    pub retry_wait_max_ms: i64,
    /// How long an order may wait for its payment, in milliseconds.
    pub pay_within_ms: i64,
}

/// What one pass did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pass {
    /// The sale that they belong to.
    pub activity: Option<ActivityId>,
    /// Tickets taken.
    pub taken: u64,
    /// Orders that are new.
    pub orders_written: u64,
    /// Tickets that failed for good.
    pub failed: u64,
    /// Tickets that go back for another attempt.
    pub retried: u64,
    /// Tickets parked as dead letters.
    pub buried: u64,
    /// The ledger could not be used: wait before the next pass.
    pub ledger_down: bool,
    /// Tickets for which the ledger had no unit: the store had admitted too many.
    pub oversold: u64,
}

/// The settlement flow.
pub struct Settle {
    pub(crate) stock: Arc<dyn Stock>,
    pub(crate) queue: Arc<dyn Queue>,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) results: Arc<Results>,
    pace: Arc<Pace>,
    pub(crate) options: SettleOptions,
    pub(crate) strays: Strays,
}

/// Verdicts of one pass while they are gathered.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) verdicts: Verdicts,
    pub(crate) pass: Pass,
    /// Of the state that handed the tickets out.
    pub(crate) epoch: Option<Epoch>,
    /// When the sale was created that this state is of.
    pub(crate) created_at: Option<EpochMs>,
    /// Tickets that go back to the queue.
    pub(crate) open: Vec<Delivery>,
    /// Tickets that the ledger refused for the epoch of their state.
    pub(crate) refused: Vec<Delivery>,
}

impl Settle {
    /// How long tickets rest after the ledger was found down, in milliseconds.
    const OUTAGE_WAIT_MS: i64 = 200;

    /// Longest wait that a ticket is given, where retries wait `retry_wait_max_ms` at the most; in milliseconds.
    #[must_use]
    pub fn wait_ms_max(retry_wait_max_ms: i64) -> i64 {
        retry_wait_max_ms.max(Self::OUTAGE_WAIT_MS)
    }

    /// The flow from `queue` to `ledger`.
    #[must_use]
    pub fn new(
        stock: Arc<dyn Stock>,
        queue: Arc<dyn Queue>,
        ledger: Arc<dyn Ledger>,
        results: Arc<Results>,
        pace: Arc<Pace>,
        options: SettleOptions,
    ) -> Self {
        Self {
            stock,
            queue,
            ledger,
            results,
            pace,
            options,
            strays: Strays::default(),
        }
    }

    /// Takes one batch, writes it, acknowledges it, wakes those who wait for it. Nothing taken: `taken` is 0.
    ///
    /// # Errors
    /// The queue could not be read or written. The batch is delivered again when its lease ends.
    pub async fn pass(&self) -> Result<Pass, seckill_queue::Error> {
        self.adopt_strays().await;
        let Taken {
            tickets,
            epoch,
            created_at,
        } = self.queue.take_of_state(self.options.batch_size_max).await?;
        let deliveries = tickets;
        if deliveries.is_empty() {
            return Ok(Pass::default());
        }
        let buyers: Vec<_> = deliveries
            .iter()
            .map(|delivery| (delivery.ticket.activity, delivery.user.clone()))
            .collect();
        let Gathered {
            verdicts,
            mut pass,
            open,
            refused,
            ..
        } = self.write(deliveries, epoch, created_at).await;
        // The store follows the ledger's epoch at the scheduler's next tick.
        pass.ledger_down |= !refused.is_empty();
        pass.activity = buyers.first().map(|&(activity, _)| activity);
        pass.taken = buyers.len() as u64;
        let recorded = self.queue.record(verdicts).await;
        self.strays.keep(refused, created_at);
        // Their state may be gone, and nobody else has them.
        if epoch.is_some() && (recorded.is_err() || self.epoch_now(pass.activity) != epoch) {
            self.strays.keep(open, created_at);
        }
        recorded?;
        self.pace.count(pass.orders_written, self.stock.now());
        self.results
            .publish(buyers.iter().map(|(activity, user)| (*activity, user)));
        Ok(pass)
    }

    /// Writes deliveries of one activity. A batch with a bad row is halved until the row is alone. Tickets that were handed out before
    /// without a verdict are written one by one: whatever stopped their worker must not stop their neighbours.
    async fn write(&self, deliveries: Vec<Delivery>, epoch: Option<Epoch>, created_at: Option<EpochMs>) -> Gathered {
        let (fresh, seen): (Vec<_>, Vec<_>) = deliveries.into_iter().partition(|delivery| delivery.deliveries < 2);
        let mut parts: Vec<Vec<Delivery>> = seen.into_iter().map(|delivery| vec![delivery]).rev().collect();
        if !fresh.is_empty() {
            parts.push(fresh);
        }
        let mut gathered = Gathered {
            epoch,
            created_at,
            ..Gathered::default()
        };
        while let Some(mut part) = parts.pop() {
            if gathered.pass.ledger_down {
                self.give_back(part, &mut gathered);
                continue;
            }
            match self.settle(&part, &gathered).await {
                Ok(settled) => {
                    gathered.verdicts.settled_batch = gathered.verdicts.settled_batch.max(settled.batch);
                    gathered.pass.orders_written += settled.orders_written;
                    self.conclude(part, &settled.results, &mut gathered).await;
                }
                Err(error) if error.is_outage() => {
                    tracing::debug!(
                        %error,
                        tickets = part.len(),
                        "the ledger cannot be used; the batch waits"
                    );
                    gathered.pass.ledger_down = true;
                    self.give_back(part, &mut gathered);
                }
                Err(Error::Conflict(Conflict::OlderState { present })) => {
                    tracing::warn!(%present, tickets = part.len(), "a batch of a lost state; its tickets are offered to the present one");
                    gathered.refused.extend(part);
                }
                Err(Error::Conflict(Conflict::AnotherSale)) => {
                    // The scheduler takes their state away. Until then they stay with this worker, and nobody else is kept waiting.
                    tracing::error!(tickets = part.len(), first = %part[0].ticket, "tickets of a sale that the database has lost, and whose number it gave out again, are not settled");
                }
                Err(Error::NotFound(_)) => self.wait_for_sale(&part, &mut gathered),
                Err(_) if 1 < part.len() => {
                    let second = part.split_off(part.len() / 2);
                    parts.extend([second, part]);
                }
                Err(error) => self.fail_alone(part.remove(0), &error, &mut gathered).await,
            }
        }
        gathered
    }

    /// Turns the ledger's results into verdicts.
    async fn conclude(&self, part: Vec<Delivery>, results: &[TicketResult], gathered: &mut Gathered) {
        for (delivery, &result) in part.into_iter().zip(results) {
            let conclusion = match result {
                TicketResult::Succeeded => Conclusion::Succeeded,
                TicketResult::Failed(reason) => {
                    gathered.pass.failed += 1;
                    match self.unit_of_failed(&delivery, reason).await {
                        Ok(unit_to) => {
                            let is_oversold = reason == FailureReason::StoreOversold && unit_to.is_none();
                            gathered.pass.oversold += u64::from(is_oversold);
                            Conclusion::Failed { reason, unit_to }
                        }
                        Err(error) => {
                            tracing::warn!(%error, ticket = %delivery.ticket, "where its unit went can't be read; it waits");
                            self.give_back(vec![delivery], gathered);
                            continue;
                        }
                    }
                }
            };
            tracing::debug!(ticket = %delivery.ticket, request_id = %delivery.request_id, ?conclusion, "a ticket is final");
            gathered
                .verdicts
                .tickets
                .push((delivery.ticket, Verdict::Conclude(conclusion)));
        }
    }

    async fn settle(&self, part: &[Delivery], of: &Gathered) -> Result<Settled, Error> {
        let batch = self.batch(part, of.created_at);
        match of.epoch {
            Some(epoch) => self.ledger.settle_of(epoch, batch).await,
            None => self.ledger.settle(batch).await,
        }
    }

    fn batch(&self, part: &[Delivery], created_at: Option<EpochMs>) -> SettleBatch {
        SettleBatch {
            created_at,
            activity: part[0].ticket.activity,
            tickets: part.to_vec(),
            now: self.stock.now(),
            pay_within_ms: self.options.pay_within_ms,
        }
    }

    /// A ledger that does not know their sale was restored from an older copy. Parked in it they would be dead letters of the next sale with
    /// that number, so they wait: for its copy, or until the sale is given up.
    fn wait_for_sale(&self, part: &[Delivery], gathered: &mut Gathered) {
        tracing::error!(tickets = part.len(), first = %part[0].ticket, "the database does not know the sale of these tickets; they wait");
        let not_before = self.stock.now().plus(self.options.retry_wait_max_ms);
        let verdict = |delivery: &Delivery| (delivery.ticket, Verdict::GiveBack { not_before });
        gathered.verdicts.tickets.extend(part.iter().map(verdict));
    }

    pub(crate) fn give_back(&self, part: Vec<Delivery>, gathered: &mut Gathered) {
        let not_before = self.stock.now().plus(Self::OUTAGE_WAIT_MS);
        let verdict = |delivery: &Delivery| (delivery.ticket, Verdict::GiveBack { not_before });
        gathered.verdicts.tickets.extend(part.iter().map(verdict));
        gathered.open.extend(part);
    }
}
