//! Many processes while their Redis loses something in the middle of a rush: the sale heals by itself, nothing is sold twice, and whoever
//! was told that he has a ticket has his order by it, for the nodes that told him live.

use std::fs;
use std::path::Path;
use std::process::Command;

use seckill_testkit::{Network, Postgres, Proxy, Redis};
use serde_json::json;

use crate::storm::Stage;

const KEYS: [&str; 7] = ["meta", "buyers", "fresh", "back", "due", "order", "dead"];

impl Stage {
    fn redis<T>(&self, act: impl FnOnce(&mut Redis) -> T) -> T {
        act(&mut self.shop.lock().expect("no panic").redis)
    }

    fn tell(&self, words: &[&str]) -> String {
        self.redis(|redis| redis.command(words).expect("the store answers"))
    }

    /// The keys of one shard.
    fn keys(&self, shard: u64) -> [String; 7] {
        KEYS.map(|name| format!("{{a:{}:{shard}}}:{name}", self.activity))
    }
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to.join("appendonlydir"));
    fs::create_dir_all(to).expect("a folder");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(from.join("appendonlydir"))
        .arg(to)
        .status();
    assert!(copied.expect("cp runs").success());
}

#[test]
fn a_redis_that_starts_from_an_older_file_in_a_rush_costs_nobody_his_order() {
    let database = Postgres::fresh();
    let stage = Stage::new(&database.url(), database.port());
    let folder = stage.redis(|redis| redis.folder().to_owned());
    let aside = folder.join("aside");
    stage.storm(&[&|_| copy(&folder, &aside), &|stage| {
        stage.redis(|redis| {
            redis.kill();
            copy(&aside, &folder);
            redis.start_again();
        });
    }]);
    stage.check();
}

#[test]
fn each_key_that_is_deleted_alone_in_a_rush_costs_nobody_his_order() {
    let database = Postgres::fresh();
    let stage = Stage::new(&database.url(), database.port());
    let deleted = KEYS.map(|name| {
        move |stage: &Stage| {
            let key = format!("{{a:{}:0}}:{name}", stage.activity);
            stage.tell(&["DEL", &key]);
        }
    });
    let accidents: Vec<&dyn Fn(&Stage)> = deleted.iter().map(|delete| delete as &dyn Fn(&Stage)).collect();
    stage.storm(&accidents);
    stage.check();
}

/// Its master is lost for good: first it has no replica, then one that lacks what was sold last.
#[test]
fn one_shard_that_is_lost_and_then_goes_back_in_a_rush_costs_nobody_his_order() {
    let database = Postgres::fresh();
    let stage = Stage::selling(&json!({"shards": 4}), &database.url(), database.port());
    stage.storm(&[
        &|stage| stage.keys(2).iter().for_each(|key| _ = stage.tell(&["DEL", key])),
        &|stage| {
            for key in stage.keys(1) {
                stage.tell(&["COPY", &key, &format!("kept:{key}")]);
            }
        },
        &|stage| {
            for key in stage.keys(1) {
                stage.tell(&["DEL", &key]);
                stage.tell(&["RENAME", &format!("kept:{key}"), &key]);
            }
            stage.tell(&["HSET", &stage.keys(1)[0], "server", "another"]);
        },
    ]);
    stage.check();
}

#[test]
fn a_stale_replica_that_is_promoted_in_a_rush_costs_nobody_his_order() {
    let database = Postgres::fresh();
    let stage = Stage::new(&database.url(), database.port());
    let replica = Redis::start();
    let link = Proxy::to(stage.redis(|redis| redis.address()));
    let follow = |follower: &Redis, port: u16| {
        follower.expect(&["REPLICAOF", "127.0.0.1", &port.to_string()], "+OK");
        follower.until(&["INFO", "replication"], "master_link_status:up");
    };
    stage.storm(&[
        &|_| follow(&replica, link.address.port()),
        &|_| link.set(Network::BlackHole),
        &|stage| {
            replica.expect(&["REPLICAOF", "NO", "ONE"], "+OK");
            stage.redis(|redis| {
                follow(redis, replica.address().port());
                redis.expect(&["REPLICAOF", "NO", "ONE"], "+OK");
            });
        },
    ]);
    stage.check();
}
