//! Stock and queue as the product's flows see them: the embedded engine, behind lost replies and, where planted, faults.

mod brake;
mod claims;
mod queue;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use seckill_engine_embedded::Embedded;
use seckill_sale::{ActivityId, Buyer, Claim, EpochMs, Figures, Restored, Terms, Ticket, UserId};
use seckill_stock::{Answer, Condition, Examined, Gathering, Glance, OpenOutcome, Opening, Rebase, Stock};

use crate::fault::Fault;
use crate::lies;
use crate::weather::{Course, Weather};

/// The store of one process.
pub(crate) struct Store {
    engine: Embedded,
    weather: Arc<Weather>,
    /// Rules that were handed over in this life, for the fault that answers by itself.
    terms: Mutex<BTreeMap<ActivityId, Terms>>,
}

impl Store {
    pub(crate) const fn new(engine: Embedded, weather: Arc<Weather>) -> Self {
        Self {
            engine,
            weather,
            terms: Mutex::new(BTreeMap::new()),
        }
    }

    /// Whether it has a state of the sale that it can be asked about.
    pub(crate) fn knows(&self, activity: ActivityId) -> bool {
        !self.engine.is_broken() && self.engine.stock_left(activity).is_some()
    }

    async fn call<T>(
        &self,
        work: impl Future<Output = Result<T, seckill_stock::Error>>,
    ) -> Result<T, seckill_stock::Error> {
        let course = self.weather.store_course();
        let done = work.await?;
        self.weather.pause().await;
        match course {
            Course::Normal => Ok(done),
            Course::Refused | Course::ReplyLost => Err(seckill_stock::Error::OutcomeUnknown),
        }
    }

    /// As `call`, for work by which units may come back into the sale.
    async fn call_returning<T>(
        &self,
        activity: ActivityId,
        work: impl Future<Output = Result<T, seckill_stock::Error>>,
    ) -> Result<T, seckill_stock::Error> {
        self.call(async {
            self.weather.begin_return(activity);
            let done = work.await;
            // Where that is not known, a restart tells.
            if !matches!(done, Err(seckill_stock::Error::OutcomeUnknown)) {
                self.weather.end_return(activity);
            }
            done
        })
        .await
    }

    fn opened_wrongly(&self, opening: &mut Opening) {
        if self.weather.has(Fault::UnitTooMany) || self.weather.has(Fault::GuardSkipped) {
            opening.opened.left += 1;
        }
        opening.opened.terms = self.wrong_terms(opening.opened.terms);
    }

    fn wrong_terms(&self, terms: Terms) -> Terms {
        self.terms.lock().insert(terms.activity, terms);
        lies::terms(terms, &self.weather)
    }
}

impl Examined for Store {}

#[async_trait]
impl Stock for Store {
    fn now(&self) -> EpochMs {
        self.engine.now()
    }

    fn clock_uncertainty_ms(&self) -> i64 {
        self.engine.clock_uncertainty_ms()
    }

    fn glance(&self, activity: ActivityId, user: &UserId) -> Glance {
        let glance = self.engine.glance(activity, user);
        let last_unit = self.engine.stock_left(activity) == Some(1);
        if glance == Glance::Stranger && last_unit && self.weather.strikes(Fault::SoldOutEarly, 2) {
            return Glance::SoldOut;
        }
        glance
    }

    fn stock_left(&self, activity: ActivityId) -> Option<u64> {
        self.engine.stock_left(activity)
    }

    fn settled_up_to(&self, ticket: Ticket) -> Option<u64> {
        self.engine.settled_up_to(ticket)
    }

    async fn claim(&self, batch: Vec<Claim>) -> Vec<Answer> {
        self.claim_in_hand(batch).await
    }

    async fn claim_gathered(&self, gathering: Gathering) -> Vec<Answer> {
        self.claim_when_begun(gathering).await
    }

    async fn buyer(&self, activity: ActivityId, user: &UserId) -> Result<Option<Buyer>, seckill_stock::Error> {
        let mut buyer = self.call(self.engine.buyer(activity, user)).await?;
        lies::buyer(&mut buyer, &self.weather);
        Ok(buyer)
    }

    async fn figures(&self, activity: ActivityId) -> Result<Option<Figures>, seckill_stock::Error> {
        self.call(self.engine.figures(activity)).await
    }

    async fn activities(&self) -> Result<Vec<ActivityId>, seckill_stock::Error> {
        // They stand in a hash map whose order differs from run to run.
        let mut activities = self.call(self.engine.activities()).await?;
        activities.sort();
        Ok(activities)
    }

    async fn open(&self, mut opening: Opening) -> Result<OpenOutcome, seckill_stock::Error> {
        self.opened_wrongly(&mut opening);
        let activity = opening.opened.terms.activity;
        self.call_returning(activity, self.engine.open(opening)).await
    }

    async fn condition(&self, activity: ActivityId) -> Result<Condition, seckill_stock::Error> {
        self.engine.condition(activity).await
    }

    fn set_created(&self, created: BTreeMap<ActivityId, EpochMs>) {
        self.engine.set_created(created);
    }

    async fn give_up_another(&self, activity: ActivityId) -> Result<Vec<Restored>, seckill_stock::Error> {
        self.engine.give_up_another(activity).await
    }

    async fn rebase(&self, rebase: Rebase) -> Result<(), seckill_stock::Error> {
        let activity = rebase.activity;
        let work = self.engine.rebase(lies::rebase(rebase, &self.weather));
        self.call_returning(activity, work).await
    }

    async fn change(&self, terms: Terms) -> Result<(), seckill_stock::Error> {
        self.call(self.engine.change(self.wrong_terms(terms))).await
    }

    async fn apply_movement(
        &self,
        activity: ActivityId,
        movement: u64,
        mut delta: i64,
    ) -> Result<(), seckill_stock::Error> {
        if 0 < delta && self.weather.strikes(Fault::AddedTwice, 1) {
            delta *= 2;
        }
        let work = self.engine.apply_movement(activity, movement, delta);
        self.call_returning(activity, work).await
    }

    async fn buyers_page(&self, activity: ActivityId, page: u32) -> Result<Option<Vec<Buyer>>, seckill_stock::Error> {
        // They are spread over shards by a hash that differs from run to run: one page in order stands for all.
        if page != 0 {
            return Ok(None);
        }
        let mut all = Vec::new();
        let mut at = 0;
        while let Some(buyers) = self.engine.buyers_page(activity, at).await? {
            all.extend(buyers);
            at += 1;
        }
        all.sort_by(|one, other| one.user.cmp(&other.user));
        Ok((at != 0).then_some(all))
    }

    async fn forget(&self, activity: ActivityId) -> Result<(), seckill_stock::Error> {
        self.call(self.engine.forget(activity)).await
    }

    async fn permit(&self, key: [u8; 16], max: u32, until: EpochMs) -> Result<bool, seckill_stock::Error> {
        self.call(self.engine.permit(key, max, until)).await
    }

    fn set_backlog_max(&self, tickets: u64) {
        self.engine.set_backlog_max(tickets);
    }

    fn set_held_back(&self, sales: std::collections::BTreeSet<ActivityId>) {
        self.engine.set_held_back(sales);
    }
}
