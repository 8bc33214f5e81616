//! The seeded simulator: drives the product through accidents, and an auditor of its own says whether a promise was broken.
//!
//! ```text
//! cargo run --release -p seckill-sim -- [--seed N] [--seeds COUNT] [--steps N] [--fault NAME] [--trace]
//! ```
//!
//! What runs is the product: purchase and its batcher, whose batches the engine forms when it begins with them, settlement, the operator's procedures, the scheduler, the embedded engine with its
//! journal, the ledger on SQLite (in memory, on the caller's thread). What is simulated is everything below and around it: the disk, which
//! loses, tears and reorders whatever was not synced, fills up and fails; the clock, also backwards; the database's outages; answers that
//! are lost; crashes between any two steps, and power losses in the middle of a write; poisoned tickets; people who ask again and again, also
//! where the gate would refuse them;
//! operators who pause, close, add units, patch, set switches and reconcile meanwhile; rounds that come
//! by themselves; compactions of
//! the journal, while the process is down and between its frames. SQLite itself is trusted: what it has committed stays.
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
//! - rounds and switches: a round is one activity · a round is as its schedule says · a round starts when its schedule says · a round is not
//!   made before its time · kept switches stay until they are changed · switches are changed one after another · switches are counted up ·
//!   switches stand as they were told · switches are never forgotten;
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
//! | `segment-too-many` | disk | a compaction beside the process removes a segment that it does not cover | the process does not start |
//! | `early-reply` | stock | a claim is answered before it is durable | a ticket has a second owner, or never ends |
//! | `ghost-buyer` | stock | an invented buyer is admitted beside a real one | a ticket without a request |
//! | `unit-too-many` | stock | a state is opened with one unit too many | the store admits more than the ledger has, or reconciliation says so |
//! | `guard-skipped` | stock, ledger | the same, and the stock row is not guarded | oversell, or reconciliation says so |
//! | `key-forgotten` | stock | a buyer's key is not kept | a ticket without a request by that key |
//! | `key-blurred` | stock | a buyer who is looked up has another key | the same request does not get the same ticket |
//! | `answers-swapped` | stock | the claims of one batch get each other's answers | a refusal does not say what is so, or a ticket has a second owner |
//! | `sold-out-early` | stock | "sold out" while a unit is left | sold out does not mean sold out |
//! | `window-ignored` | stock | the end of the window is not looked at | admitted outside of the window |
//! | `pause-ignored` | stock | a pause does not arrive | admitted while paused |
//! | `switches-forgotten` | stock | switches that are to be kept are not | kept switches do not stay |
//! | `added-twice` | stock | units of one movement arrive twice | the store admits more than the ledger has |
//! | `acked-early` | queue | tickets count as settled when handed out | a result that is told does not stand in the ledger |
//! | `delivery-dropped` | queue | one of the tickets handed out is lost | store and ledger do not know the same |
//! | `delivered-twice` | ledger | a redelivered ticket becomes a second order | two orders of one buyer |
//! | `movement-missing` | ledger | orders are written without their movement | a unit has no movement |
//! | `batch-lost` | ledger | a committed batch is gone | store and ledger do not know the same |
//! | `wrong-price` | ledger | orders cost another price | an order does not cost the sale's price |
//! | `round-twice` | ledger | a round of a recurring sale becomes two activities | a round is not one activity |
//! | `expires-paid` | ledger | paid orders expire | an order ends twice |
//! | `units-twice` | ledger | a cancelled order gives its units back twice | a product's units are not conserved |
//! | `reconcile-raises` | reconciliation | the units left are raised | the store admits more than the ledger has, or reconciliation says so |
//! | `requeue-lost` | stock | recovery forgets one of the tickets that it queues again | something is left to reconcile |
//!
//! # What it does not do
//!
//! No HTTP, no gate, no threads: what races between threads is not found here. What switches mean is the gate's and the console's business;
//! here they are text that must stay. A compaction beside the process has frames before and after it, not between two of its own writes.
//! No round is made after the copy of the database that is brought back at the end.

mod actions;
mod auditor;
mod compacting;
mod disk;
mod ending;
mod executor;
mod fault;
mod healing;
mod house;
mod ledger;
mod lies;
mod opening;
mod plan;
mod random;
mod recovery;
mod scenario;
mod starting;
mod store;
mod trace;
mod weather;
mod world;

pub use auditor::Violation;
pub use fault::{Fault, UnknownFault};
pub use plan::{Outcome, Plan, run};
