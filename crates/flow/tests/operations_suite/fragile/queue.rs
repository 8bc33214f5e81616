//! It as a queue.

use async_trait::async_trait;
use seckill_queue::{Depth, Queue, Verdicts};
use seckill_sale::{ActivityId, Buyer, Delivery, Ticket};

use super::Fragile;

#[async_trait]
impl Queue for Fragile {
    async fn take(&self, count: usize) -> Result<Vec<Delivery>, seckill_queue::Error> {
        self.engine.take(count).await
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
}
