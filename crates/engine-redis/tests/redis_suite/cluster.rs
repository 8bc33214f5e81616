//! The same on a cluster of three masters and three replicas.

#[macro_use]
mod contracts;
mod failovers;
mod losses;
mod lost_masters;
mod membership;
mod migrations;
mod model;
mod nodes;
mod openings;
mod outages;
mod rates;
mod sale;
mod shards;
mod sold_out;
mod standing_still;
mod support;

const MODE: support::Mode = support::Mode::Cluster;

conformance!();
