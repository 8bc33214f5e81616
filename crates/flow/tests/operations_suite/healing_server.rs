//! What a server that started anew, was restored, or took another's place does to a sale.

use std::path::Path;
use std::process::Command;

use seckill_sale::{ActivityId, NotReady, Refusal};
use seckill_stock::Stock;
use seckill_testkit::{Network, Proxy, Redis};

use crate::house::{House, OPENS, run};

impl House {
    pub(crate) fn restart_server(&mut self) {
        self.engine.server.kill();
        self.engine.server.start_again();
    }

    /// Copies what the server keeps, or puts a copy in its place.
    pub(crate) fn copy_files(from: &Path, to: &Path) {
        let _ = std::fs::remove_dir_all(to.join("appendonlydir"));
        std::fs::create_dir_all(to).expect("a folder");
        let copied = Command::new("cp")
            .arg("-r")
            .arg(from.join("appendonlydir"))
            .arg(to)
            .status();
        assert!(copied.expect("cp runs").success());
    }
}

#[test]
fn a_restart_that_kept_everything_loses_nobody_and_rewrites_nothing() {
    run(async {
        let mut house = House::new();
        let id = house.opened(10).await;
        house.buy(id, &["a", "b"]).await;
        house.settle().await;
        house.buy(id, &["c", "d"]).await;
        let before = house.figures(id).await;
        house.restart_server();
        house.restarted_server_is_doubted(id).await;
        let figures = house.figures(id).await;
        assert_eq!((figures.stock_left, figures.queued, figures.accepted), (6, 2, 4));
        assert_eq!(
            figures.revision,
            before.revision + u64::from(crate::SHARDS),
            "confirmed in place"
        );
        house.buy(id, &["e"]).await;
        house.is_well(id, &["a", "b", "c", "d", "e"]).await;
        assert_eq!(house.balanced(id).await.orders_live, 5);
    });
}

#[test]
fn a_restart_between_ledger_and_store_loses_nobody() {
    run(async {
        let mut house = House::new();
        let id = house.opened(10).await;
        house.buy(id, &["a", "b", "c"]).await;
        house.store.allow(0);
        assert!(house.worker.pass().await.is_err(), "settled, and not acknowledged");
        house.store.heal();
        house.buy(id, &["d"]).await;
        house.restart_server();
        house.restarted_server_is_doubted(id).await;
        assert_eq!(house.left(id).await, 6);
        house.is_well(id, &["a", "b", "c", "d"]).await;
        assert_eq!(house.balanced(id).await.orders_live, 4);
    });
}

#[test]
fn an_older_copy_sells_no_unit_twice_and_knows_whom_the_ledger_knows() {
    for settles in [true, false] {
        run(async {
            let mut house = House::new();
            let id = house.opened(5).await;
            house.buy(id, &["a", "b"]).await;
            let (folder, copy) = (house.engine.folder.clone(), house.engine.folder.join("copy"));
            House::copy_files(&folder, &copy);
            house.buy(id, &["c", "d"]).await;
            let lost = house.claim(id, "e", 1).await.expect("the last one").ticket;
            if settles {
                house.settle().await;
            }
            house.engine.server.kill();
            House::copy_files(&copy, &folder);
            house.engine.server.start_again();
            house.restarted_server_is_doubted(id).await;
            assert_eq!(house.left(id).await, if settles { 0 } else { 3 });
            if settles {
                house.is_well(id, &["a", "b", "c", "d", "e"]).await;
                return;
            }
            // Three that only the lost part and this node knew: one of their units is sold again, none of their numbers is.
            let new = house.claim(id, "f", 1).await.expect("a unit").ticket;
            assert!(lost.sequence < new.sequence && lost.epoch < new.epoch);
            house.is_well(id, &["a", "b", "c", "d", "e", "f"]).await;
            assert!(house.succeeded(id, "f").await);
            let (lost, one_by_one) = (["c", "d", "e"], crate::SHARDS == 1);
            assert_eq!(
                house.count_succeeded(id, &lost).await,
                2,
                "one of them had no unit left"
            );
            assert!(house.succeeded(id, "c").await || !one_by_one, "the oldest comes first");
            assert!(!house.succeeded(id, "e").await || !one_by_one);
            assert_eq!(house.balanced(id).await.orders_live, 5);
        });
    }
}

#[test]
fn a_server_that_starts_empty_before_the_start_is_preheated_anew() {
    run(async {
        let mut house = House::new();
        house.clock.set(OPENS.plus(-1_000));
        let id = house.opened(5).await;
        house.engine.server.kill();
        std::fs::remove_dir_all(house.engine.folder.join("appendonlydir")).expect("removed");
        house.engine.server.start_again();
        while house.store.condition(id).await.is_err() {
            tokio::task::yield_now().await;
        }
        let not_ready = Err(Refusal::NotReady(NotReady::NotPreheated));
        assert_eq!(house.claim(id, "early", 1).await, not_ready);
        house.tick(id).await;
        assert_eq!(house.left(id).await, 5);
        house.clock.set(OPENS);
        house.buy(id, &["a"]).await;
        house.is_well(id, &["a"]).await;
    });
}

#[test]
fn a_stale_replica_that_is_promoted_sells_no_unit_twice() {
    run(async {
        let (house, id) = House::selling(6).await;
        let address = house.engine.server.url();
        let address = address.trim_start_matches("redis://").trim_end_matches('/').parse();
        let link = Proxy::to(address.expect("an address"));
        let replica = Redis::start();
        let port = link.address.port().to_string();
        replica.command(&["REPLICAOF", "127.0.0.1", &port]).expect("answers");
        let is_linked = |redis: &Redis| {
            redis
                .command(&["INFO", "replication"])
                .expect("answers")
                .contains("master_link_status:up")
        };
        while !is_linked(&replica) {
            tokio::task::yield_now().await;
        }
        // Its first replica gives a server another id.
        house.tick(id).await;
        house.buy(id, &["a", "b"]).await;
        assert!(house.redis(&["WAIT", "1", "10000"]).starts_with(":1"));
        link.set(Network::BlackHole);
        house.buy(id, &["c", "d"]).await;
        house.settle().await;
        house.buy(id, &["e"]).await;
        replica.command(&["REPLICAOF", "NO", "ONE"]).expect("answers");
        // The node's address leads to what the replica has.
        let port = replica
            .url()
            .rsplit(':')
            .next()
            .expect("a port")
            .trim_end_matches('/')
            .to_owned();
        house.redis(&["REPLICAOF", "127.0.0.1", &port]);
        while !is_linked(&house.engine.server) {
            tokio::task::yield_now().await;
        }
        house.redis(&["REPLICAOF", "NO", "ONE"]);
        house.recovers(id).await;
        assert_eq!(house.left(id).await, 2, "four have orders; the fifth is not there");
        house.buy(id, &["f", "g"]).await;
        assert!(house.claim(id, "h", 1).await.is_err());
        house.is_well(id, &["a", "b", "c", "d", "e", "f", "g"]).await;
        assert_eq!(house.balanced(id).await.orders_live, 6);
        assert!(!house.succeeded(id, "e").await);
    });
}

impl House {
    /// The link may have to come back first.
    async fn restarted_server_is_doubted(&self, id: ActivityId) {
        while self.store.condition(id).await.is_err() {
            tokio::task::yield_now().await;
        }
        self.recovers(id).await;
    }
}
