//! The whole API over the real layers: gate, embedded store and queue, SQLite ledger in memory, a clock that moves when told to.

mod asking;
mod devices;
mod house;
mod pieces;
mod plan;

mod answers;
mod buying;
mod challenge;
mod in_flight;
mod legacy;
mod malformed;
mod orders;
mod origins;
mod pages;
mod pauses;
mod refusals;
mod results;
mod routes;
mod signed;
mod signed_crowds;
mod signed_floods;
mod sockets;
mod solving;
mod streams;
mod webhook;
