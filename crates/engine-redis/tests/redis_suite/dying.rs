//! Nodes that die while units are on their way from shard to shard.

use seckill_sale::Refusal;
use seckill_stock::Stock;
use seckill_testkit::Proxy;

use crate::shards::{claims, counted, open_split, sold, users};
use crate::support::Running;

/// What a node that pulls does to the server, in order. It dies behind each: its answer is lost, and the node is dropped.
const STEPS: [&[u8]; 3] = [b"$5\r\ndebit", b"$6\r\ncredit", b"$5\r\nclear"];

#[test]
fn a_node_that_dies_behind_any_step_of_a_transfer_loses_no_unit_and_sells_none_twice() {
    for step in STEPS {
        let running = Running::start(None);
        open_split(&running, 10, 2);
        // The sixth is pulled: the server learns the script, so that what the proxy sees is the step itself.
        let first = users(6, 2, &[1]);
        assert_eq!(sold(&running.block_on(running.engine.claim(claims(&first)))), 6);
        let network = Proxy::to(running.redis.address());
        let dying = running.behind(format!("redis://{}", network.address), "dying");
        network.eat_reply_to(step, 1);
        let step = String::from_utf8_lossy(step);
        let unlucky = users(7, 2, &[1]).split_off(6);
        let answers = running.block_on(dying.claim(claims(&unlucky)));
        assert_eq!(answers, [Err(Refusal::Busy)], "behind {step}");
        drop(dying);
        assert_eq!(network.replies_eaten(), 1, "behind {step}");
        // Two others come to it at once.
        let (one, two) = (running.another("one"), running.another("two"));
        let counts = running.block_on(async { tokio::join!(counted(&one), counted(&two)) });
        assert_eq!(counts, ((4, 6, 6), (4, 6, 6)), "behind {step}");
        let rest = users(12, 2, &[1]).split_off(6);
        let answers = running.block_on(one.claim(claims(&rest)));
        assert_eq!(sold(&answers), 4, "behind {step}: {answers:?}");
        assert_eq!(running.block_on(counted(&two)), (0, 10, 10));
    }
}
