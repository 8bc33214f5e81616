//! A cluster in which a sale of several shards loses a master: its replica has everything, or there is none and its slots go to another.

use std::time::{Duration, Instant};

use seckill_queue::{Adopted, Adoption, Queue};
use seckill_sale::{Epoch, Shards, UserId};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Condition, Confirmed, Counted, GivenUp, OpenOutcome, Stock};

use crate::failovers::{Set, replica_in_step, start};
use crate::shards::{claims, counted, open_split, sold, split, users};

const ALL: [u64; 4] = [0, 1, 2, 3];

fn meta(shard: u64) -> String {
    format!("{{a:7:{shard}}}:meta")
}

fn owner(set: &Set, key: &str) -> usize {
    set.cluster.owner(key).expect("a master")
}

fn in_the_end<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(90);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "{what}");
        std::thread::yield_now();
    }
}

fn condition(set: &Set) -> Option<Condition> {
    let engine = &set.running.engine;
    set.running.block_on(engine.condition(Fixture::activity())).ok()
}

/// Everybody buys, one by one, however often he has to ask.
fn all_buy(set: &Set, names: &[String]) {
    for name in names {
        let claim = || {
            set.running
                .block_on(set.running.engine.claim(claims(std::slice::from_ref(name))))
        };
        in_the_end(name, || (sold(&claim()) == 1).then_some(()));
    }
}

#[test]
fn a_split_sale_goes_on_in_place_behind_a_failover_that_lost_nothing() {
    let mut set = start();
    open_split(&set.running, 20, 4);
    let buyers = users(12, 4, &ALL);
    all_buy(&set, &buyers[..8]);
    let lost = owner(&set, &meta(2));
    replica_in_step(&set.cluster, lost, lost + 3);
    set.cluster.servers[lost].kill();
    let figures = in_the_end("it is doubted", || match condition(&set) {
        Some(Condition::Doubtful(figures)) => Some(figures),
        _ => None,
    });
    assert_eq!((figures.stock_left, figures.accepted), (12, 8));
    let confirmed = Confirmed {
        activity: Fixture::activity(),
        epoch: Epoch::new(2).expect("in range"),
        next_sequence: 1_000,
        counted: Some(Counted {
            revision: figures.revision,
            left: figures.stock_left,
            applied_movement: figures.applied_movement,
        }),
        grace_ms: 0,
    };
    assert_eq!(set.running.block_on(set.running.engine.confirm(confirmed)), Ok(true));
    all_buy(&set, &buyers[8..]);
    assert_eq!(set.running.block_on(counted(&set.running.engine)), (8, 12, 12));
}

#[test]
fn a_split_sale_whose_master_and_replica_are_gone_for_good_is_built_anew_on_the_others() {
    let mut set = start();
    let activity = open_split(&set.running, 100, 4);
    let shards = Shards::new(4).expect("in range");
    let buyers = users(24, 4, &ALL);
    all_buy(&set, &buyers[..16]);
    let list = owner(&set, "{seckill}:sales");
    let gone = ALL
        .map(|shard| owner(&set, &meta(shard)))
        .into_iter()
        .find(|&place| place != list);
    let gone = gone.expect("the shards are on several masters");
    let lost = ALL.into_iter().filter(|&shard| owner(&set, &meta(shard)) == gone);
    let lost: Vec<u64> = lost.collect();
    set.cluster.servers[gone].kill();
    set.cluster.servers[gone + 3].kill();
    // Whoever belongs to another shard goes on.
    let shard_of = |name: &String| shards.of(&UserId::new(name).expect("valid"));
    let elsewhere: Vec<_> = buyers[16..]
        .iter()
        .filter(|name| !lost.contains(&shard_of(name)))
        .cloned()
        .collect();
    all_buy(&set, &elsewhere);
    for &shard in &lost {
        let slot = set.cluster.slot(&meta(shard)).to_string();
        let living = (0..6).filter(|&place| place != gone && place != gone + 3);
        for place in living {
            set.cluster.servers[place].expect(&["CLUSTER", "DELSLOTS", &slot], "+OK");
        }
        set.cluster.servers[list].expect(&["CLUSTER", "ADDSLOTS", &slot], "+OK");
    }
    in_the_end("it is broken", || (condition(&set)? == Condition::Broken).then_some(()));
    let epoch = Epoch::new(2).expect("in range");
    let remains = in_the_end("it is given up", || {
        let given_up = set
            .running
            .block_on(set.running.engine.give_up(activity, shards, epoch));
        match given_up {
            Ok(GivenUp::Remains(remains)) => Some(remains),
            // Whoever has just got a slot is not known to all.
            Err(_) => None,
            Ok(other) => panic!("{other:?}"),
        }
    });
    assert!(
        remains.iter().all(|buyer| !lost.contains(&shards.of(&buyer.user))),
        "{remains:?}"
    );
    let mut anew = split(100 - remains.len() as u64, 4);
    (anew.opened.epoch, anew.opened.next_sequence, anew.buyers) = (epoch, 1_000, remains);
    in_the_end("it is built", || {
        let opened = set.running.block_on(set.running.engine.open(anew.clone()));
        opened
            .is_ok_and(|outcome| outcome == OpenOutcome::Created)
            .then_some(())
    });
    in_the_end("the node has tickets of the lost shards", || {
        set.running.engine.has_orphans().then_some(())
    });
    let orphans = set.running.engine.orphans().into_iter();
    let orphans: Vec<_> = orphans.flat_map(|orphans| orphans.tickets).collect();
    let adopted = set
        .running
        .block_on(set.running.engine.adopt(orphans.clone(), Adoption::Waiting));
    assert_eq!(adopted, Ok(vec![Adopted::Waits; orphans.len()]));
    let all = 16 + elsewhere.len() as u64;
    assert_eq!(
        set.running.block_on(counted(&set.running.engine)),
        (100 - all, all, all)
    );
}
