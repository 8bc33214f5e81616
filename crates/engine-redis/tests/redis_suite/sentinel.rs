//! The same behind Sentinel.

#[macro_use]
mod contracts;
mod elections;
mod losses;
mod membership;
mod model;
mod nodes;
mod openings;
mod outages;
mod sale;
mod shards;
mod sold_out;
mod support;

const MODE: support::Mode = support::Mode::Sentinel;

conformance!();
