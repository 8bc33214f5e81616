//! Masters of a cluster that are gone, hang, or give way: their sales go on by themselves, those of others never stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use seckill_sale::{ActivityId, NotReady, Refusal};
use seckill_stock::Stock;
use seckill_stock::conformance::Fixture;
use seckill_testkit::{Redis, RedisCluster};

use crate::sale::{buy, buy_in_the_end, buy_of, in_all_places, key, key_of, open, open_sale, vouch};
use crate::sold_out::wait_until;
use crate::support::{Running, brisk};

pub struct Set {
    pub cluster: RedisCluster,
    pub running: Running,
    /// The place of the master that has the sale, and that of its replica.
    pub owner: usize,
    pub replica: usize,
}

pub fn start() -> Set {
    let cluster = RedisCluster::start();
    let owner = cluster.owner(&key("meta")).expect("a master");
    let options = brisk(cluster.url(), "brisk");
    let running = Running::on(Redis::at(cluster.servers[owner].address()), options, None);
    Set {
        cluster,
        running,
        owner,
        replica: owner + 3,
    }
}

/// A sale that another master has.
fn elsewhere(set: &Set) -> ActivityId {
    let sales = (8..).map(|id| ActivityId::new(id).expect("in range"));
    let mut others = sales.filter(|sale| set.cluster.owner(&key_of(*sale, "meta")) != Some(set.owner));
    others.next().expect("two thirds are elsewhere")
}

/// Waits until the sale's replica has what its master has acknowledged.
fn in_step(set: &Set) {
    replica_in_step(&set.cluster, set.owner, set.replica);
}

/// The same of a master and a replica in these places.
pub fn replica_in_step(cluster: &RedisCluster, master: usize, replica: usize) {
    let offset = |place: usize, field| cluster.servers[place].replication(field);
    wait_until("the replica is in step", || {
        offset(master, "master_repl_offset:") <= offset(replica, "slave_repl_offset:")
    });
}

#[test]
fn a_killed_master_is_replaced_and_sales_of_others_go_on_meanwhile() {
    let mut set = start();
    in_all_places(&set.running);
    let other = elsewhere(&set);
    open_sale(&set.running, other, 100_000);
    in_step(&set);
    set.cluster.servers[set.owner].kill();
    let mut others = 0;
    let mut refused = 0;
    while let Err(refusal) = buy(&set.running, "new") {
        match refusal {
            Refusal::Busy | Refusal::OutcomeUnknown => {}
            Refusal::NotReady(NotReady::Recovering) => vouch(&set.running),
            other => panic!("{other:?}"),
        }
        refused += 1;
        buy_of(&set.running, other, &format!("u{others}")).expect("its master is well");
        others += 1;
        assert!(others < 100_000, "not in time");
    }
    assert!(0 < refused);
    let figures = set.running.block_on(set.running.engine.figures(Fixture::activity()));
    let figures = figures.expect("answers").expect("a state");
    assert_eq!((figures.accepted, figures.stock_left, figures.dead_tickets), (6, 4, 1));
    set.cluster.servers[set.owner].start_again();
    set.cluster.servers[set.owner].until(&["ROLE"], "slave");
    buy_in_the_end(&set.running, "later");
}

#[test]
fn a_master_that_hangs_is_replaced_and_sales_of_others_go_on() {
    let set = start();
    let activity = open(&set.running, 10);
    let other = elsewhere(&set);
    open_sale(&set.running, other, 10);
    buy(&set.running, "a").expect("admitted");
    in_step(&set);
    set.cluster.servers[set.owner].pause();
    // Who is with the hanging server waits for it, and asks again where another one leads by then.
    let first = buy(&set.running, "b");
    assert!(
        matches!(
            first,
            Ok(_) | Err(Refusal::Busy | Refusal::OutcomeUnknown | Refusal::NotReady(NotReady::Recovering))
        ),
        "{first:?}"
    );
    buy_of(&set.running, other, "b").expect("its master is well");
    buy_in_the_end(&set.running, "b");
    set.cluster.servers[set.owner].resume();
    set.cluster.servers[set.owner].until(&["ROLE"], "slave");
    assert!(buy_in_the_end(&set.running, "b").replayed);
    let figures = set
        .running
        .block_on(set.running.engine.figures(activity))
        .expect("answers");
    assert_eq!(figures.map(|figures| figures.accepted), Some(2));
}

#[test]
fn a_master_that_gives_way_by_hand_loses_nobody() {
    let set = start();
    let activity = open(&set.running, 100_000);
    let gave_way = AtomicBool::new(false);
    let sold = thread::scope(|scope| {
        scope.spawn(|| {
            let replica = &set.cluster.servers[set.replica];
            let mut asked = None;
            wait_until("it leads", || {
                // Servers give up after five seconds where the replica has not caught up by then.
                if asked.is_none_or(|at: Instant| Duration::from_secs(6) < at.elapsed()) {
                    replica.until(&["CLUSTER", "FAILOVER"], "+OK");
                    asked = Some(Instant::now());
                }
                replica.command(&["ROLE"]).is_ok_and(|said| said.contains("master"))
            });
            gave_way.store(true, Ordering::Relaxed);
        });
        sold_past(&set.running, &gave_way)
    });
    let figures = set
        .running
        .block_on(set.running.engine.figures(activity))
        .expect("answers");
    assert_eq!(figures.map(|figures| figures.accepted), Some(sold));
}

#[test]
fn a_slot_that_nobody_has_stops_its_sale_alone() {
    let set = start();
    open(&set.running, 10);
    let other = elsewhere(&set);
    open_sale(&set.running, other, 10);
    let slot = set.cluster.slot(&key("meta")).to_string();
    for server in &set.cluster.servers {
        server.expect(&["CLUSTER", "DELSLOTS", &slot], "+OK");
    }
    assert_eq!(buy(&set.running, "a"), Err(Refusal::Busy));
    buy_of(&set.running, other, "a").expect("it has its slot");
    set.cluster.servers[set.owner].expect(&["CLUSTER", "ADDSLOTS", &slot], "+OK");
    buy_in_the_end(&set.running, "a");
}

/// Sells one after another until twenty have bought behind the moment, and gives how many have: each his own, and none lost.
pub fn sold_past(running: &Running, moment: &AtomicBool) -> u64 {
    let (mut sold, mut after) = (0_u64, 0);
    while after < 20 {
        let reserved = buy_in_the_end(running, &format!("u{sold}"));
        sold += 1;
        assert_eq!(reserved.ticket.sequence, sold, "each once, none lost");
        after += u64::from(moment.load(Ordering::Relaxed));
    }
    sold
}
