//! The engine on a real Redis keeps the contracts of stock and queue.

mod contracts;
mod errors;
mod gone;
mod losses;
mod model;
mod nodes;
mod openings;
mod outages;
mod replies;
mod safety;
mod sale;
mod sold_out;
mod support;

const MODE: support::Mode = support::Mode::Standalone;

mod stock {
    use crate::contracts::{block_on, fixture};
    seckill_stock::stock_conformance!(fixture(), block_on);
}

mod queue {
    use crate::contracts::{block_on, queue_fixture};
    seckill_queue::queue_conformance!(queue_fixture(), block_on);
}
