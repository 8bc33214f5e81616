//! The auditor: keeps what clients were told, reads the ledger's rows by SQL of his own, and says what must not be.
//!
//! He shares no code with the product. He knows its tables and its public answers, and states its promises anew:
//! - `answers`: each answer against all that was answered before;
//! - `replays`: answers to requests that claim nothing; `rounds`: sales that come by themselves; `switches`: those that store and ledger keep;
//! - `commits`: the rows after every commit, against themselves, against the rows before, and against the requests;
//! - `end`: everything, when all has healed and nothing waits any more.

mod answers;
mod commands;
mod commits;
mod end;
mod history;
mod order_number;
mod replays;
mod rounds;
mod rows;
mod switches;
mod time;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::weather::Weather;

pub(crate) use end::{SaleAtEnd, StoreBuyer};
pub(crate) use history::{Answer, End, Progress, Status};
pub(crate) use replays::Replay;
pub(crate) use rounds::Recurring;
pub(crate) use rows::{Books, TicketNumber};

use history::{Given, Holding, Request, SoldOut};

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The promise, in a few words.
    pub rule: &'static str,
    /// What was seen.
    pub detail: String,
    /// The step at which it was seen.
    pub step: u64,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: {}: {}", self.step, self.rule, self.detail)
    }
}

/// What the auditor knows of a sale from those who made and run it.
#[derive(Debug)]
pub(crate) struct Sale {
    pub(crate) product: i64,
    pub(crate) price_cents: i64,
    pub(crate) units: i64,
    pub(crate) limit: i64,
    pub(crate) starts_at: i64,
    ends: Vec<Given<i64>>,
    statuses: Vec<Given<Status>>,
    /// Units of each addition, by its idempotency key; whether its operator was told that it is done.
    added: BTreeMap<String, (i64, bool)>,
}

impl Sale {
    pub(crate) fn new(product: i64, price_cents: i64, units: i64, limit: i64, window: (i64, i64)) -> Self {
        Self {
            product,
            price_cents,
            units,
            limit,
            starts_at: window.0,
            ends: vec![Given::from_the_start(window.1)],
            statuses: vec![Given::from_the_start(Status::Running)],
            added: BTreeMap::new(),
        }
    }
}

/// See the module.
pub(crate) struct Auditor {
    weather: Arc<Weather>,
    violation: Option<Violation>,
    sales: BTreeMap<i64, Sale>,
    schedules: BTreeMap<i64, Recurring>,
    /// Units of each product before anything was taken.
    products: BTreeMap<i64, i64>,
    requests: Vec<Request>,
    holdings: BTreeMap<(i64, String), Holding>,
    owners: BTreeMap<TicketNumber, String>,
    sold_out: Vec<SoldOut>,
    refused_last: bool,
    ends: BTreeMap<(i64, String), (u64, End)>,
    ahead: BTreeMap<(i64, String), (u64, u64)>,
    revived: bool,
    /// Payments that somebody was told of: by id, whether it paid.
    payments: BTreeMap<String, bool>,
    commands: Vec<commands::Command>,
    /// The clock at each step at which it changed.
    clock: Vec<(u64, i64)>,
    /// Switches that the store was to keep, in the order of asking.
    kept_switches: Vec<Given<Option<String>>>,
    /// Switches that an operator was told stand in the ledger, by their revision.
    told_switches: BTreeMap<i64, String>,
    books: Books,
}

impl Auditor {
    pub(crate) fn new(weather: Arc<Weather>, now_ms: i64) -> Self {
        Self {
            weather,
            violation: None,
            sales: BTreeMap::new(),
            schedules: BTreeMap::new(),
            products: BTreeMap::new(),
            requests: Vec::new(),
            holdings: BTreeMap::new(),
            owners: BTreeMap::new(),
            sold_out: Vec::new(),
            refused_last: false,
            ends: BTreeMap::new(),
            ahead: BTreeMap::new(),
            revived: false,
            payments: BTreeMap::new(),
            commands: Vec::new(),
            clock: vec![(0, now_ms)],
            kept_switches: vec![Given::from_the_start(None)],
            told_switches: BTreeMap::new(),
            books: Books::default(),
        }
    }

    pub(crate) fn add_product(&mut self, product: i64, units: i64) {
        self.products.insert(product, units);
    }

    pub(crate) fn add_sale(&mut self, activity: i64, sale: Sale) {
        self.sales.insert(activity, sale);
    }

    /// The first promise that was seen broken.
    pub(crate) const fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// The rows of the last commit.
    pub(crate) const fn books(&self) -> &Books {
        &self.books
    }

    pub(crate) fn fail(&mut self, rule: &'static str, detail: String) {
        if self.violation.is_none() {
            let step = self.weather.step();
            self.weather.note(&format!("VIOLATION {rule}: {detail}"));
            self.violation = Some(Violation { rule, detail, step });
        }
    }

    fn check(&mut self, holds: bool, rule: &'static str, detail: impl FnOnce() -> String) {
        if !holds {
            self.fail(rule, detail());
        }
    }
}
