//! The engine on a real Redis keeps the contracts of stock, queue and members.

#[macro_use]
mod contracts;
mod doubtful;
mod durable;
mod dying;
mod errors;
mod gone;
mod grace;
mod healing;
mod heard;
mod held;
mod losses;
mod membership;
mod model;
mod nodes;
mod openings;
mod outages;
mod permits;
mod rates;
mod remains;
mod replies;
mod safety;
mod sale;
mod shards;
mod shards_on_one_server;
mod sold_out;
mod support;
mod versions;
mod walks;

const MODE: support::Mode = support::Mode::Standalone;

conformance!();
