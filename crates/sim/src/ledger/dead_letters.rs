//! Parked tickets, passed on.

use async_trait::async_trait;
use seckill_ledger::{Context, DeadLetter, DeadLetterId, DeadLetters, Error, Page, PageRequest, Parking};
use seckill_sale::{ActivityId, Epoch, EpochMs, Ticket};

use super::SimLedger;

#[async_trait]
impl DeadLetters for SimLedger {
    async fn park(&self, tickets: Vec<Parking>, now: EpochMs) -> Result<(), Error> {
        self.call(self.inner.park(tickets, now)).await
    }

    async fn park_of(&self, epoch: Epoch, tickets: Vec<Parking>, now: EpochMs) -> Result<(), Error> {
        self.call(self.inner.park_of(epoch, tickets, now)).await
    }

    async fn retried(&self, activity: ActivityId) -> Result<Vec<DeadLetter>, Error> {
        self.call(self.inner.retried(activity)).await
    }

    async fn dead_letters(&self, page: PageRequest) -> Result<Page<DeadLetter>, Error> {
        self.call(self.inner.dead_letters(page)).await
    }

    async fn dead_letter(&self, id: DeadLetterId) -> Result<DeadLetter, Error> {
        self.call(self.inner.dead_letter(id)).await
    }

    async fn dead_letter_of(&self, ticket: Ticket) -> Result<Option<DeadLetter>, Error> {
        self.call(self.inner.dead_letter_of(ticket)).await
    }

    async fn retry_dead_letter(&self, id: DeadLetterId, context: Context) -> Result<DeadLetter, Error> {
        self.call(self.inner.retry_dead_letter(id, context)).await
    }

    async fn discard_dead_letter(
        &self,
        id: DeadLetterId,
        reason: String,
        context: Context,
    ) -> Result<DeadLetter, Error> {
        self.call(self.inner.discard_dead_letter(id, reason, context)).await
    }

    async fn parked_count(&self) -> Result<u64, Error> {
        self.call(self.inner.parked_count()).await
    }
}
