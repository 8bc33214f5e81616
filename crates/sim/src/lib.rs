//! The seeded simulator: drives the product through accidents, and an auditor of its own says whether a promise was broken.
//!
//! ```text
//! cargo run --release -p seckill-sim -- [--seed N] [--seeds COUNT] [--steps N] [--fault NAME] [--trace]
//! ```
//!
//! What runs is the product: purchase and its batcher, whose batches the engine forms when it begins with them, settlement, the operator's procedures, the scheduler, the embedded engine with its
//! journal, the ledger on SQLite (in memory, on the caller's thread). What is simulated is everything below and around it: the disk, which
//! loses, tears and reorders whatever was not synced, fills up and fails; the clock, also backwards; the database's outages; answers that
//! are lost; crashes between any two steps, and power losses in the middle of a write; poisoned tickets; people who ask again and again;
//! operators who pause, close, add units, patch and reconcile meanwhile. SQLite itself is trusted: what it has committed stays.
//!
//! All of it follows from one seed: one thread, no timer, no randomness of the system. Hash maps of the product whose order differs from
//! run to run are read in order (`store.rs`). A step is one poll of one task that was woken, one turn of the store, or one thing that begins
//! or fails. A run leaves some things out, so that others happen more often in it (`scenario.rs`). At the end all heals; strangers buy
//! until nothing is left; the database is restored from a copy that knows nothing of them, and recovered; what waits is worked off; and
//! everything is compared, before and after a last loss of power and a compaction, and once more after the journal was lost as a whole
//! and built again. Recovery dies in the middle, too, and is begun again.
//!
//! # The auditor
//!
//! He shares no code with the product: he reads the rows by SQL of his own after every commit, keeps what everybody was told, and states
//! the promises anew (`auditor/`). His rules, as the violations name them:
//!
//! - units: no oversell · units are conserved · a product's units are conserved · every unit has a movement · units come back once ·
//!   units are added once by each key · movements are never changed · nobody gives units but the operator · every movement reaches the
//!   store · the store never admits more than the ledger has;
//! - tickets: a buyer is admitted once · a buyer's ticket is the same for ever · the same request gets the same ticket · a ticket has one
//!   owner · no ticket without a request · every accepted ticket ends · a ticket has one end · every admission has a record · a ticket
//!   carries the moment of its admission · a ticket can always be looked up · a final result stays · a result that is told stands in the
//!   ledger · the number of those ahead never rises;
//! - admission: admitted within the window only · nobody is admitted once a sale is paused or closed · nobody gets more than the limit ·
//!   sold out means sold out · a refusal says what is so · a holder is never told that it is sold out;
//! - orders: one order of a buyer · an order ends once and is never changed · an order costs the sale's price by its quantity · every order
//!   has the record of its ticket · an order is paid before its deadline or expires after it · an order is paid once, by what it costs ·
//!   money is booked as its payer was told · a wrong amount is refused;
//! - the house: a journal can be read as it was written · the process starts · the product never panics · everybody is answered · nothing
//!   waits when all is quiet · store and ledger know the same · the product's audit balances · nothing is left to reconcile · the ledger is
//!   written first · a dead letter is resolved once · an older database is noticed ·
//!   recovery can be done.
//!
//! # Planted faults
//!
//! Each is switched on by `--fault`, and lies in a wrapper around a contract or in the disk, never in the product. A test plants each and
//! wants it found.
//!
//! "Found as" says how most seeds find it; the test asks only that one of its seeds does.
//!
//! | fault | planted in | what happens | found as |
//! |---|---|---|---|
//! | `sync-lies` | disk | a sync is acknowledged and not done | the journal or an accepted ticket is gone after a power loss |
//! | `frame-lost` | disk | the last synced write is gone after a crash | a ticket has a second owner, or never ends |
//! | `early-reply` | stock | a claim is answered before it is durable | a ticket has a second owner, or never ends |
//! | `ghost-buyer` | stock | an invented buyer is admitted beside a real one | a ticket without a request |
//! | `unit-too-many` | stock | a state is opened with one unit too many | the store admits more than the ledger has, or reconciliation says so |
//! | `guard-skipped` | stock, ledger | the same, and the stock row is not guarded | oversell, or reconciliation says so |
//! | `key-forgotten` | stock | a buyer's key is not kept | a ticket without a request by that key |
//! | `answers-swapped` | stock | the claims of one batch get each other's answers | a refusal does not say what is so, or a ticket has a second owner |
//! | `sold-out-early` | stock | "sold out" while a unit is left | sold out does not mean sold out |
//! | `window-ignored` | stock | the end of the window is not looked at | admitted outside of the window |
//! | `pause-ignored` | stock | a pause does not arrive | admitted while paused |
//! | `added-twice` | stock | units of one movement arrive twice | the store admits more than the ledger has |
//! | `acked-early` | queue | tickets count as settled when handed out | a result that is told does not stand in the ledger |
//! | `delivery-dropped` | queue | one of the tickets handed out is lost | store and ledger do not know the same |
//! | `delivered-twice` | ledger | a redelivered ticket becomes a second order | two orders of one buyer |
//! | `movement-missing` | ledger | orders are written without their movement | a unit has no movement |
//! | `batch-lost` | ledger | a committed batch is gone | store and ledger do not know the same |
//! | `wrong-price` | ledger | orders cost another price | an order does not cost the sale's price |
//! | `expires-paid` | ledger | paid orders expire | an order ends twice |
//! | `units-twice` | ledger | a cancelled order gives its units back twice | a product's units are not conserved |
//! | `reconcile-raises` | reconciliation | the units left are raised | the store admits more than the ledger has, or reconciliation says so |
//! | `requeue-lost` | stock | recovery forgets one of the tickets that it queues again | something is left to reconcile |
//!
//! # What it does not do
//!
//! No HTTP, no gate, no threads: what races between threads is not found here.

