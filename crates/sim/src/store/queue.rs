//! The store as a queue.

use std::future::Future;

use async_trait::async_trait;
use seckill_queue::{Depth, Queue, Verdict, Verdicts};
use seckill_sale::{ActivityId, Buyer, Conclusion, Delivery, Ticket, UnitTo};

use super::Store;
use crate::fault::Fault;
use crate::weather::Course;

impl Store {
    async fn call_queue<T>(
        &self,
        work: impl Future<Output = Result<T, seckill_queue::Error>>,
    ) -> Result<T, seckill_queue::Error> {
        let course = self.weather.store_course();
        let done = work.await?;
        self.weather.pause().await;
        match course {
            Course::Normal => Ok(done),
            Course::Refused | Course::ReplyLost => Err(seckill_queue::Error::OutcomeUnknown),
        }
    }
}

#[async_trait]
impl Queue for Store {
    async fn take(&self, count: usize) -> Result<Vec<Delivery>, seckill_queue::Error> {
        let mut taken = self.call_queue(self.engine.take(count)).await?;
        let conclude = |delivery: &Delivery| (delivery.ticket, Verdict::Conclude(Conclusion::Succeeded));
        let mut verdicts = Verdicts::default();
        if self.weather.has(Fault::AckedEarly) {
            verdicts.tickets.extend(taken.iter().map(conclude));
        }
        if !taken.is_empty() && self.weather.strikes(Fault::DeliveryDropped, 3) {
            verdicts.tickets.extend(taken.pop().iter().map(conclude));
        }
        if !verdicts.tickets.is_empty() {
            self.engine.record(verdicts).await?;
        }
        Ok(taken)
    }

    async fn ready(&self) {
        self.engine.ready().await;
    }

    async fn record(&self, verdicts: Verdicts) -> Result<(), seckill_queue::Error> {
        let mut returning: Vec<ActivityId> = verdicts.tickets.iter().filter_map(returns).collect();
        returning.dedup();
        let work = async {
            returning
                .iter()
                .for_each(|activity| self.weather.begin_return(*activity));
            let done = self.engine.record(verdicts).await;
            if done != Err(seckill_queue::Error::OutcomeUnknown) {
                returning.iter().for_each(|activity| self.weather.end_return(*activity));
            }
            done
        };
        self.call_queue(work).await
    }

    async fn revive(&self, ticket: Ticket) -> Result<(), seckill_queue::Error> {
        self.call_queue(self.engine.revive(ticket)).await
    }

    async fn dead_letters(&self, activity: ActivityId) -> Result<Vec<(Buyer, String)>, seckill_queue::Error> {
        self.call_queue(self.engine.dead_letters(activity)).await
    }

    fn depth(&self) -> Depth {
        self.engine.depth()
    }

    fn depths(&self) -> Vec<seckill_queue::SaleDepth> {
        self.engine.depths()
    }
}

/// The sale into which a verdict gives units back.
const fn returns(verdict: &(Ticket, Verdict)) -> Option<ActivityId> {
    match verdict {
        (
            ticket,
            Verdict::Conclude(Conclusion::Failed {
                unit_to: Some(UnitTo::Sale),
                ..
            }),
        ) => Some(ticket.activity),
        _ => None,
    }
}
