//! The handle: the contracts of stock and queue over the sequencer's inbox and the published views.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use seckill_sale::{
    ActivityId, Buyer, Claim, EpochMs, Figures, Found, InstallationId, NotReady, Refusal, Restored, SaleView, Terms,
    Ticket, UserId,
};
use seckill_stock::{Answer, Condition, Examined, Gathering, Glance, OpenOutcome, Opening, Rebase, Stock};
use tokio::sync::oneshot;

use crate::Error;
use crate::command::Command;
use crate::inbox::Inbox;
use crate::shared::Shared;

/// Handle of the embedded engine; cheap to clone.
#[derive(Clone)]
pub struct Embedded {
    pub(crate) shared: Arc<Shared>,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) answer_within: Option<Duration>,
    pub(crate) installation: InstallationId,
}

impl Embedded {
    /// The id that the journal carries; the ledger must carry the same.
    #[must_use]
    pub const fn installation(&self) -> InstallationId {
        self.installation
    }

    /// Number of the newest settlement batch that the journal has acknowledged. A ledger that has fewer was restored from an older copy.
    #[must_use]
    pub fn acknowledged_batch(&self) -> u64 {
        self.shared.written.acknowledged.load(Ordering::Relaxed)
    }

    /// Bytes of the journal: frames that count, and the snapshot.
    #[must_use]
    pub fn journal_bytes(&self) -> u64 {
        self.shared.written.journal_bytes.load(Ordering::Relaxed)
    }

    /// Whether a write to the disk has failed: nothing is admitted any more, and the process should be restarted.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.shared.is_broken()
    }

    /// Returns when a write to the disk has failed.
    pub async fn broke(&self) {
        self.shared.broke().await;
    }

    /// Removes a buyer's entry by hand, as a drill: the audit must notice. Says whether he was there.
    ///
    /// # Errors
    /// As every command.
    pub async fn erase_buyer(&self, activity: ActivityId, user: UserId) -> Result<bool, Error> {
        self.ask(|reply| Command::Erase(activity, user, reply)).await
    }

    /// Takes no more commands; those that wait are still done.
    pub fn close(&self) {
        self.inbox.close();
    }
}

impl Examined for Embedded {}

#[async_trait]
impl Stock for Embedded {
    fn now(&self) -> EpochMs {
        self.shared.clock.now()
    }

    fn clock_uncertainty_ms(&self) -> i64 {
        0
    }

    fn glance(&self, activity: ActivityId, user: &UserId) -> Glance {
        self.shared.with_view(activity, |view| {
            let Some(view) = view else { return Glance::Ask };
            match view.find(user) {
                Found::Buyer(buyer) => Glance::Holds(buyer),
                Found::OnItsWay => Glance::Ask,
                Found::Nothing if view.is_open() && view.stock_left() == 0 => Glance::SoldOut,
                Found::Nothing => Glance::Stranger,
            }
        })
    }

    fn stock_left(&self, activity: ActivityId) -> Option<u64> {
        self.shared.with_view(activity, |view| view.map(SaleView::stock_left))
    }

    fn settled_up_to(&self, ticket: Ticket) -> Option<u64> {
        self.shared
            .with_view(ticket.activity, |view| view.map(SaleView::settled_up_to))
    }

    async fn claim(&self, batch: Vec<Claim>) -> Vec<Answer> {
        let size = batch.len();
        let refuse = |refusal: Refusal| vec![Err(refusal); size];
        if self.shared.is_broken() {
            return refuse(Refusal::NotReady(NotReady::StoreReadOnly));
        }
        let (reply, answers) = oneshot::channel();
        if self.inbox.put(Command::Claim(batch, reply)).is_err() {
            return refuse(Refusal::Busy);
        }
        answers.await.unwrap_or_else(|_| refuse(Refusal::OutcomeUnknown))
    }

