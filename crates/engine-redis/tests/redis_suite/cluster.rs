//! The same on a cluster of three masters and three replicas.

mod contracts;
mod failovers;
mod losses;
mod migrations;
mod model;
mod nodes;
mod openings;
mod outages;
mod sale;
mod sold_out;
mod support;

const MODE: support::Mode = support::Mode::Cluster;

mod stock {
    use crate::contracts::{block_on, fixture};
    seckill_stock::stock_conformance!(fixture(), block_on);
}

mod queue {
    use crate::contracts::{block_on, queue_fixture};
    seckill_queue::queue_conformance!(queue_fixture(), block_on);
}
