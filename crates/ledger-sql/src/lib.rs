//! The ledger on SQL databases: SQLite in its folder, PostgreSQL and MariaDB (with what MySQL shares with it) in `server`. All speak by the
//! same queries, in `queries`, which is compiled once for each of the two drivers; what a database says in its own way is in its `dialect`,
//! its tables are in `migrations/`. Decisions that need no database, and the threads that own connections, are beside the folders.
//!
//! Not here: what the methods promise (that is the contract, in `seckill-ledger`) and when they are called.

mod caller;
mod finding;
mod gathering;
mod lanes;
mod outages;
mod server;
mod settle_plan;
mod sqlite;
mod station;
mod threads;
mod turns;

pub use server::{Server, ServerOptions};
pub use sqlite::{Options, Sqlite, Threads};