    async fn claim_gathered(&self, gathering: Gathering) -> Vec<Answer> {
        if self.shared.is_broken() {
            return vec![Err(Refusal::NotReady(NotReady::StoreReadOnly)); gathering.take().len()];
        }
        let (reply, answers) = oneshot::channel();
        if let Err(Command::Claim(claims, _)) = self.inbox.put_gathering(gathering, reply) {
            return vec![Err(Refusal::Busy); claims.len()];
        }
        // Where the sequencer went away, the batcher answers by itself: it knows whether the batch was taken.
        answers.await.unwrap_or_default()
    }

    async fn buyer(&self, activity: ActivityId, user: &UserId) -> Result<Option<Buyer>, seckill_stock::Error> {
        let found = self.shared.with_view(activity, |view| view.map(|view| view.find(user)));
        match found {
            None | Some(Found::Nothing) => Ok(None),
            Some(Found::Buyer(buyer)) => Ok(Some(*buyer)),
            Some(Found::OnItsWay) => Ok(self.ask(|reply| Command::Buyer(activity, user.clone(), reply)).await?),
        }
    }

    async fn figures(&self, activity: ActivityId) -> Result<Option<Figures>, seckill_stock::Error> {
        Ok(self.ask(|reply| Command::Figures(activity, reply)).await?)
    }

    async fn activities(&self) -> Result<Vec<ActivityId>, seckill_stock::Error> {
        Ok(self.ask(Command::Activities).await?)
    }

    async fn open(&self, opening: Opening) -> Result<OpenOutcome, seckill_stock::Error> {
        Ok(self.ask(|reply| Command::Open(Box::new(opening), reply)).await?)
    }

    async fn condition(&self, activity: ActivityId) -> Result<Condition, seckill_stock::Error> {
        if self.shared.others.contain(activity)
            && let Some(figures) = self.figures(activity).await?
        {
            return Ok(Condition::Another { epoch: figures.epoch });
        }
        Ok(match self.stock_left(activity) {
            Some(_) => Condition::Sound { epoch: None },
            None => Condition::Absent { may_be_lost: false },
        })
    }

    fn set_created(&self, created: BTreeMap<ActivityId, EpochMs>) {
        self.shared.set_created(created);
    }

    async fn give_up_another(&self, activity: ActivityId) -> Result<Vec<Restored>, seckill_stock::Error> {
        if !self.shared.others.contain(activity) {
            return Ok(Vec::new());
        }
        let view = self.shared.view(activity);
        let pages = |view: Arc<SaleView>| (0..).map_while(move |page| view.buyers_page(page)).flatten();
        let buyers = view.into_iter().flat_map(pages).map(Restored::from).collect();
        self.forget(activity).await?;
        Ok(buyers)
    }

    async fn rebase(&self, rebase: Rebase) -> Result<(), seckill_stock::Error> {
        Ok(self.ask(|reply| Command::Rebase(rebase, reply)).await?)
    }

    async fn change(&self, terms: Terms) -> Result<(), seckill_stock::Error> {
        Ok(self.ask(|reply| Command::Change(terms, reply)).await?)
    }

    async fn apply_movement(
        &self,
        activity: ActivityId,
        movement: u64,
        delta: i64,
    ) -> Result<(), seckill_stock::Error> {
        Ok(self
            .ask(|reply| Command::Move {
                activity,
                movement,
                delta,
                reply,
            })
            .await?)
    }

    async fn buyers_page(&self, activity: ActivityId, page: u32) -> Result<Option<Vec<Buyer>>, seckill_stock::Error> {
        Ok(self.shared.view(activity).and_then(|view| view.buyers_page(page)))
    }

    async fn forget(&self, activity: ActivityId) -> Result<(), seckill_stock::Error> {
        Ok(self.ask(|reply| Command::Forget(activity, reply)).await?)
    }

    async fn permit(&self, key: [u8; 16], max: u32, until: EpochMs) -> Result<bool, seckill_stock::Error> {
        Ok(self.ask(|reply| Command::Permit(key, max, until, reply)).await?)
    }

    fn set_backlog_max(&self, tickets: u64) {
        self.shared.set_backlog_max(tickets);
    }

    fn set_held_back(&self, sales: BTreeSet<ActivityId>) {
        self.shared.set_held_back(sales);
    }
}
