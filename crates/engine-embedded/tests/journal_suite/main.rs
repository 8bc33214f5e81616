//! The journal on real folders and on a simulated disk: what it keeps, what it cuts, what it refuses.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod ahead;
mod compaction;
mod damage;
mod disk;
mod faults;
mod fixture;
mod lock;
mod power_loss;
mod simulation;
mod start;
