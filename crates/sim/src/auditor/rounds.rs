//! Rounds of recurring sales: each is one activity, as its schedule has it, from the commit on in which it stands.

use super::{Auditor, Books, Sale};

/// Starts of rounds are this far apart, in milliseconds: every schedule of a run says `* * * * *`.
const MINUTE_MS: i64 = 60_000;

/// A recurring sale as it was asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recurring {
    pub(crate) product: i64,
    pub(crate) price_cents: i64,
    pub(crate) units: i64,
    pub(crate) limit: i64,
    /// How long each round lasts.
    pub(crate) length_ms: i64,
    /// How long before its start it is made.
    pub(crate) lead_ms: i64,
}

impl Auditor {
    pub(crate) fn add_schedule(&mut self, schedule: i64, recurring: Recurring) {
        self.schedules.insert(schedule, recurring);
    }

    /// Sales that the last commit has added to those which are known.
    pub(crate) fn unknown_sales(&self) -> Vec<i64> {
        let all = self.books.rounds.keys();
        all.filter(|activity| !self.sales.contains_key(activity))
            .copied()
            .collect()
    }

    /// Takes up the rounds that were made; from then on they are sales like others.
    pub(super) fn check_rounds(&mut self, books: &Books) {
        let latest = self.latest_moment();
        for activity in self.unknown_sales() {
            let row = books.rounds[&activity];
            let Some((schedule, start)) = row.round else {
                self.fail("a round is one activity", format!("activity {activity}: {row:?}"));
                return;
            };
            let same = books.rounds.values().filter(|other| other.round == row.round).count();
            let Some(wanted) = self.schedules.get(&schedule).copied() else {
                self.fail("a round has a schedule", format!("activity {activity}: {row:?}"));
                return;
            };
            let detail = || format!("activity {activity}: {row:?}, {wanted:?}");
            self.check(same == 1, "a round is one activity", detail);
            self.check(start % MINUTE_MS == 0, "a round starts when its schedule says", detail);
            self.check(
                start - wanted.lead_ms <= latest,
                "a round is not made before its time",
                detail,
            );
            let lasts = row.starts_at == start && row.ends_at == start + wanted.length_ms;
            let sells = (row.product, row.price, row.limit) == (wanted.product, wanted.price_cents, wanted.limit);
            self.check(lasts && sells, "a round is as its schedule says", detail);
            let window = (start, start + wanted.length_ms);
            let sale = Sale::new(wanted.product, wanted.price_cents, wanted.units, wanted.limit, window);
            self.add_sale(activity, sale);
        }
    }
}
