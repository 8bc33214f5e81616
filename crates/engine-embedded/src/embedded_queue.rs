//! The handle as a queue.

use async_trait::async_trait;
use seckill_queue::{Depth, Queue, SaleDepth, Taken, Verdicts};
use seckill_sale::{ActivityId, Buyer, Delivery, Ticket};

use crate::Embedded;
use crate::command::Command;

#[async_trait]
impl Queue for Embedded {
    async fn take(&self, count: usize) -> Result<Vec<Delivery>, seckill_queue::Error> {
        Ok(self.take_of_state(count).await?.tickets)
    }

    async fn take_of_state(&self, count: usize) -> Result<Taken, seckill_queue::Error> {
        Ok(self.ask_patiently(|reply| Command::Take(count, reply)).await?)
    }

    async fn ready(&self) {
        self.shared.ready().await;
    }

    async fn record(&self, verdicts: Verdicts) -> Result<(), seckill_queue::Error> {
        Ok(self.ask(|reply| Command::Record(verdicts, reply)).await?)
    }

    async fn revive(&self, ticket: Ticket) -> Result<(), seckill_queue::Error> {
        Ok(self.ask(|reply| Command::Revive(ticket, reply)).await?)
    }

    async fn dead_letters(&self, activity: ActivityId) -> Result<Vec<(Buyer, String)>, seckill_queue::Error> {
        Ok(self.ask(|reply| Command::DeadLetters(activity, reply)).await?)
    }

    fn depth(&self) -> Depth {
        self.shared.depth()
    }

    fn depths(&self) -> Vec<SaleDepth> {
        self.shared.depths()
    }
}
