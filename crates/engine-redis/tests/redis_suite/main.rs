//! The engine on a real Redis keeps the contracts of stock and queue.

mod durable;
mod healing;
mod losses;
mod model;
mod nodes;
mod openings;
mod outages;
mod remains;
mod replies;
mod sale;
mod sold_out;
mod support;

mod stock {
    use crate::support::{block_on, fixture};
    seckill_stock::stock_conformance!(fixture(), block_on);
}

mod queue {
    use crate::support::{block_on, queue_fixture};
    seckill_queue::queue_conformance!(queue_fixture(), block_on);
}
