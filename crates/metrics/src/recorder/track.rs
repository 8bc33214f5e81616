//! What is kept of one sale: 100 ms slots for its first ten minutes, wider ones for the rest, so that a sale of days takes no more room.

use std::ops::AddAssign;

use crate::OUTCOMES;

/// Length of a fine slot, in milliseconds.
pub const SLOT_MS: i64 = 100;
/// Fine slots: two minutes before the start and eight from it on.
pub const FINE_SLOTS_MAX: usize = 6_000;
/// Coarse slots behind them.
pub const COARSE_SLOTS_MAX: usize = 4_096;
/// Length of a coarse slot at first, in milliseconds; doubled, with neighbours put together, whenever all are full.
const COARSE_MS_FIRST: i64 = 1_000;

/// One slot of a sale, and of the node that sold it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Purchase requests of this sale by how they ended, in the order of the outcomes' words.
    pub outcomes: [u32; OUTCOMES],
    /// Orders of this sale that this node wrote.
    pub orders: u32,
    /// Units left at the end of the slot.
    pub stock_left: u32,
    /// Requests that this node answered, whatever for.
    pub requests: u32,
    /// Half of the node's purchases took no longer, in microseconds.
    pub p50_us: u32,
    /// 99 % of the node's purchases took no longer, in microseconds.
    pub p99_us: u32,
    /// Requests being answered.
    pub in_flight: u32,
    /// Tickets that waited for their order.
    pub queue_depth: u32,
    /// How long the oldest of them had waited, in milliseconds.
    pub oldest_ms: u32,
}

impl AddAssign for Slot {
    /// Puts a later slot to this one: counts are added up, of levels the highest is kept, of what is left the last.
    fn add_assign(&mut self, later: Self) {
        let counts = self.outcomes.iter_mut().zip(later.outcomes);
        counts.for_each(|(count, more)| *count = count.saturating_add(more));
        self.orders = self.orders.saturating_add(later.orders);
        self.requests = self.requests.saturating_add(later.requests);
        self.stock_left = later.stock_left;
        for (level, other) in [
            (&mut self.p50_us, later.p50_us),
            (&mut self.p99_us, later.p99_us),
            (&mut self.in_flight, later.in_flight),
            (&mut self.queue_depth, later.queue_depth),
            (&mut self.oldest_ms, later.oldest_ms),
        ] {
            *level = other.max(*level);
        }
    }
}

/// What was recorded of one sale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// When the first slot begins, in epoch milliseconds.
    pub begins_at_ms: i64,
    /// Slots of [`SLOT_MS`].
    pub fine: Vec<Slot>,
    /// Slots of [`Recording::coarse_ms`], from [`FINE_SLOTS_MAX`] fine ones on.
    pub coarse: Vec<Slot>,
    /// Length of a coarse slot, in milliseconds.
    pub coarse_ms: i64,
}

impl Recording {
    /// Most bytes that a recording takes: about 1.1 MB.
    pub const BYTES_MAX: usize = (FINE_SLOTS_MAX + COARSE_SLOTS_MAX) * size_of::<Slot>();

    pub(super) const fn new(begins_at_ms: i64) -> Self {
        Self {
            begins_at_ms,
            fine: Vec::new(),
            coarse: Vec::new(),
            coarse_ms: COARSE_MS_FIRST,
        }
    }

    /// Adds what happened up to `at_ms`. Nothing from before the beginning is kept; where nobody looked for a while, slots are empty.
    pub(super) fn add(&mut self, at_ms: i64, slot: Slot) {
        let Ok(since_ms) = u64::try_from(at_ms - self.begins_at_ms) else {
            return;
        };
        let fine = (since_ms / SLOT_MS.unsigned_abs()) as usize;
        if fine < FINE_SLOTS_MAX {
            put(&mut self.fine, fine, slot);
            return;
        }
        let since_ms = since_ms - FINE_SLOTS_MAX as u64 * SLOT_MS.unsigned_abs();
        let place = |coarse_ms: i64| usize::try_from(since_ms / coarse_ms.unsigned_abs()).unwrap_or(usize::MAX);
        while COARSE_SLOTS_MAX <= place(self.coarse_ms) {
            self.widen();
        }
        put(&mut self.coarse, place(self.coarse_ms), slot);
    }

    fn widen(&mut self) {
        let pairs = self.coarse.chunks(2).map(|pair| {
            let mut both = pair[0];
            pair.iter().skip(1).for_each(|later| both += *later);
            both
        });
        self.coarse = pairs.collect();
        self.coarse_ms = self.coarse_ms.saturating_mul(2);
    }
}

/// Puts a slot into its place, to what is there already; the places that were passed over have no counts and what was left before.
fn put(slots: &mut Vec<Slot>, place: usize, slot: Slot) {
    if place < slots.len() {
        slots[place] += slot;
        return;
    }
    let stock_left = slots.last().map_or(slot.stock_left, |last| last.stock_left);
    let empty = Slot {
        stock_left,
        ..Slot::default()
    };
    slots.resize(place, empty);
    slots.push(slot);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(requests: u32, in_flight: u32, stock_left: u32) -> Slot {
        Slot {
            requests,
            in_flight,
            stock_left,
            ..Slot::default()
        }
    }

    fn requests(slots: &[Slot]) -> Vec<u32> {
        slots.iter().map(|slot| slot.requests).collect()
    }

    #[test]
    fn slots_stand_at_their_moments_and_two_in_one_are_put_together() {
        let mut recording = Recording::new(1_000);
        for (at_ms, slot) in [
            (999, slot(99, 0, 0)),
            (1_000, slot(1, 5, 9)),
            (1_099, slot(2, 3, 8)),
            (1_310, slot(4, 0, 7)),
        ] {
            recording.add(at_ms, slot);
        }
        assert_eq!(
            recording.fine,
            [slot(3, 5, 8), slot(0, 0, 8), slot(0, 0, 8), slot(4, 0, 7)]
        );
        assert!(recording.coarse.is_empty());
    }

    #[test]
    fn a_long_sale_gets_wider_slots_and_loses_no_count() {
        let mut recording = Recording::new(0);
        let seconds = 600 + 3 * i64::try_from(COARSE_SLOTS_MAX).expect("small");
        for second in 0..seconds {
            recording.add(second * 1_000, slot(1, 0, 0));
        }
        assert_eq!(recording.fine.len() + 9, FINE_SLOTS_MAX, "the last nine had nothing");
        assert_eq!(recording.coarse_ms, 4_000);
        assert!(recording.coarse.len() <= COARSE_SLOTS_MAX);
        let kept: u32 = requests(&recording.fine)
            .iter()
            .chain(&requests(&recording.coarse))
            .sum();
        assert_eq!(i64::from(kept), seconds);
        assert!(recording.coarse.iter().all(|slot| slot.requests == 4));
    }

    #[test]
    fn a_sale_of_years_takes_no_more_room() {
        let mut recording = Recording::new(0);
        for day in 0..2_000 {
            recording.add(day * 86_400_000, slot(1, 0, 0));
        }
        assert!(recording.coarse.len() <= COARSE_SLOTS_MAX);
        const { assert!(Recording::BYTES_MAX < 1_200_000) };
        recording.add(i64::MAX, slot(1, 0, 0));
        assert!(recording.coarse.len() <= COARSE_SLOTS_MAX);
    }
}
