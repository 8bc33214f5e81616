//! Workloads whose machine instructions are counted: claim, gate and settle, each through the product's own public interfaces.
//!
//! A count does not waver as a time does, so a regression shows on a busy machine. `cargo xtask instructions` runs each scenario under
//! valgrind's callgrind, which counts what happens inside of [`counted`] and nothing else, and compares the counts with
//! `benches/instructions.toml`. What the kernel does is not counted: a write to the disk costs its system call here, and no more.
//!
//! [`growth`] is the one measurement in time: the longest pause while the buyers' map grows.

mod claim;
mod counted;
mod gate;
pub mod growth;
mod people;
mod polling;
mod scenarios;
mod settle;
mod store;
mod timed_disk;

pub use counted::counted;
pub use scenarios::{Prepared, SCENARIOS, Scenario, find};
