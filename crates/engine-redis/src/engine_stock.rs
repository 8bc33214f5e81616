//! The handle as a stock.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use redis::cmd;
use seckill_sale::{ActivityId, Buyer, Claim, Epoch, EpochMs, Figures, Terms, UserId};
use seckill_stock::{
    Answer, Condition, Confirmed, Error, Gathering, GivenUp, Glance, OpenOutcome, Opening, Rebase, Stock,
};

use crate::buyer::read_buyer;
use crate::engine::Engine;
use crate::opening::terms_arguments;
use crate::script::{CHANGE, FORGET};
use crate::shared::Shared;
use crate::summary::Outcome;
use crate::{keys, salvage};

/// Buyers that a page of a walk is meant to have.
const PAGE_SIZE: usize = 1_000;
/// Walks whose next page is remembered.
const WALKS_MAX: usize = 64;

#[async_trait]
impl Stock for Engine {
    fn now(&self) -> EpochMs {
        self.0.time.now()
    }

    fn clock_uncertainty_ms(&self) -> i64 {
        self.0.time.uncertainty_ms()
    }

    fn glance(&self, activity: ActivityId, user: &UserId) -> Glance {
        match self.0.knows_sold_out(activity, user) {
            true => Glance::SoldOut,
            false => Glance::Ask,
        }
    }

    fn stock_left(&self, activity: ActivityId) -> Option<u64> {
        self.0
            .with_sale(activity, |sale| sale.map(|sale| sale.figures.stock_left))
    }

    fn settled_up_to(&self, activity: ActivityId) -> Option<u64> {
        self.0
            .with_sale(activity, |sale| sale.map(|sale| sale.figures.settled_up_to))
    }

    async fn claim(&self, batch: Vec<Claim>) -> Vec<Answer> {
        self.0.claim_all(&batch).await
    }

    async fn claim_gathered(&self, gathering: Gathering) -> Vec<Answer> {
        // Where the link is down nobody waits for his turn.
        if let Err(error) = self.0.link.lend() {
            return gathering
                .take()
                .iter()
                .map(|_| Err(Error::from(error).into()))
                .collect();
        }
        let _turn = self.0.turn.lock().await;
        self.0.claim_all(&gathering.take()).await
    }

    async fn buyer(&self, activity: ActivityId, user: &UserId) -> Result<Option<Buyer>, Error> {
        let mut command = cmd("HGET");
        command.arg(keys::buyers(activity)).arg(user.as_str());
        let record: Option<String> = self.0.link.command(&command).await?;
        Ok(record.and_then(|record| read_buyer(activity, user.clone(), &record)))
    }

    async fn figures(&self, activity: ActivityId) -> Result<Option<Figures>, Error> {
        let answer = self.0.look(activity).await?;
        if matches!(answer.outcome, Outcome::None) {
            return Ok(None);
        }
        Ok(Some(answer.done()?.0.figures))
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

    fn last_seen(&self, activity: ActivityId) -> Option<Figures> {
        let known = self.0.with_sale(activity, |sale| sale.map(|sale| sale.figures));
        known.or_else(|| self.0.seen.lock().get(&activity).copied())
    }

    async fn confirm(&self, confirmed: Confirmed) -> Result<bool, Error> {
        Ok(self.0.confirm(confirmed).await?)
    }

    async fn give_up(&self, activity: ActivityId, epoch: Epoch) -> Result<GivenUp, Error> {
        Ok(self.0.give_up(activity, epoch).await?)
    }

    async fn rebase(&self, rebase: Rebase) -> Result<(), Error> {
        let numbers = [rebase.epoch.get(), rebase.left, rebase.applied_movement];
        let mut arguments: Vec<_> = numbers.map(|number| number.to_string().into_bytes()).into();
        arguments.extend(rebase.requeue.iter().map(|user| user.as_str().as_bytes().to_vec()));
        self.0.change(rebase.activity, "rebase", arguments).await
    }

    async fn change(&self, terms: Terms) -> Result<(), Error> {
        self.0
            .change(terms.activity, "terms", terms_arguments(&terms).into())
            .await
    }

    async fn apply_movement(&self, activity: ActivityId, movement: u64, delta: i64) -> Result<(), Error> {
        let arguments = vec![movement.to_string().into_bytes(), delta.to_string().into_bytes()];
        self.0.change(activity, "move", arguments).await
    }

    async fn buyers_page(&self, activity: ActivityId, page: u32) -> Result<Option<Vec<Buyer>>, Error> {
        self.0.buyers_page(activity, page).await
    }

    async fn forget(&self, activity: ActivityId) -> Result<(), Error> {
        let keys = salvage::with_aside(activity);
        self.0.call_on(&FORGET, &keys, activity, Vec::new()).await?;
        self.0.seen.lock().remove(&activity);
        let mut command = cmd("SREM");
        command.arg(keys::SALES).arg(activity.get());
        let _removed: u64 = self.0.link.command(&command).await?;
        Ok(())
    }

    fn set_backlog_max(&self, tickets: u64) {
        self.0.backlog_max.store(tickets, Ordering::Relaxed);
    }
}

impl Shared {
    pub(crate) async fn change(&self, activity: ActivityId, what: &str, more: Vec<Vec<u8>>) -> Result<(), Error> {
        let mut arguments = vec![what.as_bytes().to_vec()];
        arguments.extend(more);
        self.call(&CHANGE, activity, arguments).await?.done()?;
        Ok(())
    }

    /// A page is what one HSCAN hands out. A walk that goes on finds its place; one that leaps walks there. As HSCAN does, it tells every
    /// buyer that was there all the time, and may tell one twice while buyers come.
    async fn buyers_page(&self, activity: ActivityId, page: u32) -> Result<Option<Vec<Buyer>>, Error> {
        let known = self.cursors.lock().remove(&(activity, page));
        let (mut at, mut cursor) = known.map_or((0, 0), |cursor| (page, cursor));
        loop {
            if 0 < at && cursor == 0 {
                return Ok(None);
            }
            let mut command = cmd("HSCAN");
            command
                .arg(keys::buyers(activity))
                .arg(cursor)
                .arg("COUNT")
                .arg(PAGE_SIZE);
            let (next, pairs): (u64, Vec<(String, String)>) = self.link.command(&command).await?;
            if at == page {
                let mut cursors = self.cursors.lock();
                if WALKS_MAX <= cursors.len() {
                    cursors.clear();
                }
                cursors.insert((activity, page + 1), next);
                let read = |(user, record): (String, String)| read_buyer(activity, UserId::new(&user).ok()?, &record);
                return Ok(Some(pairs.into_iter().filter_map(read).collect()));
            }
            (at, cursor) = (at + 1, next);
        }
    }
}
