//! Finds differences: pages through the store beside the ledger, then through the ledger beside the store, then reads each suspect again.
//!
//! The ledger is always written before the store. So the store is read first when looking for results that the ledger lacks, and the
//! ledger first when looking for buyers that the store lacks: what is merely on its way is then never missed on the other side.

use std::collections::{BTreeSet, HashMap};

use seckill_ledger::{LedgerRecord, PageRequest};
use seckill_sale::{ActivityId, Buyer, UserId};

use super::compare::{compare, ledger_side, store_side};
use super::{DIFFERENCES_MAX, Difference, DifferenceKind};
use crate::audit::Reading;
use crate::{Error, Operator};

/// Readings of one suspect before it is left to the next run.
const READINGS_MAX: u32 = 4;

/// A buyer on whom both sides differ, as last read.
pub(crate) struct Suspect {
    pub(crate) user: UserId,
    pub(crate) kind: DifferenceKind,
    pub(crate) buyer: Option<Buyer>,
    pub(crate) record: Option<LedgerRecord>,
}

impl Suspect {
    pub(crate) fn difference(&self) -> Difference {
        let ticket = self.buyer.as_ref().map(|buyer| buyer.ticket);
        Difference {
            user: Some(self.user.clone()),
            ticket: ticket.or(self.record.as_ref().map(|record| record.ticket)),
            kind: self.kind,
            store: store_side(self.buyer.as_ref()),
            ledger: ledger_side(self.record.as_ref()),
            fixed: false,
        }
    }
}

/// Units left as the ledger would have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) store: u64,
    pub(crate) ledger: u64,
}

impl Left {
    pub(crate) fn difference(self) -> Option<Difference> {
        let kind = match self.store.cmp(&self.ledger) {
            std::cmp::Ordering::Greater => DifferenceKind::LeftTooHigh,
            std::cmp::Ordering::Less => DifferenceKind::LeftTooLow,
            std::cmp::Ordering::Equal => return None,
        };
        Some(of_sale(
            kind,
            format!("{} left", self.store),
            format!("{} left", self.ledger),
        ))
    }
}

/// Everything that differs.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) suspects: Vec<Suspect>,
    pub(crate) movements: usize,
    pub(crate) left: Option<Left>,
    pub(crate) truncated: bool,
}

impl Found {
    pub(crate) fn differences(&self) -> Vec<Difference> {
        let mut differences: Vec<_> = self.suspects.iter().map(Suspect::difference).collect();
        differences.extend(unapplied(self.movements));
        differences.extend(self.left.and_then(Left::difference));
        differences
    }

    /// Units of tickets that the store counts as sold and the ledger as unsold.
    pub(crate) fn units_lost(&self) -> u64 {
        let lost = self
            .suspects
            .iter()
            .filter(|suspect| suspect.kind == DifferenceKind::RecordMissing);
        lost.filter_map(|suspect| suspect.buyer.as_ref())
            .map(|buyer| buyer.quantity.get())
            .sum()
    }
}

/// A difference of the whole sale.
fn of_sale(kind: DifferenceKind, store: String, ledger: String) -> Difference {
    Difference {
        user: None,
        ticket: None,
        kind,
        store,
        ledger,
        fixed: false,
    }
}

pub(crate) fn unapplied(movements: usize) -> Option<Difference> {
    let ledger = || format!("{movements} movements more");
    (movements != 0).then(|| of_sale(DifferenceKind::MovementsUnapplied, String::new(), ledger()))
}

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
            let figures = self.layers.stock.figures(id).await?;
            let leased = figures.is_none_or(|figures| figures.leased_tickets != 0);
            if kind.may_be_in_flight() && leased {
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
        let reading = self.reading(id).await?.filter(Reading::is_stable);
        Ok(reading.map(|Reading { before, tally, .. }| Left {
            store: before.stock_left,
            ledger: tally
                .available
                .saturating_sub(before.queued + before.dead + found.units_lost()),
        }))
    }
}
