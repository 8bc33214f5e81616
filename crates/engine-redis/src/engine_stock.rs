//! The handle as a stock.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use redis::cmd;
use seckill_sale::{
    ActivityId, Buyer, Claim, Epoch, EpochMs, Figures, Restored, Shards, SharedRate, Terms, Ticket, TicketState, UserId,
};
use seckill_stock::{
    Answer, Condition, Confirmed, Error, Gathering, GivenUp, Glance, OpenOutcome, Opening, Rebase, Remedy, Stock,
};

use crate::buyer::read_buyer;
use crate::engine::Engine;
use crate::keys::{self, Place, of_ticket};
use crate::opening::terms_arguments;
use crate::script::FORGET;

const fn is_final(state: TicketState) -> bool {
    matches!(state, TicketState::Succeeded | TicketState::Failed(_))
}

#[async_trait]
impl Stock for Engine {
    fn now(&self) -> EpochMs {
        self.0.time.now()
    }

    fn clock_uncertainty_ms(&self) -> i64 {
        self.0.time.uncertainty_ms()
    }

    fn glance(&self, activity: ActivityId, user: &UserId) -> Glance {
        self.0.recall(activity, user)
    }

    fn stock_left(&self, activity: ActivityId) -> Option<u64> {
        self.0
            .with_sale(activity, |sale| sale?.figures())
            .map(|figures| figures.stock_left)
    }

    fn settled_up_to(&self, ticket: Ticket) -> Option<u64> {
        self.0.with_sale(ticket.activity, |sale| {
            let sale = sale?;
            let (place, _) = of_ticket(sale.shards(), ticket);
            Some(sale.shard(place.index())?.figures.settled_up_to)
        })
    }

    async fn claim(&self, batch: Vec<Claim>) -> Vec<Answer> {
        self.0.claim_all(&batch).await
    }

    async fn claim_gathered(&self, gathering: Gathering) -> Vec<Answer> {
        // Where no server can be asked nobody waits for his turn.
        if let Err(error) = self.0.link.check() {
            return gathering
                .take()
                .iter()
                .map(|_| Err(Error::from(error).into()))
                .collect();
        }
        self.0.claim_gathered(gathering).await
    }

    async fn buyer(&self, activity: ActivityId, user: &UserId) -> Result<Option<Buyer>, Error> {
        let place = Place::of_user(activity, self.0.shards(activity).await?, user);
        let mut command = cmd("HGET");
        command.arg(place.buyers()).arg(user.as_str());
        let record: Option<String> = self.0.link.command(&command).await?;
        let read = |record: String| read_buyer(place, user.clone(), &record);
        match record.and_then(read) {
            // However old the state that tells it: what is final stays so.
            Some(buyer) if is_final(buyer.state) => Ok(Some(buyer)),
            // A server that started anew with an older file may tell of a ticket that waits what was so before.
            _ => Ok(self.0.see_buyer(place, user).await?.and_then(read)),
        }
    }

    async fn take_of_rate(&self, rate: &SharedRate) -> Result<Option<u64>, Error> {
        Ok(self.0.take_of_rate(rate).await?)
    }

    async fn figures(&self, activity: ActivityId) -> Result<Option<Figures>, Error> {
        let reading = self.0.look_exactly(activity).await?;
        Ok(reading.and_then(|reading| reading.figures()))
    }

    async fn activities(&self) -> Result<Vec<ActivityId>, Error> {
        Ok(self.0.refresh().await?)
    }

    async fn open(&self, opening: Opening) -> Result<OpenOutcome, Error> {
        Ok(self.0.open(opening).await?)
    }

    async fn condition(&self, activity: ActivityId) -> Result<Condition, Error> {
        Ok(self.0.condition(activity).await?)
    }

    async fn can_heal(&self, activity: ActivityId, shards: Shards, by: Remedy) -> Result<(), Error> {
        Ok(self.0.can_heal(activity, shards, by).await?)
    }

    fn last_seen(&self, activity: ActivityId) -> Option<Figures> {
        let known = self.0.with_sale(activity, |sale| sale?.figures());
        known.or_else(|| self.0.seen.lock().get(&activity).copied())
    }

    async fn confirm(&self, confirmed: Confirmed) -> Result<bool, Error> {
        Ok(self.0.confirm(confirmed).await?)
    }

    async fn give_up(&self, activity: ActivityId, shards: Shards, epoch: Epoch) -> Result<GivenUp, Error> {
        Ok(self.0.give_up(activity, shards, epoch).await?)
    }

    fn set_created(&self, created: BTreeMap<ActivityId, EpochMs>) {
        self.0.set_created(created);
    }

    async fn give_up_another(&self, activity: ActivityId) -> Result<Vec<Restored>, Error> {
        Ok(self.0.give_up_another(activity).await?)
    }

    async fn rebase(&self, rebase: Rebase) -> Result<(), Error> {
        Ok(self.0.rebase(rebase).await?)
    }

    async fn change(&self, terms: Terms) -> Result<(), Error> {
        let arguments = terms_arguments(&terms).into();
        Ok(self.0.change(terms.activity, "terms", arguments).await?)
    }

    async fn apply_movement(&self, activity: ActivityId, movement: u64, delta: i64) -> Result<(), Error> {
        Ok(self.0.apply_movement(activity, movement, delta).await?)
    }

    async fn buyers_page(&self, activity: ActivityId, page: u32) -> Result<Option<Vec<Buyer>>, Error> {
        Ok(self.0.buyers_page(activity, page).await?)
    }

    async fn forget(&self, activity: ActivityId) -> Result<(), Error> {
        let shards = self.0.shards(activity).await?;
        for place in Place::all(activity, shards) {
            let keys = place.keys_and_aside();
            self.0.call_on(&FORGET, &keys, place, Vec::new()).await?;
        }
        self.0.forget(activity);
        self.0.remembered.forget_sale(activity);
        self.0.seen.lock().remove(&activity);
        let mut command = cmd("SREM");
        command.arg(keys::SALES).arg(keys::listed(activity, shards));
        let _removed: u64 = self.0.link.command(&command).await?;
        Ok(())
    }

    async fn permit(&self, key: [u8; 16], max: u32, until: EpochMs) -> Result<bool, Error> {
        Ok(self.0.permit(key, max, until).await?)
    }

    fn set_backlog_max(&self, tickets: u64) {
        self.0.backlog.set_most(tickets);
    }

    fn set_held_back(&self, sales: BTreeSet<ActivityId>) {
        self.0.backlog.hold_back(sales);
    }
}
