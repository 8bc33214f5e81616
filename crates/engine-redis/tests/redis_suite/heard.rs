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

#[test]
fn a_list_of_sales_that_is_something_else_is_put_aside_and_made_anew() {
    let running = Running::start(None);
    let activity = open(&running, 3);
    for foreign in [["SET", "{seckill}:sales", "x"], ["LPUSH", "{seckill}:sales", "x"]] {
        running.redis.command(&["DEL", "{seckill}:sales"]).expect("answers");
        running.redis.command(&foreign).expect("answers");
        running.block_on(running.engine.condition(activity)).expect("looked at");
        assert_eq!(running.block_on(running.engine.activities()), Ok(vec![activity]));
        running.redis.expect(&["TYPE", "{seckill}:sales"], "+set");
    }
    running.redis.expect(&["TYPE", "{seckill}:sales:foreign"], "+list");
    let lives_s = running
        .redis
        .command(&["TTL", "{seckill}:sales:foreign"])
        .expect("answers");
    let lives_s: u64 = lives_s.trim().trim_start_matches(':').parse().expect("it has an end");
    assert!(0 < lives_s && lives_s <= 7 * 24 * 3600, "{lives_s}");
}
