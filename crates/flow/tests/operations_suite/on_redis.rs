//! The operator's procedures once more, on the engine that keeps its state in a Redis.
//!
//! A disk that hangs is the embedded one's; what it needs of the suite's support is not used here.

#![expect(dead_code, reason = "the support is that of both suites")]

#[path = "redis_engine.rs"]
mod engine;
#[path = "../../../ledger-sql/tests/shared/failing.rs"]
mod failing;
mod fragile;
mod house;
mod shop;
mod trade;

mod audit;
mod brake;
mod catalogue;
mod close;
mod crashes;
mod cut_off;
mod dead_letters;
mod forget;
mod healing;
mod healing_brake;
mod healing_epochs;
mod healing_grace;
mod healing_healers;
mod healing_house;
mod healing_load;
mod healing_rush;
mod healing_server;
mod healing_twice;
mod healing_waiting;
mod healing_worker;
mod lost_epochs;
mod lost_house;
mod lost_numbers;
mod lost_offers;
mod orders;
mod preheat;
mod preheat_twice;
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
