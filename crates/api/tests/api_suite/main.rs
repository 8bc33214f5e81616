//! The whole API over the real layers: gate, embedded store and queue, SQLite ledger in memory, a clock that moves when told to.

mod asking;
mod house;

mod answers;
mod buying;
mod legacy;
mod orders;
mod origins;
mod pages;
mod refusals;
mod results;
mod streams;
mod webhook;
