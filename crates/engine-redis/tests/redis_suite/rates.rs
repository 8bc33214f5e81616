//! Rates that all nodes of a store count together.

use std::sync::Arc;

use seckill_sale::{EpochMs, ManualClock, Scope, SharedRate};
use seckill_stock::Stock;

use crate::support::Running;

const NOW: EpochMs = EpochMs(1_750_000_000_000);

fn rate(key: &str) -> SharedRate {
    SharedRate {
        scope: Scope::User,
        key: key.to_owned(),
        interval_us: 1_000_000,
        burst: 3,
    }
}

#[test]
fn nodes_count_one_user_together() {
    let running = Running::start(None);
    let other = running.another("other");
    let nodes = [&running.engine, &other];
    let passed = |key: &'static str, times: usize| {
        running.block_on(async {
            let mut passed = 0;
            for n in 0..times {
                let answer = nodes[n % 2].take_of_rate(&rate(key)).await.expect("the store answers");
                passed += usize::from(answer.is_none());
            }
            passed
        })
    };
    assert_eq!(passed("u:1:alice", 10), 3);
    assert_eq!(passed("u:1:bob", 10), 3);
    let wait = running.block_on(running.engine.take_of_rate(&rate("u:1:alice")));
    assert!(
        wait.expect("the store answers")
            .is_some_and(|ms| (1..=1000).contains(&ms))
    );
}

#[test]
fn permits_come_back_by_the_stores_clock() {
    let clock = Arc::new(ManualClock::at(NOW));
    let running = Running::start(Some(clock.clone()));
    let take = || running.block_on(running.engine.take_of_rate(&rate("u:1:alice")));
    for _ in 0..3 {
        assert_eq!(take(), Ok(None));
    }
    assert_eq!(take(), Ok(Some(1000)));
    clock.advance(999);
    assert_eq!(take(), Ok(Some(1)));
    clock.advance(1);
    assert_eq!(take(), Ok(None));
    clock.set(NOW.plus(-3_600_000));
    assert_eq!(take(), Ok(None), "a debt that this rate cannot make is forgiven");
}
