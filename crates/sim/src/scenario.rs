//! What kind of run a seed makes: how many people and units, what goes wrong and how often. Each run leaves some things out, so that others
//! happen more often in it.

mod actions;

use seckill_ledger::UnitsOnCancel;

use crate::random::Random;

pub(crate) use actions::Action;
use actions::{OPTIONAL, WEIGHTS};

/// Moment at which every run begins.
pub(crate) const BEGINS: i64 = 1_700_000_000_000;

/// Units of the product before anything is taken.
pub(crate) const PRODUCT_UNITS: u64 = 200;

/// How long an order waits for its payment, in milliseconds.
pub(crate) const PAY_WITHIN_MS: i64 = 40_000;

/// One sale of a run.
#[derive(Debug, Clone)]
pub(crate) struct SalePlan {
    pub(crate) units: u64,
    pub(crate) limit: u64,
    pub(crate) price_cents: u64,
    pub(crate) starts_at: i64,
    pub(crate) ends_at: i64,
}

/// A recurring sale of a run: a round every minute.
#[derive(Debug, Clone)]
pub(crate) struct RecurringPlan {
    pub(crate) units: u64,
    pub(crate) limit: u64,
    pub(crate) price_cents: u64,
    pub(crate) length_ms: i64,
    pub(crate) lead_ms: i64,
}

/// A kind of run.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) sales: Vec<SalePlan>,
    pub(crate) recurring: Option<RecurringPlan>,
    pub(crate) users: u64,
    pub(crate) units_on_cancel: UnitsOnCancel,
    pub(crate) discard_after_end: bool,
    pub(crate) batch_size_max: usize,
    pub(crate) attempts_max: u32,
    pub(crate) backlog_max: u64,
    pub(crate) waiting_max: usize,
    pub(crate) pauses_permille: u64,
    pub(crate) advance_ms_max: u64,
    weights: Vec<(Action, u64)>,
}

impl Scenario {
    pub(crate) fn new(random: &mut Random) -> Self {
        let sales = (0..random.between(1, 2)).map(|_| SalePlan::new(random)).collect();
        let left_out: Vec<Action> = OPTIONAL.iter().copied().filter(|_| random.chance(350)).collect();
        let weights = WEIGHTS.iter().filter(|(action, _)| !left_out.contains(action));
        Self {
            sales,
            recurring: random.chance(400).then(|| RecurringPlan::new(random)),
            users: random.between(4, 24),
            units_on_cancel: if random.chance(500) {
                UnitsOnCancel::Sale
            } else {
                UnitsOnCancel::Product
            },
            discard_after_end: random.chance(300),
            batch_size_max: *random.pick(&[1, 3, 16]),
            attempts_max: *random.pick(&[1, 3]),
            backlog_max: *random.pick(&[4, 200_000]),
            waiting_max: *random.pick(&[2, 64]),
            pauses_permille: *random.pick(&[0, 300, 700]),
            advance_ms_max: *random.pick(&[20, 1_000, 20_000]),
            weights: weights.copied().collect(),
        }
    }

    pub(crate) fn action(&self, random: &mut Random) -> Action {
        let sum: u64 = self.weights.iter().map(|(_, weight)| weight).sum();
        let mut at = random.below(sum);
        for &(action, weight) in &self.weights {
            if at < weight {
                return action;
            }
            at -= weight;
        }
        Action::Buy
    }
}

impl SalePlan {
    fn new(random: &mut Random) -> Self {
        let starts_at = BEGINS + *random.pick(&[-1_000, 500, 12_000]);
        Self {
            units: random.between(1, 9),
            limit: random.between(1, 2),
            price_cents: random.between(1, 99_999),
            starts_at,
            ends_at: starts_at + *random.pick(&[10_000, 120_000, 3_600_000]),
        }
    }
}

impl RecurringPlan {
    fn new(random: &mut Random) -> Self {
        Self {
            // Some leave the product short after a few rounds.
            units: *random.pick(&[2, 5, 60]),
            limit: random.between(1, 2),
            price_cents: random.between(1, 99_999),
            length_ms: *random.pick(&[20_000, 60_000, 150_000]),
            lead_ms: *random.pick(&[0, 5_000, 30_000]),
        }
    }
}
