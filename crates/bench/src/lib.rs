//! Load generator and auditor over the public socket.
//!
//! Everything here speaks HTTP to a running server, as a buyer or an operator would, and asks a Redis what it has done; it links no crate of
//! the engine, so what it measures and audits is what outsiders get. All entry points block: call them from a plain thread, never from inside a runtime.
//! It prints nothing: reports are values, rendered by [`report`], and progress goes to a callback.

pub mod address;
pub mod admin;
pub mod article;
mod article_text;
pub mod audit;
pub mod bots;
pub mod bottleneck;
pub mod canonical;
mod chart;
mod chunks;
pub mod client;
pub mod comparison;
pub mod disk;
mod error;
pub mod expiry;
pub mod figures;
pub mod fleet;
pub mod flood;
pub mod held_disk;
mod html;
pub mod http;
pub mod jobs;
pub mod leftovers;
#[cfg(test)]
mod limits_tests;
mod limits_text;
pub mod load;
pub mod memory;
pub mod metrics;
pub mod naive;
pub mod outcome;
pub mod overload;
mod pace;
pub mod plan;
pub mod process;
pub mod ratios;
mod ratios_text;
pub mod redis_servers;
pub mod relay;
pub mod report;
pub mod restart;
mod runs;
mod served;
pub mod server;
pub mod soak;
#[cfg(test)]
mod stand_in;
pub mod store_figures;
pub mod subject;
pub mod switches;
mod tally;
pub mod target;
#[cfg(test)]
mod testing;
mod text;
pub mod token;
mod verdict;
pub mod watch;
mod wire;
mod words;

pub use error::Error;

/// What fallible functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;
