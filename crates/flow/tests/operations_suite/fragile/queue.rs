//! It as a queue.

use async_trait::async_trait;
use seckill_queue::{Adopted, Adoption, Depth, Orphans, Queue, Taken, Verdicts};
use seckill_sale::{ActivityId, Buyer, Delivery, Ticket};

use super::Fragile;

#[async_trait]
impl Queue for Fragile {
    async fn take(&self, count: usize) -> Result<Vec<Delivery>, seckill_queue::Error> {
        self.engine.take(count).await
    }
    async fn take_of_state(&self, count: usize) -> Result<Taken, seckill_queue::Error> {
        self.engine.take_of_state(count).await
    }
    async fn adopt(&self, tickets: Vec<Delivery>, adoption: Adoption) -> Result<Vec<Adopted>, seckill_queue::Error> {
        self.queue_write()?;
        self.engine.adopt(tickets, adoption).await
    }
    fn loses_states(&self) -> bool {
        self.engine.loses_states()
    }
    fn has_orphans(&self) -> bool {
        self.engine.has_orphans()
    }
    fn orphans(&self) -> Vec<Orphans> {
        self.engine.orphans()
    }
    async fn ready(&self) {
        self.engine.ready().await;
    }
    async fn record(&self, verdicts: Verdicts) -> Result<(), seckill_queue::Error> {
        self.queue_write()?;
        self.engine.record(verdicts).await
    }
    async fn revive(&self, ticket: Ticket) -> Result<(), seckill_queue::Error> {
        self.queue_write()?;
        self.engine.revive(ticket).await
    }
    async fn dead_letters(&self, activity: ActivityId) -> Result<Vec<(Buyer, String)>, seckill_queue::Error> {
        self.engine.dead_letters(activity).await
    }
    fn depth(&self) -> Depth {
        self.engine.depth()
    }
    fn depths(&self) -> Vec<seckill_queue::SaleDepth> {
        self.engine.depths()
    }
}
