//! The shop whose servers stand still, and the buyers who wait meanwhile.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use seckill_testkit::{Database, PostgresServer, Redis, RedisCluster, Server};
use serde_json::json;

use crate::shop::{API, SCHEDULER, Shop, WORKER};

/// Units of each sale.
pub(super) const STOCK: u64 = 50_000;
/// Nodes that buyers come to.
pub(super) const APIS: usize = 2;
/// Buyers of the sale that stands still who ask at the same time.
pub(super) const WAITING: usize = 24;
const NODES: [&[&str]; 4] = [API, API, WORKER, SCHEDULER];

/// A shop on a cluster of three masters, each with a sale.
pub(super) struct House {
    pub(super) cluster: RedisCluster,
    _database: Database<PostgresServer>,
    shop: Shop,
    /// One on each master.
    pub(super) sales: [u64; 3],
}

impl House {
    pub(super) fn new() -> Self {
        let (cluster, database) = (RedisCluster::start_patient(), Database::alone(&[]));
        let first = Redis::at(cluster.servers[0].address());
        let shop = Shop::on(cluster.url(), first, database.url()).with(&NODES);
        let mut sales = [0; 3];
        while sales.contains(&0) {
            let activity = shop.nodes[0].sale(STOCK, &json!({}));
            let owner = cluster.owner(&format!("{{a:{activity}:0}}:meta")).expect("a master");
            sales[owner] = activity;
        }
        let house = Self {
            cluster,
            _database: database,
            shop,
            sales,
        };
        for node in house.apis() {
            sales.iter().for_each(|sale| node.knows(*sale));
        }
        house
    }

    pub(super) fn apis(&self) -> &[Server] {
        &self.shop.nodes[..APIS]
    }
}

/// Buyers of a sale that stands still, each with a key of his own: what they hear, and whose outcome is not known.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) over: AtomicBool,
    heard: AtomicU64,
    pub(super) unknown: Mutex<BTreeSet<String>>,
}

impl Waiting {
    pub(super) fn come(&self, house: &House, sale: u64, place: usize) {
        let node = &house.apis()[place % APIS];
        let mut number = 0;
        while !self.over.load(Ordering::SeqCst) {
            number += 1;
            let user = format!("waits-{place}-{number}");
            let answer = node.buy(sale, &user, &user).expect("answers");
            match (answer.status, answer.code()) {
                (503, 50_300) => {}
                (503, 50_302) => _ = self.unknown.lock().expect("no panic").insert(user),
                _ => panic!("{user}: {answer:?}"),
            }
            self.heard.fetch_add(1, Ordering::SeqCst);
        }
    }

    pub(super) fn hear_more(&self, node: &Server) {
        let wanted = self.heard.load(Ordering::SeqCst) + WAITING as u64;
        let _heard = node.until(|| self.heard.load(Ordering::SeqCst), |heard| wanted <= *heard);
    }
}
