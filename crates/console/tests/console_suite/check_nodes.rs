//! The checklist's lines about the nodes that share the store: each is broken and turns red, and nothing else does.

use std::sync::atomic::Ordering;

use seckill_stock::members::SCHEDULER_LEASE;
use seckill_stock::{Member, Members};

use crate::check::{check, of_node};
use crate::house::{House, NOW};

fn another() -> Member {
    Member {
        id: "node-2".to_owned(),
        roles: vec!["worker".to_owned()],
        version: "1.0.0".to_owned(),
        admin: "10.0.0.2:8081".to_owned(),
        started_at: NOW,
        sent_at: NOW,
        ..Member::default()
    }
}

#[tokio::test]
async fn nodes_are_counted_by_their_roles() {
    let house = House::new();
    house.store.beat(another()).await.expect("heard");
    let list = of_node(&house).await;
    check(
        &list,
        "nodes",
        "passed",
        "2 alive: 1 with the role api, 2 worker, 1 scheduler",
    );
    check(&list, "scheduler", "passed", "node-1");
    house.store.leave("node-1").await.expect("done");
    let list = of_node(&house).await;
    check(&list, "nodes", "failed", "nobody answers buyers");
    check(&list, "scheduler", "failed", "node-1 had it last");
    house.store.leave("node-2").await.expect("done");
    check(&of_node(&house).await, "nodes", "failed", "not even this one");
}

#[tokio::test]
async fn a_node_that_beats_no_more_is_not_counted_and_its_lease_ends() {
    let house = House::new();
    house.clock.advance(4_999);
    check(&of_node(&house).await, "nodes", "passed", "1 alive");
    house.clock.advance(1);
    check(&of_node(&house).await, "nodes", "failed", "none says that it lives");
    house.clock.advance(5_000);
    check(&of_node(&house).await, "scheduler", "failed", "runs nowhere");
    house.beat();
    let list = of_node(&house).await;
    assert_eq!(list["passed"], true, "{list}");
}

#[tokio::test]
async fn a_scheduler_that_gave_its_lease_back_runs_nowhere() {
    let house = House::new();
    house.store.release(SCHEDULER_LEASE, "node-1").await.expect("done");
    check(&of_node(&house).await, "scheduler", "failed", "the role scheduler");
}

#[tokio::test]
async fn nodes_of_two_versions_fail() {
    let house = House::new();
    let mut newer = another();
    newer.version = "1.0.1".to_owned();
    house.store.beat(newer).await.expect("heard");
    check(&of_node(&house).await, "versions", "failed", "(1.0.0, 1.0.1)");
}

#[tokio::test]
async fn a_clock_that_is_more_than_a_second_off_is_named() {
    let house = House::new();
    for (off_ms, state, words) in [
        (1_000, "passed", "within 1000 ms"),
        (1_001, "failed", "node-2 (10.0.0.2:8081)"),
        (-1_001, "failed", "1001 ms"),
        (-1_000, "passed", ""),
    ] {
        let mut other = another();
        other.sent_at = NOW.plus(off_ms);
        house.store.beat(other).await.expect("heard");
        check(&of_node(&house).await, "clocks", state, words);
    }
}

#[tokio::test]
async fn workers_that_do_not_run_or_do_not_work_fail() {
    let house = House::new();
    house.counts.running.store(0, Ordering::Relaxed);
    house.beat();
    check(&of_node(&house).await, "workers", "failed", "none runs");
    let id = house.opened(10).await;
    house.claim(id, "a").await.expect("a unit");
    house.counts.running.store(2, Ordering::Relaxed);
    house.counts.last_batch_at.store(NOW.0, Ordering::Relaxed);
    for (after_ms, state, words) in [
        (2_000, "passed", "2 run; 1 ticket in the queue"),
        (9_000, "passed", "none for long"),
        (10_001, "failed", "nobody writes orders"),
    ] {
        house.clock.set(NOW.plus(after_ms));
        house.beat();
        check(&of_node(&house).await, "workers", state, words);
    }
    // A ticket that is young enough, and workers that have done nothing for long.
    house.counts.last_batch_at.store(NOW.0 - 20_000, Ordering::Relaxed);
    house.clock.set(NOW.plus(2_001));
    house.beat();
    check(&of_node(&house).await, "workers", "failed", "has waited 2 s");
}
