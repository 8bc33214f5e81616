//! Purchases under way on one core: those that wait for their body, or for the store; signed requests until their signature is checked, and
//! answers to challenges, count with them. Past their number whoever comes hears at once that it is too busy, before his token is looked at.
//!
//! One sale cannot keep another waiting outside: it may have [`TIMES_FREE`] times as many under way as there is room left. So one alone has
//! seven eighths of all, two of them seven fifteenths each, and the last eighth, or fifteenth, is there for whoever comes next:
//!
//! ```text
//! ├──────────── a sale whose store hangs ────────────┼─ free ─┤    ├──────── one ────────┼─────── another ─────┼ free ┤
//! 0                                                  ⅞      most   0                     ⁷⁄₁₅                  ¹⁴⁄₁₅ most
//! ```
//! The room for tickets (`seckill_sale::Rooms`) keeps a part for each sale that has units; here nobody knows who will come, and what is
//! free serves them all: no list of sales is kept, and however many there are, the first of each finds a place.
//!
//! A sale is counted in a place of its own, which is its own for as long as somebody is at it, and then until another sale wants it; so no
//! table grows. The path is read before its sale is known to exist. Whatever is not on sale now or soon, such as ids that somebody made up, and
//! what belongs to no sale, is counted in one place together, and takes no more than a sale.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use seckill_metrics::ShedReason;
use seckill_sale::{Activity, ActivityId, EpochMs, Refusal, Status};

use crate::call::Call;

/// So many times what is free may be under way for one sale.
const TIMES_FREE: usize = 7;
/// Places among which a sale looks for its own: those that the last bits of its id name. More sales at once whose ids agree in them share.
const WAYS: usize = 8;
const SETS: usize = 16;
const PLACES: usize = SETS * WAYS;
/// A sale that begins within this time, in milliseconds, counts as on sale: its first buyers come ahead of it.
const SOON_MS: i64 = 10 * 60 * 1000;

/// How many there are. Written by its own core alone, so it stands on cache lines that no other writes. Were two to write, sales would share
/// a place, and every count would still be given back.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct InFlight {
    all: AtomicUsize,
    /// What has no place of its own.
    others: AtomicUsize,
    places: [Place; PLACES],
}

#[derive(Debug, Default)]
struct Place {
    /// Whose it is, or was.
    sale: AtomicU64,
    under_way: AtomicUsize,
}

impl Default for InFlight {
    fn default() -> Self {
        Self {
            all: AtomicUsize::new(0),
            others: AtomicUsize::new(0),
            places: std::array::from_fn(|_| Place::default()),
        }
    }
}

/// Where a purchase is counted; none: among the others.
type Counted = Option<usize>;

impl InFlight {
    /// The place of a sale: its own, or else one that it takes where `is_on_sale` says so.
    fn place(&self, sale: ActivityId, is_on_sale: impl FnOnce(ActivityId) -> bool) -> Counted {
        let id = sale.get();
        let (set, home) = (id as usize % SETS * WAYS, id as usize / SETS);
        let at = |way: usize| set + (home + way) % WAYS;
        if let Some(own) = (0..WAYS).map(at).find(|&at| self.places[at].sale.load(Relaxed) == id) {
            return Some(own);
        }
        if !is_on_sale(sale) {
            return None;
        }
        let is_left = |&at: &usize| self.places[at].under_way.load(Relaxed) == 0;
        let Some(left) = (0..WAYS).map(at).find(is_left) else {
            return Some(at(0));
        };
        self.places[left].sale.store(id, Relaxed);
        Some(left)
    }

    fn under_way(&self, at: Counted) -> &AtomicUsize {
        at.map_or(&self.others, |at| &self.places[at].under_way)
    }

    /// Whether one more may be under way there, where `most` may be in all; `mine` of those that are counted is the one that asks.
    fn has_room(&self, at: Counted, most: usize, mine: usize) -> bool {
        let count = |counted: &AtomicUsize| counted.load(Relaxed).saturating_sub(mine);
        let free = most.saturating_sub(count(&self.all));
        count(self.under_way(at)) < free.saturating_mul(TIMES_FREE)
    }

    fn enter(&self, at: Counted) {
        self.all.fetch_add(1, Relaxed);
        self.under_way(at).fetch_add(1, Relaxed);
    }

    fn leave(&self, at: Counted) {
        self.all.fetch_sub(1, Relaxed);
        self.under_way(at).fetch_sub(1, Relaxed);
    }
}

/// Whether people may buy of it, or come ahead of its start.
fn is_on_sale(activity: &Activity, now: EpochMs) -> bool {
    let window = activity.window;
    matches!(activity.status, Status::Running | Status::Paused)
        && window.starts_at.plus(-SOON_MS) <= now
        && now < window.ends_at
}

/// A purchase that is under way until this is dropped.
pub(crate) struct UnderWay(pub(crate) Call, Counted);

impl UnderWay {
    /// `sale`: none where it is not known, or there is none.
    pub(crate) fn begin(call: Call, sale: Option<ActivityId>) -> Self {
        let at = call.counted(sale);
        call.core.in_flight.enter(at);
        Self(call, at)
    }

    /// It turned out to be for this sale.
    pub(crate) fn is_for(&mut self, sale: Option<ActivityId>) {
        let (at, in_flight) = (self.0.counted(sale), &self.0.core.in_flight);
        in_flight.enter(at);
        in_flight.leave(self.1);
        self.1 = at;
    }

    /// Whether it may be under way besides those there are.
    ///
    /// # Errors
    /// [`Refusal::Busy`].
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        self.0.has_room(self.1, 1)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.core.in_flight.leave(self.1);
    }
}

impl Call {
    /// Whether one more purchase of this sale may be under way besides those there are.
    ///
    /// # Errors
    /// [`Refusal::Busy`].
    pub(crate) fn check_in_flight(&self, sale: Option<ActivityId>) -> Result<(), Refusal> {
        self.has_room(self.counted(sale), 0)
    }

    fn counted(&self, sale: Option<ActivityId>) -> Counted {
        let catalogue = self.shared().gate.catalogue();
        let now = self.moment.now;
        let is_on_sale = |sale| catalogue.has(sale, |activity| is_on_sale(activity, now));
        self.core.in_flight.place(sale?, is_on_sale)
    }

    fn has_room(&self, at: Counted, mine: usize) -> Result<(), Refusal> {
        if self
            .core
            .in_flight
            .has_room(at, self.shared().settings.in_flight_max, mine)
        {
            return Ok(());
        }
        self.shared().metrics.shed.inc(self.core.index, ShedReason::InFlight);
        Err(Refusal::Busy)
    }
}

#[cfg(test)]
#[path = "in_flight_tests.rs"]
mod tests;
