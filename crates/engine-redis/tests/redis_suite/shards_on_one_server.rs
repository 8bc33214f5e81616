//! What a node knows and does by itself: calls that gather, strangers refused from memory, shards that are levelled.

use std::sync::Arc;
use std::time::{Duration, Instant};

use seckill_engine_redis::Engine;
use seckill_sale::{Refusal, Status, Terms, UserId};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Batcher, Glance, Stock};

use crate::shards::{claims, counted, open_split, sold, split, users};
use crate::support::{Running, patient};

const ALL: [u64; 4] = [0, 1, 2, 3];

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::yield_now();
    }
}

fn script_calls(running: &Running) -> u64 {
    let stats = running.redis.command(&["INFO", "commandstats"]).expect("answers");
    let calls = stats.lines().filter_map(|line| line.strip_prefix("cmdstat_eval"));
    let number = |rest: &str| rest.split_once("calls=")?.1.split(',').next()?.parse::<u64>().ok();
    calls.filter_map(number).sum()
}

#[test]
fn a_batch_costs_one_call_a_shard_and_of_a_sale_in_one_piece_one() {
    for shards in [1, 4] {
        let running = Running::start(None);
        running
            .block_on(running.engine.open(split(400, shards)))
            .expect("opened");
        // Reads nothing by itself.
        let node = running.another("node");
        let buyers = users(40, 4, &ALL);
        assert_eq!(sold(&running.block_on(node.claim(claims(&buyers)))), 40);
        // Whoever has his ticket changes nothing, so that no node is woken. Another one may read the sale at any moment: the least of some
        // counts is what the batch itself costs.
        let costs = (0..20).map(|_| {
            let before = script_calls(&running);
            assert_eq!(sold(&running.block_on(node.claim(claims(&buyers)))), 40);
            script_calls(&running) - before
        });
        assert_eq!(costs.min(), Some(shards));
    }
}

#[test]
fn claims_for_each_shard_gather_while_a_call_is_with_it() {
    const BUYERS: usize = 1_000;
    let running = Running::start(None);
    open_split(&running, BUYERS as u64, 4);
    let node = running.another("node");
    let buyers = users(BUYERS, 4, &ALL);
    let before = script_calls(&running);
    let answers = running.block_on(async {
        let (batcher, line) = Batcher::new(Arc::new(node.clone()), 10_000);
        tokio::spawn(batcher.run());
        let waiting: Vec<_> = claims(&buyers)
            .into_iter()
            .map(|claim| tokio::spawn(line.claim(claim)))
            .collect();
        let mut answers = Vec::new();
        for answer in waiting {
            answers.push(answer.await.expect("no panic"));
        }
        answers
    });
    assert_eq!(sold(&answers), BUYERS);
    assert!(script_calls(&running) - before < BUYERS as u64 / 4);
}

fn glance(node: &Engine, user: &str) -> Glance {
    node.glance(Fixture::activity(), &UserId::new(user).expect("valid"))
}

#[test]
fn strangers_are_refused_from_memory_once_all_shards_are_empty_and_buyers_never() {
    let running = Running::start(None);
    let activity = open_split(&running, 6, 3);
    let other = running
        .block_on(Engine::connect(patient(running.redis.url(), "other")))
        .expect("connected");
    let buyers = users(6, 3, &[1]);
    for user in &buyers {
        assert_eq!(glance(&running.engine, "stranger"), Glance::Ask);
        assert_eq!(
            sold(&running.block_on(running.engine.claim(claims(std::slice::from_ref(user))))),
            1
        );
    }
    for node in [&running.engine, &other] {
        wait_until("both nodes know", || glance(node, "stranger") == Glance::SoldOut);
        for user in &buyers {
            assert_eq!(glance(node, user), Glance::Ask);
        }
    }
    running.block_on(other.apply_movement(activity, 1, 1)).expect("done");
    wait_until("open again", || glance(&running.engine, "stranger") == Glance::Ask);
    let answers = running.block_on(running.engine.claim(claims(&users(1, 3, &[2]))));
    assert_eq!(sold(&answers), 1, "{answers:?}");
}

#[test]
fn shards_are_levelled_before_the_poor_ones_run_dry() {
    let running = Running::start(None);
    let activity = open_split(&running, 4, 4);
    running
        .block_on(running.engine.apply_movement(activity, 1, 4_000))
        .expect("done");
    let left = |shard: u64| {
        let got = running
            .redis
            .command(&["HGET", &format!("{{a:7:{shard}}}:meta"), "left"])
            .expect("answers");
        got.lines()
            .nth(1)
            .and_then(|line| line.trim().parse::<u64>().ok())
            .expect("a number")
    };
    wait_until("level", || ALL.iter().all(|&shard| 500 < left(shard)));
    assert_eq!(running.block_on(counted(&running.engine)), (4_004, 0, 0));
    let refused = users(1, 4, &[2]);
    running.block_on(async {
        let paused = Terms {
            status: Status::Paused,
            ..split(1, 4).opened.terms
        };
        running.engine.change(paused).await.expect("done");
        for shard in ALL {
            let mut buyers = users(1, 4, &[shard]);
            buyers.extend(refused.clone());
            let answers = running.engine.claim(claims(&buyers)).await;
            assert!(
                answers
                    .iter()
                    .all(|answer| *answer == Err(Refusal::Paused { resumes_at: None }))
            );
        }
    });
}
