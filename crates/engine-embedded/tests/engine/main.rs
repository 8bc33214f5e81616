//! The embedded engine keeps the contracts of stock and queue, and comes back after a restart as it was.

mod ahead;
mod gathering;
mod hanging;
mod permits;
mod restart;
#[path = "../shared/running.rs"]
mod running;
mod stopped;
mod support;

mod stock {
    use crate::support::{Engine, block_on};
    seckill_stock::stock_conformance!(Engine::start().fixture(), block_on);
}

mod queue {
    use crate::support::{Engine, block_on};
    seckill_queue::queue_conformance!(Engine::start().queue_fixture(), block_on);
}

mod members {
    use crate::support::{Engine, block_on};
    seckill_stock::members_conformance!(Engine::start().members_fixture(), block_on);
}
