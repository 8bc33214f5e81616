//! What a store loses in the middle of a rush, while a worker settles: every unit is sold once, and everybody who had a ticket has his order.

use std::cell::RefCell;
use std::mem;
use std::path::Path;

use seckill_sale::ActivityId;
use seckill_testkit::{Network, Proxy, Redis};

use crate::healing_house::{KEYS, keys};
use crate::healing_rush::{Rush, UNITS};
use crate::house::{House, run};

/// Takes the server out of its house, so that it can be ended while the house is in use.
fn server_of(house: &mut House) -> RefCell<Redis> {
    let address = house.engine.server.address();
    RefCell::new(mem::replace(&mut house.engine.server, Redis::at(address)))
}

/// The keys of the last shard.
fn last_shard(id: ActivityId) -> Vec<String> {
    let all = keys(id);
    all[all.len() - KEYS.len()..].to_vec()
}

#[test]
fn each_key_that_is_lost_or_spoiled_in_a_rush_is_healed() {
    for name in KEYS {
        run(async {
            let house = House::new();
            let id = house.opened(UNITS).await;
            Rush::through(&house, id, |nth| {
                let key = house.key(id, name);
                house.redis(&["DEL", &key]);
                if nth == 1 {
                    house.redis(&["SET", &key, "what"]);
                }
            })
            .await;
        });
    }
}

#[test]
fn a_server_that_is_emptied_twice_in_a_rush_is_healed() {
    run(async {
        let house = House::new();
        let id = house.opened(UNITS).await;
        Rush::through(&house, id, |_| _ = house.redis(&["FLUSHALL"])).await;
    });
}

#[test]
fn a_server_that_is_killed_twice_in_a_rush_and_kept_everything_is_healed() {
    run(async {
        let mut house = House::new();
        let id = house.opened(UNITS).await;
        let server = server_of(&mut house);
        Rush::through(&house, id, |_| {
            server.borrow_mut().kill();
            server.borrow_mut().start_again();
        })
        .await;
    });
}

#[test]
fn a_server_that_starts_from_an_older_file_in_a_rush_is_healed() {
    run(async {
        let mut house = House::new();
        let id = house.opened(UNITS).await;
        let server = server_of(&mut house);
        let folder = house.engine.folder.clone();
        let copy = folder.join("copy");
        Rush::through(&house, id, |nth| {
            if nth == 0 {
                return House::copy_files(&folder, &copy);
            }
            server.borrow_mut().kill();
            House::copy_files(Path::new(&copy), &folder);
            server.borrow_mut().start_again();
        })
        .await;
    });
}

/// The last shard alone is lost with its server: all of it, or what it was given last.
#[test]
fn a_shard_that_is_lost_or_goes_back_in_a_rush_is_healed() {
    run(async {
        let house = House::new();
        let id = house.opened(UNITS).await;
        Rush::through(&house, id, |_| {
            for key in last_shard(id) {
                house.redis(&["DEL", &key]);
            }
        })
        .await;
    });
    run(async {
        let house = House::new();
        let id = house.opened(UNITS).await;
        Rush::through(&house, id, |nth| {
            for key in last_shard(id) {
                let kept = format!("kept:{key}");
                if nth == 0 {
                    house.redis(&["COPY", &key, &kept]);
                    continue;
                }
                // As its replica has it, which leads now.
                house.redis(&["DEL", &key]);
                house.redis(&["RENAME", &kept, &key]);
                if key.ends_with(":meta") {
                    house.redis(&["HSET", &key, "server", "another"]);
                }
            }
        })
        .await;
    });
}

#[test]
fn a_stale_replica_that_is_promoted_in_a_rush_is_healed() {
    run(async {
        let house = House::new();
        let id = house.opened(UNITS).await;
        let link = Proxy::to(house.engine.server.address());
        let replica = Redis::start();
        let follow = |follower: &Redis, port: u16| {
            let answer = follower.command(&["REPLICAOF", "127.0.0.1", &port.to_string()]);
            assert!(answer.expect("answers").starts_with("+OK"));
            follower.until(&["INFO", "replication"], "master_link_status:up");
        };
        follow(&replica, link.address.port());
        // Its first replica gives a server another id.
        house.tick(id).await;
        Rush::through(&house, id, |nth| {
            if nth == 0 {
                return link.set(Network::BlackHole);
            }
            replica.command(&["REPLICAOF", "NO", "ONE"]).expect("answers");
            // The node's address leads to what the replica has.
            follow(&house.engine.server, replica.address().port());
            house.redis(&["REPLICAOF", "NO", "ONE"]);
        })
        .await;
    });
}
