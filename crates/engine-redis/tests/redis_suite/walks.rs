//! Walks over the buyers of a sale while their server starts anew.

use std::time::{Duration, Instant};

use seckill_stock::Stock;
use seckill_stock::conformance::Fixture;

use crate::sale::opening;
use crate::support::Running;

/// Each life of a server arranges a hash by a seed of its own, so the place where a walk stood in the last one means nothing.
#[test]
fn every_buyer_is_on_a_page_also_where_the_server_starts_anew_between_two() {
    let mut running = Running::start(None);
    let read = |running: &Running, page| {
        let buyers = running.block_on(running.engine.buyers_page(Fixture::activity(), page));
        buyers.map(|buyers| buyers.map(|buyers| buyers.into_iter().map(|buyer| buyer.user).collect::<Vec<_>>()))
    };
    running.block_on(async {
        let opened = running.engine.open(opening(3_000)).await;
        opened.expect("opened");
        let claims: Vec<_> = (0..2_500).map(|n| Fixture::claim(&format!("u-{n}"), 1, 1)).collect();
        for part in claims.chunks(256) {
            running.engine.claim(part.to_vec()).await;
        }
    });
    let mut users = read(&running, 0).expect("answers").expect("a page");
    running.redis.kill();
    running.redis.start_again();
    let (mut page, until) = (1, Instant::now() + Duration::from_secs(30));
    loop {
        match read(&running, page) {
            Ok(Some(more)) => users.extend(more),
            Ok(None) => break,
            // Its connection is broken.
            Err(_) if Instant::now() < until => {
                std::thread::yield_now();
                continue;
            }
            Err(error) => panic!("{error}"),
        }
        page += 1;
    }
    users.sort_unstable();
    users.dedup();
    assert_eq!(users.len(), 2_500);
}
