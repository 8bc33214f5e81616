//! Which sales a node listens to.

use seckill_stock::Stock;

use crate::sale::{buy, open};
use crate::sold_out::wait_until;
use crate::support::Running;

#[test]
fn a_sale_that_is_over_is_heard_no_more_and_one_that_comes_back_is() {
    let running = Running::start(None);
    let hears = |wanted: bool| {
        let channels = running.redis.command(&["PUBSUB", "SHARDCHANNELS"]).expect("answers");
        channels.contains("{a:7:0}:changed") == wanted
    };
    let activity = open(&running, 3);
    buy(&running, "a").expect("admitted");
    wait_until("it is heard", || hears(true));
    running.block_on(running.engine.forget(activity)).expect("done");
    wait_until("it is heard no more", || hears(false));
    open(&running, 3);
    buy(&running, "b").expect("admitted");
    wait_until("it is heard again", || hears(true));
}
