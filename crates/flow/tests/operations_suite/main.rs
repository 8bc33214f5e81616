//! The operator's procedures on the real layers: embedded store and queue, SQLite ledger, a clock that moves when told to.

#[path = "embedded_engine.rs"]
mod engine;
#[path = "../../../ledger-sql/tests/shared/failing.rs"]
mod failing;
mod fragile;
#[path = "../../../engine-embedded/tests/shared/hanging.rs"]
mod hanging;
mod house;
mod shop;
mod trade;

mod after_the_write;
mod audit;
mod behind;
mod brake;
mod brake_hanging;
mod brake_resumed;
mod brake_twice;
mod brake_untold;
mod catalogue;
mod close;
mod crashes;
mod dead_letters;
mod forget;
mod lost_house;
mod lost_numbers;
mod orders;
mod preheat;
mod purchase;
mod reconcile;
mod reconcile_by_hand;
mod reconcile_units;
mod recover;
mod recover_store;
mod restored;
mod rounds;
mod schedule;
mod settlement;
mod units;

/// Shards of each sale.
const SHARDS: u16 = 1;
