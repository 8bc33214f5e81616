//! The engine on a real Redis keeps the contracts of stock, queue and members.

mod losses;
mod membership;
mod model;
mod nodes;
mod openings;
mod outages;
mod replies;
mod sale;
mod shards;
mod sold_out;
mod support;

mod stock {
    use crate::support::{block_on, fixture};
    seckill_stock::stock_conformance!(fixture(1), block_on);
}

mod queue {
    use crate::support::{block_on, queue_fixture};
    seckill_queue::queue_conformance!(queue_fixture(1), block_on);
}

/// The same facts of a sale that is split.
mod split_stock {
    use crate::support::{block_on, fixture};
    seckill_stock::stock_conformance!(fixture(4), block_on);
}

mod split_queue {
    use crate::support::{block_on, queue_fixture};
    seckill_queue::queue_conformance!(queue_fixture(4), block_on);
}

mod members {
    use crate::support::{block_on, members_fixture};
    seckill_stock::members_conformance!(members_fixture(), block_on);
}
