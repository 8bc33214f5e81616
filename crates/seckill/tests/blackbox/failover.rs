//! Masters of a store that die, and a slot that moves, under three nodes that sell and two that write: the sale comes back without a
//! restart, and what was answered is there.

use seckill_testkit::{Postgres, Redis, RedisCluster, RedisSentinel};
use serde_json::json;

use crate::rush::Rush;
use crate::shop::{API, SCHEDULER, Shop, WORKER};

const STOCK: u64 = 50_000;
const NODES: [&[&str]; 6] = [API, API, API, WORKER, WORKER, SCHEDULER];

#[test]
fn a_sale_behind_sentinel_outlives_its_master() {
    let (mut set, database) = (RedisSentinel::start(), Postgres::fresh());
    let shop = Shop::on(set.url(), Redis::at(set.servers[0].address()), database.url()).with(&NODES);
    let node = &shop.nodes[0];
    let rush = Rush::at(&shop.nodes[..3], node.sale(STOCK, &json!({})));
    rush.during(|| rush.admits(node, 50));
    set.in_step();
    rush.during(|| {
        set.servers[0].kill();
        rush.admits(node, 50);
        // It takes itself for the master until the sentinels tell it.
        set.servers[0].start_again();
        rush.admits(node, 50);
    });
    rush.check(node, STOCK);
}

#[test]
fn a_sale_on_a_cluster_outlives_its_master_and_the_move_of_its_slot() {
    let (mut cluster, database) = (RedisCluster::start(), Postgres::fresh());
    let shop = Shop::on(cluster.url(), Redis::at(cluster.servers[0].address()), database.url()).with(&NODES);
    let node = &shop.nodes[0];
    let rush = Rush::at(&shop.nodes[..3], node.sale(STOCK, &json!({})));
    let meta = format!("{{a:{}:0}}:meta", rush.activity);
    let owner = cluster.owner(&meta).expect("a master");
    rush.during(|| rush.admits(node, 50));
    cluster.in_step(owner);
    rush.during(|| {
        cluster.servers[owner].kill();
        rush.admits(node, 50);
        let heir = cluster.owner(&meta).expect("a master");
        assert_ne!(heir, owner);
        cluster.move_slot(&meta, heir, (owner + 1) % 3);
        rush.admits(node, 50);
        assert_eq!(cluster.owner(&meta), Some((owner + 1) % 3));
        cluster.servers[owner].start_again();
        cluster.servers[owner].until(&["ROLE"], "slave");
        rush.admits(node, 20);
    });
    rush.check(node, STOCK);
}
