//! The ledger on SQL databases. Each database has a folder of its own with the same file names and, as far as the dialects allow,
//! the same queries; its tables are in `migrations/`. Decisions that need no database are made in files beside the folders.
//!
//! Not here: what the methods promise (that is the contract, in `seckill-ledger`) and when they are called.

mod settle_plan;
mod sqlite;

pub use sqlite::{Options, Sqlite, Threads};
