//! Finds differences: pages through the store beside the ledger, then through the ledger beside the store, then reads each suspect again.
//!
//! The ledger is always written before the store. So the store is read first when looking for results that the ledger lacks, and the
//! ledger first when looking for buyers that the store lacks: what is merely on its way is then never missed on the other side.

use std::collections::{BTreeSet, HashMap};

use seckill_ledger::PageRequest;
use seckill_sale::{ActivityId, Buyer, UserId};

use super::compare::compare;
use super::found::{Found, Left, Suspect};
use super::{DIFFERENCES_MAX, DifferenceKind};
use crate::audit::Reading;
use crate::{Error, Operator};

/// Readings of one suspect before it is left to the next run.
const READINGS_MAX: u32 = 4;

impl Operator {
    /// Everything on which store and ledger differ; nothing where the store has no state.
    pub(crate) async fn find(&self, id: ActivityId) -> Result<Found, Error> {
        let Some(figures) = self.layers.stock.figures(id).await? else {
            self.layers.ledger.activity(id).await?;
            return Ok(Found::default());
        };
        let movements = self.layers.ledger.store_movements(id, figures.applied_movement).await?;
        let (users, truncated) = self.suspects(id).await?;
        let mut found = Found {
            movements: movements.len(),
            truncated,
            ..Found::default()
        };
        for user in users {
            found.suspects.extend(self.confirm(id, user).await?);
        }
        found.left = self.left(id, &found).await?;
        Ok(found)
    }

    /// Users whose two sides did not agree at first sight.
    async fn suspects(&self, id: ActivityId) -> Result<(BTreeSet<UserId>, bool), Error> {
        let mut users = BTreeSet::new();
        let mut page = 0;
        while let Some(buyers) = self.layers.stock.buyers_page(id, page).await? {
            for part in buyers.chunks(PageRequest::LIMIT_MAX as usize) {
                self.compare_part(id, part, &mut users).await?;
                if DIFFERENCES_MAX <= users.len() {
                    return Ok((users, true));
                }
            }
            page += 1;
        }
        let mut cursor = None;
        loop {
            let limit = PageRequest::LIMIT_MAX;
            let page = self.layers.ledger.records(id, PageRequest { cursor, limit }).await?;
            for record in page.rows {
                if self.layers.stock.buyer(id, &record.user).await?.is_none() {
                    users.insert(record.user);
                }
            }
            cursor = page.next;
            if DIFFERENCES_MAX <= users.len() {
                return Ok((users, true));
            }
            if cursor.is_none() {
                return Ok((users, false));
            }
        }
    }

    async fn compare_part(&self, id: ActivityId, buyers: &[Buyer], users: &mut BTreeSet<UserId>) -> Result<(), Error> {
        let names = buyers.iter().map(|buyer| buyer.user.clone()).collect();
        let records = self.layers.ledger.records_of(id, names).await?;
        let records: HashMap<_, _> = records.iter().map(|record| (&record.user, record)).collect();
        let differ = |buyer: &&Buyer| compare(Some(*buyer), records.get(&buyer.user).copied()).is_some();
        users.extend(buyers.iter().filter(differ).map(|buyer| buyer.user.clone()));
        Ok(())
    }

    /// Reads both sides of a suspect again until the store stood still meanwhile; none where they agree, or where a worker is about to make them agree.
    async fn confirm(&self, id: ActivityId, user: UserId) -> Result<Option<Suspect>, Error> {
        for _ in 0..READINGS_MAX {
            let buyer = self.layers.stock.buyer(id, &user).await?;
            let record = self.layers.ledger.record(id, &user).await?;
            let Some(kind) = compare(buyer.as_ref(), record.as_ref()) else {
                return Ok(None);
            };
            let Some(figures) = self.layers.stock.figures(id).await? else {
                // The store has forgotten the closed sale meanwhile: nobody is missing, there is nothing to compare.
                return Ok(None);
            };
            if kind.may_be_in_flight() && figures.leased_tickets != 0 {
                return Ok(None);
            }
            if buyer == self.layers.stock.buyer(id, &user).await? {
                return Ok(Some(Suspect {
                    user,
                    kind,
                    buyer,
                    record,
                }));
            }
        }
        Ok(None)
    }

    /// Units left on both sides; none while they can't be compared: tickets are on their way, or differences stand between them.
    pub(crate) async fn left(&self, id: ActivityId, found: &Found) -> Result<Option<Left>, Error> {
        let unsettled = |suspect: &Suspect| {
            !matches!(
                suspect.kind,
                DifferenceKind::RecordMissing | DifferenceKind::OrderMissing
            )
        };
        if found.truncated || found.movements != 0 || found.suspects.iter().any(unsettled) {
            return Ok(None);
        }
        let Some(reading) = self.reading(id).await?.filter(Reading::is_stable) else {
            return Ok(None);
        };
        let Reading { before, tally, .. } = &reading;
        let promised = before.queued + before.dead + found.units_lost();
        let left = Left {
            store: before.stock_left,
            ledger: tally.available.saturating_sub(promised),
        };
        // A ticket that was settled after it was compared counts on both sides, where no worker has it any more.
        let counts = left.store == left.ledger || self.is_whole(id, &reading).await?;
        Ok(counts.then_some(left))
    }
}
