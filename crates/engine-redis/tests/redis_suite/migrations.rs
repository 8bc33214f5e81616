//! A slot that moves from one master to another while its sale runs: nobody is admitted half, and the sale goes on where it is then.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use seckill_queue::Queue;
use seckill_sale::{NotReady, Refusal};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Glance, Stock};
use seckill_testkit::Redis;

use crate::failovers::{Set, sold_past, start};
use crate::sale::{buy, buy_in_the_end, in_all_places, key, open};
use crate::sold_out::{glance, wait_until};

const KEYS: [&str; 7] = ["meta", "buyers", "fresh", "back", "due", "order", "dead"];

/// One move of the sale's slot, step by step.
struct Move<'a> {
    from: &'a Redis,
    to: &'a Redis,
    slot: String,
    ids: [String; 2],
}

impl<'a> Move<'a> {
    fn begin(set: &'a Set) -> Self {
        let (from, to) = (set.owner, (set.owner + 1) % 3);
        let [from, to] = [from, to].map(|place| &set.cluster.servers[place]);
        let this = Self {
            from,
            to,
            slot: set.cluster.slot(&key("meta")).to_string(),
            ids: [set.cluster.id(from), set.cluster.id(to)],
        };
        to.expect(&["CLUSTER", "SETSLOT", &this.slot, "IMPORTING", &this.ids[0]], "+OK");
        from.expect(&["CLUSTER", "SETSLOT", &this.slot, "MIGRATING", &this.ids[1]], "+OK");
        this
    }

    fn key(&self, name: &str) {
        let port = self.to.address().port().to_string();
        let words = ["MIGRATE", "127.0.0.1", &port, &key(name), "0", "5000"];
        let said = self.from.command(&words).expect("answers");
        assert!(said.starts_with("+OK") || said.starts_with("+NOKEY"), "{name}: {said}");
    }

    fn end(&self) {
        for server in [self.to, self.from] {
            server.expect(&["CLUSTER", "SETSLOT", &self.slot, "NODE", &self.ids[1]], "+OK");
        }
    }
}

#[test]
fn a_slot_on_its_way_admits_nobody_whichever_keys_have_gone_and_its_sale_goes_on_where_it_arrives() {
    let set = start();
    in_all_places(&set.running);
    let moving = Move::begin(&set);
    let mut waited_for = 0;
    for name in KEYS {
        moving.key(name);
        match buy(&set.running, "new") {
            // Behind the last key the other server has them all, and the state is not confirmed there.
            Err(Refusal::Busy | Refusal::NotReady(NotReady::Recovering)) => waited_for += 1,
            Ok(reserved) => assert_eq!(reserved.ticket.sequence, 6, "whole, before or behind {name}"),
            Err(refusal) => panic!("{name}: {refusal:?}"),
        }
    }
    assert!(0 < waited_for);
    moving.end();
    let reserved = buy_in_the_end(&set.running, "new");
    assert_eq!(reserved.ticket.sequence, 6);
    let figures = set.running.block_on(set.running.engine.figures(Fixture::activity()));
    let figures = figures.expect("answers").expect("a state");
    assert_eq!((figures.accepted, figures.stock_left, figures.dead_tickets), (6, 4, 1));
    let taken = set.running.block_on(set.running.engine.take(10)).expect("answers");
    let users: Vec<_> = taken.iter().map(|delivery| delivery.user.as_str()).collect();
    assert_eq!(users, ["b", "e", "new"]);
}

#[test]
fn buyers_who_come_while_a_slot_moves_get_their_tickets_in_the_end() {
    let set = start();
    let activity = open(&set.running, 100_000);
    let has_moved = AtomicBool::new(false);
    let sold = thread::scope(|scope| {
        scope.spawn(|| {
            let moving = Move::begin(&set);
            KEYS.iter().for_each(|name| moving.key(name));
            moving.end();
            has_moved.store(true, Ordering::Relaxed);
        });
        sold_past(&set.running, &has_moved)
    });
    let figures = set
        .running
        .block_on(set.running.engine.figures(activity))
        .expect("answers");
    assert_eq!(figures.map(|figures| figures.accepted), Some(sold));
}

#[test]
fn what_others_change_is_heard_of_where_the_slot_is_then() {
    let set = start();
    let activity = open(&set.running, 1);
    let other = set.running.another("other");
    buy(&set.running, "a").expect("admitted");
    wait_until("it is known", || glance(&other, "stranger") == Glance::SoldOut);
    let moving = Move::begin(&set);
    KEYS.iter().for_each(|name| moving.key(name));
    moving.end();
    buy_in_the_end(&set.running, "a");
    wait_until("it is known again", || {
        // This node reads nothing by itself.
        let _figures = set.running.block_on(other.figures(activity));
        glance(&other, "stranger") == Glance::SoldOut
    });
    set.running
        .block_on(set.running.engine.apply_movement(activity, 1, 1))
        .expect("done");
    wait_until("it was told", || other.stock_left(activity) == Some(1));
}
