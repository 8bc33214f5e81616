//! Tickets of lost states that this process holds, until a state has answered for each.

use std::collections::BTreeMap;
use std::mem;

use parking_lot::Mutex;
use seckill_sale::{ActivityId, Delivery, EpochMs};

/// Strays that are kept at most: as many as may wait for settlement by default.
const STRAYS_MAX: usize = 200_000;

/// A ticket that waits to be adopted.
pub(crate) struct Stray {
    pub(crate) delivery: Delivery,
    /// When the sale was created that it is of; none until it is looked for first.
    pub(crate) created_at: Option<EpochMs>,
    /// The ledger was told that it failed, or perhaps was.
    pub(crate) may_have_failed: bool,
}

/// Strays of all sales.
#[derive(Default)]
pub(crate) struct Strays(Mutex<Vec<Stray>>);

impl Strays {
    pub(crate) fn keep(&self, tickets: Vec<Delivery>, created_at: Option<EpochMs>) {
        let strays = tickets.into_iter().map(|delivery| Stray {
            delivery,
            created_at,
            may_have_failed: false,
        });
        self.keep_all(strays.collect());
    }

    pub(crate) fn keep_all(&self, more: Vec<Stray>) {
        let mut strays = self.0.lock();
        let room = STRAYS_MAX.saturating_sub(strays.len());
        for Stray { delivery: lost, .. } in more.iter().skip(room) {
            tracing::error!(ticket = %lost.ticket, user = lost.user.as_str(), "a ticket of a lost state is lost: too many wait to be adopted");
        }
        strays.extend(more.into_iter().take(room));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    pub(crate) fn take(&self) -> BTreeMap<ActivityId, Vec<Stray>> {
        let mut sales: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for stray in mem::take(&mut *self.0.lock()) {
            sales.entry(stray.delivery.ticket.activity).or_default().push(stray);
        }
        sales
    }
}