mod actions;
mod auditor;
mod disk;
mod ending;
mod executor;
mod fault;
mod healing;
mod house;
mod ledger;
mod lies;
mod opening;
mod random;
mod recovery;
mod scenario;
mod store;
mod trace;
mod weather;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

pub use auditor::Violation;
pub use fault::{Fault, UnknownFault};

use random::Random;
use scenario::BEGINS;
use trace::Trace;
use weather::Weather;
use world::World;

/// What is to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Everything follows from it.
    pub seed: u64,
    /// Steps before all heals.
    pub steps: u32,
    /// A fault that is planted.
    pub fault: Option<Fault>,
    /// Lines of the trace that are kept.
    pub lines_max: usize,
}

impl Plan {
    /// Steps of a run where nobody says otherwise.
    pub const STEPS: u32 = 1_500;
    /// Lines that are kept where nobody says otherwise.
    pub const LINES: usize = 60;

    /// The run of a seed.
    #[must_use]
    pub const fn of_seed(seed: u64) -> Self {
        Self {
            seed,
            steps: Self::STEPS,
            fault: None,
            lines_max: Self::LINES,
        }
    }

    /// The same run with a fault planted.
    #[must_use]
    pub const fn with_fault(self, fault: Fault) -> Self {
        Self {
            fault: Some(fault),
            ..self
        }
    }
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The promise that was broken.
    pub violation: Option<Violation>,
    /// The last lines of the trace.
    pub trace: Vec<String>,
    /// A digest of the whole trace: equal for equal plans.
    pub digest: u64,
}

/// Runs a plan to its end, or to the first promise that is seen broken.
#[must_use]
pub fn run(plan: &Plan) -> Outcome {
    let weather = Arc::new(Weather::new(
        Random::new(plan.seed ^ 0x5EED),
        Trace::new(plan.lines_max),
        plan.fault,
        BEGINS,
    ));
    let carried_out = catch_unwind(AssertUnwindSafe(|| {
        let mut world = World::new(plan.seed, weather.clone());
        opening::make_sales(&mut world);
        world.run(plan.steps);
        world.end();
        world.auditor.borrow().violation().cloned()
    }));
    let violation = carried_out.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Some(Violation {
            rule: "the product never panics",
            detail: text.to_owned(),
            step: weather.step(),
        })
    });
    Outcome {
        violation,
        trace: weather.lines(),
        digest: weather.digest(),
    }
}
