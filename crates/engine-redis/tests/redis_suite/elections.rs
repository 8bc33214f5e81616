//! A master that is gone, hangs, or comes back as a replica: the sentinels name another one, and sales go on there by themselves.

use std::time::Duration;

use seckill_engine_redis::{Engine, Options};
use seckill_queue::Queue;
use seckill_stock::Stock;
use seckill_stock::conformance::Fixture;
use seckill_testkit::{Redis, RedisSentinel};

use crate::sale::{buy, buy_in_the_end, in_all_places, open};
use crate::sold_out::wait_until;
use crate::support::{Running, brisk, new_runtime};

fn on(set: &RedisSentinel) -> Running {
    let options = brisk(set.url(), "brisk");
    Running::on(Redis::at(set.servers[0].address()), options, None)
}

/// The places of a set's servers.
const ALL: [usize; 3] = [0, 1, 2];

/// Waits until those of the servers that do not lead have what the one that leads has acknowledged: what they lack would be lost with it.
/// Sentinels that a master did not answer for a moment choose another one: what a test means to find later must be everywhere.
fn in_step(set: &RedisSentinel, servers: &[usize]) {
    let is_in_step = || {
        let leader = set.master()?;
        let all = set.servers[leader].replication("master_repl_offset:")?;
        let mut others = servers.iter().filter(|place| **place != leader);
        let lacks = |place: &usize| {
            set.servers[*place]
                .replication("slave_repl_offset:")
                .is_none_or(|has| has < all)
        };
        Some(!others.any(lacks))
    };
    wait_until("the replicas are in step", || is_in_step() == Some(true));
}

#[test]
fn a_killed_master_is_replaced_and_everything_acknowledged_is_there() {
    let mut set = RedisSentinel::start();
    let running = on(&set);
    in_all_places(&running);
    let before = buy(&running, "a-last").expect("admitted");
    in_step(&set, &ALL);
    set.servers[0].kill();
    assert_eq!(
        buy_in_the_end(&running, "new").ticket.sequence,
        before.ticket.sequence + 1
    );
    in_step(&set, &ALL[1..]);
    let again = buy(&running, "a-last").expect("the same request");
    assert_eq!((again.ticket, again.replayed), (before.ticket, true));
    let figures = running.block_on(running.engine.figures(Fixture::activity()));
    let figures = figures.expect("answers").expect("a state");
    assert_eq!((figures.accepted, figures.stock_left, figures.dead_tickets), (7, 3, 1));
    // The old master comes back as one that leads, and is made a replica: it sells nothing meanwhile that is lost then.
    set.servers[0].start_again();
    set.servers[0].until(&["ROLE"], "slave");
    buy_in_the_end(&running, "later");
    in_step(&set, &ALL);
    let taken = running.block_on(running.engine.take(10)).expect("answers");
    let users: Vec<_> = taken.iter().map(|delivery| delivery.user.as_str()).collect();
    assert_eq!(users, ["b", "e", "a-last", "new", "later"], "c is dead, d is leased");
}

#[test]
fn a_master_that_hangs_is_left_and_no_more_believed_when_it_goes_on() {
    let set = RedisSentinel::start();
    let running = on(&set);
    let activity = open(&running, 10);
    buy(&running, "a").expect("admitted");
    in_step(&set, &ALL);
    set.servers[0].pause();
    let sold = buy_in_the_end(&running, "b");
    assert_ne!(set.master(), Some(0));
    set.servers[0].resume();
    set.servers[0].until(&["ROLE"], "slave");
    assert_eq!(buy_in_the_end(&running, "b").ticket, sold.ticket, "sold where it stays");
    let figures = running.block_on(running.engine.figures(activity)).expect("answers");
    assert_eq!(figures.map(|figures| figures.accepted), Some(2));
}

#[test]
fn a_change_of_masters_by_hand_is_followed_while_others_sell() {
    let set = RedisSentinel::start();
    let running = on(&set);
    open(&running, 10);
    buy(&running, "a").expect("admitted");
    in_step(&set, &ALL);
    set.sentinels[0].until(&["SENTINEL", "FAILOVER", "sale"], "+OK");
    wait_until("another one leads", || set.master().is_some_and(|place| place != 0));
    buy_in_the_end(&running, "b");
    assert!(buy_in_the_end(&running, "a").replayed);
}

#[test]
fn sentinels_that_do_not_answer_are_passed_over() {
    let mut set = RedisSentinel::start();
    set.sentinels[0].kill();
    set.sentinels[1].pause();
    let running = on(&set);
    open(&running, 1);
    buy(&running, "a").expect("admitted");
    set.sentinels[1].resume();
}

#[test]
fn a_master_of_another_name_is_not_there() {
    let set = RedisSentinel::start();
    let url = set.url().replace("/sale", "/rent");
    let options = Options {
        connect_within: Duration::from_secs(5),
        ..Options::new(url, "lost".to_owned())
    };
    let runtime = new_runtime();
    let found = runtime.block_on(seckill_engine_redis::examine(&options));
    assert!(found[0].sentence.contains("No such master"), "{found:?}");
    assert!(runtime.block_on(Engine::connect(options)).is_err());
}
