//! How the room for tickets is shared among sales: one that many come to leaves some of it to the others.
//!
//! ```text
//! ├───── tickets of all sales ─────┼──── kept for sales that have less than their part ────┼─ whose it is who comes first ─┤
//! 0                                                                                                                      most
//! ```
//! Half of the room is divided among the sales in equal parts. What a sale has not used of its part nobody else has, as far as it has units
//! for so many tickets; everything beyond goes to whoever comes first. So a sale alone has all of it, sales of a few hundred units take next to
//! nothing from a hot one, and there are never more tickets than may wait.

/// What one sale has of the queue, and may still bring into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InQueue {
    /// Tickets that wait.
    pub tickets: u64,
    /// Units that can be admitted; 0 while it takes no claims.
    pub units: u64,
}

impl InQueue {
    /// The same with what another part of the sale has.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            tickets: self.tickets + other.tickets,
            units: self.units + other.units,
        }
    }
}

/// The room of all sales.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rooms {
    most: u64,
    /// Part of each sale that is kept for it.
    kept: u64,
    /// Tickets, and what is kept besides, of all sales.
    sum: u64,
}

impl Rooms {
    /// While fewer tickets wait than this part of the room, none of the sales can be full.
    #[must_use]
    pub const fn is_ample(most: u64, tickets: u64) -> bool {
        tickets < most / 2
    }

    /// The room of `sales`, of which each stands there once, where `most` tickets may wait.
    #[must_use]
    pub fn of(most: u64, sales: impl Iterator<Item = InQueue> + Clone) -> Self {
        let count = sales.clone().filter(|sale| 0 < sale.tickets + sale.units).count() as u64;
        let kept = most / (2 * count.max(1));
        let rooms = Self { most, kept, sum: 0 };
        Self {
            sum: sales.map(|sale| rooms.taken_by(sale)).sum(),
            ..rooms
        }
    }

    /// Tickets that one of the sales may have in the queue, with those that it has.
    #[must_use]
    pub fn room(&self, sale: InQueue) -> u64 {
        self.most.saturating_sub(self.sum - self.taken_by(sale))
    }

    /// One of the sales has changed.
    pub fn change(&mut self, before: InQueue, after: InQueue) {
        self.sum = self.sum - self.taken_by(before) + self.taken_by(after);
    }

    fn taken_by(&self, sale: InQueue) -> u64 {
        let wanted = sale.tickets + sale.units;
        sale.tickets.max(self.kept.min(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn sale(tickets: u64, units: u64) -> InQueue {
        InQueue { tickets, units }
    }

    /// Room of each sale.
    fn rooms(most: u64, sales: &[InQueue]) -> Vec<u64> {
        let rooms = Rooms::of(most, sales.iter().copied());
        sales.iter().map(|sale| rooms.room(*sale)).collect()
    }

    #[test]
    fn a_sale_alone_has_all_of_it() {
        assert_eq!(rooms(100, &[sale(0, 1_000)]), [100]);
        assert_eq!(rooms(100, &[sale(100, 1_000), sale(0, 0)]), [100, 0]);
        assert_eq!(rooms(1, &[sale(0, 5)]), [1]);
    }

    #[test]
    fn a_hot_sale_leaves_the_others_an_equal_part_of_half_of_it() {
        assert_eq!(rooms(100, &[sale(75, 1_000), sale(0, 1_000)]), [75, 25]);
        assert_eq!(rooms(120, &[sale(0, 900), sale(5, 900), sale(30, 900)]), [70, 70, 80]);
    }

    #[test]
    fn no_more_is_kept_than_a_sale_has_units_for() {
        assert_eq!(rooms(100, &[sale(90, 1_000), sale(2, 3), sale(0, 0)]), [95, 10, 5]);
    }

    #[test]
    fn a_sale_that_filled_it_before_the_other_began_takes_no_more_until_there_is_room_for_both() {
        assert_eq!(rooms(100, &[sale(100, 1_000), sale(0, 1_000)]), [75, 0]);
        assert_eq!(rooms(100, &[sale(90, 1_000), sale(0, 1_000)]), [75, 10]);
    }

    #[test]
    fn however_sales_fill_it_there_are_never_more_tickets_than_may_wait_and_each_gets_its_part() {
        for (most, count) in [(1, 2), (7, 3), (100, 4), (100, 60)] {
            let mut sales = vec![sale(0, 1_000); count];
            let mut rooms = Rooms::of(most, sales.iter().copied());
            for one in &mut sales {
                while one.tickets < rooms.room(*one) {
                    let before = *one;
                    *one = sale(before.tickets + 1, before.units - 1);
                    rooms.change(before, *one);
                }
            }
            assert_eq!(rooms, Rooms::of(most, sales.iter().copied()), "counted alike");
            let tickets: Vec<_> = sales.iter().map(|sale| sale.tickets).collect();
            assert_eq!(tickets.iter().sum::<u64>(), most, "{tickets:?}");
            assert!(
                tickets.iter().all(|tickets| most / (2 * count as u64) <= *tickets),
                "{tickets:?}"
            );
        }
    }

    #[test]
    fn while_it_is_ample_no_sale_is_full() {
        for tickets in 0..50 {
            let sales = [sale(tickets, 9), sale(0, 1_000), sale(0, 1_000)];
            let is_full = |(sale, room): (&InQueue, u64)| room <= sale.tickets;
            let full = sales.iter().zip(rooms(100, &sales)).any(is_full);
            assert!(Rooms::is_ample(100, tickets) && !full, "{tickets}");
        }
    }
}
