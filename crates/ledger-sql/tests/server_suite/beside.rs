//! Batches side by side: of one sale, of the same tickets in another order, of one sale that is flooded or locked and another one.

use futures_util::future::{Either, join_all, select};
use seckill_ledger::conformance::{books, shop};
use seckill_ledger::{Error, Settlement as _, TicketResult};
use seckill_ledger_sql::{Server, ServerOptions};
use seckill_testkit::{Database, Kind};

use crate::faults::block_on;

/// However slow the disk is: who waits for a lock gets it.
fn patient(url: &str) -> Server {
    let options = ServerOptions {
        lock_wait_s_max: 60,
        ..ServerOptions::default()
    };
    Server::open(url, options).expect("a good database")
}

pub fn batches_that_overlap_in_reverse_all_get_through<K: Kind>() {
    let database = Database::<K>::fresh();
    let ledgers = [(); 2].map(|()| patient(&database.url()));
    block_on(async {
        let activity = shop::sale(&ledgers[0], 60).await;
        let tickets = shop::deliveries(activity.id, 60);
        let worker = async |number: usize| {
            for first in 0..5 {
                let mut part = tickets[first * 10..first * 10 + 20].to_vec();
                if number % 2 == 1 {
                    part.reverse();
                }
                // As some hear of them for the first time and some do not.
                for delivery in part.iter_mut().filter(|_| 4 <= number) {
                    delivery.deliveries = 2;
                }
                let settled = ledgers[number % 2].settle(shop::batch(activity.id, part)).await;
                assert_eq!(settled.expect("is done").results, [TicketResult::Succeeded; 20]);
            }
        };
        join_all((0..8).map(worker)).await;
        let tally = ledgers[0].tally(activity.id).await.expect("is read");
        assert_eq!((tally.orders_live, tally.available), (60, 0));
        books::check(&ledgers[0]).await;
    });
}

pub fn a_batch_that_finds_units_short_settles_what_fits<K: Kind>() {
    let database = Database::<K>::fresh();
    let ledger = patient(&database.url());
    block_on(async {
        let activity = shop::sale(&ledger, 50).await;
        let tickets = shop::deliveries(activity.id, 80);
        let batches = tickets
            .chunks(10)
            .map(|tickets| ledger.settle(shop::batch(activity.id, tickets.to_vec())));
        let settled = join_all(batches).await;
        let written: u64 = settled
            .iter()
            .map(|settled| settled.as_ref().expect("is done").orders_written)
            .sum();
        let tally = ledger.tally(activity.id).await.expect("is read");
        assert_eq!(
            (written, tally.succeeded, tally.failed, tally.available),
            (50, 50, 30, 0)
        );
        books::check(&ledger).await;
    });
}

pub fn a_locked_sale_does_not_keep_another_from_being_written<K: Kind>() {
    let database = Database::<K>::fresh();
    let ledger = patient(&database.url());
    block_on(async {
        let flooded = shop::sale(&ledger, 100).await;
        let other = shop::sold(&ledger, 10, 1).await;
        let held = database.hold(&format!(
            "START TRANSACTION; SELECT activity_id FROM stock WHERE activity_id = {} FOR UPDATE",
            flooded.id.get()
        ));
        let tickets = shop::deliveries(flooded.id, 80);
        let flood = join_all(
            tickets
                .chunks(10)
                .map(|tickets| ledger.settle(shop::batch(flooded.id, tickets.to_vec()))),
        );
        let settled = shop::settle(&ledger, other.id, shop::deliveries(other.id, 5));
        let Either::Right((settled, flood)) = select(flood, Box::pin(settled)).await else {
            panic!("the locked sale was first");
        };
        assert_eq!(settled.orders_written, 4);
        drop(held);
        for settled in flood.await {
            assert_eq!(settled.expect("is done").orders_written, 10);
        }
        books::check(&ledger).await;
    });
}

/// A wait for the sale's row that ends in vain must undo the orders that were written before it.
pub fn orders_are_what_was_deducted_at_every_moment<K: Kind>() {
    let database = Database::<K>::fresh();
    let options = ServerOptions {
        lock_wait_s_max: 1,
        ..ServerOptions::default()
    };
    let ledger = Server::open(&database.url(), options).expect("a good database");
    block_on(async {
        let activity = shop::sold(&ledger, 100, 10).await;
        let same = async || {
            let tally = ledger.tally(activity.id).await.expect("is read");
            assert_eq!(tally.orders_live, tally.stock_total - tally.available);
            tally.orders_live
        };
        let held = database.hold("START TRANSACTION; SELECT activity_id FROM stock FOR UPDATE");
        let tickets = shop::deliveries(activity.id, 90);
        let refused = join_all(
            tickets
                .chunks(30)
                .map(|tickets| ledger.settle(shop::batch(activity.id, tickets.to_vec()))),
        );
        let sampled = async {
            for _ in 0..50 {
                assert_eq!(same().await, 10);
            }
        };
        let (refused, ()) = tokio::join!(refused, sampled);
        assert!(refused.iter().any(Result::is_err));
        assert_eq!(same().await, 10);
        drop(held);
        for tickets in tickets.chunks(30) {
            shop::settle(&ledger, activity.id, tickets.to_vec()).await;
        }
        assert_eq!(same().await, 90);
        books::check(&ledger).await;
    });
}

/// Order numbers come from tickets: one that is taken was written by somebody else, and no trying helps.
pub fn an_order_number_that_is_taken_rejects_its_batch_alone<K: Kind>() {
    let database = Database::<K>::fresh();
    let ledger = patient(&database.url());
    block_on(async {
        let activity = shop::sold(&ledger, 10, 1).await;
        let taken = shop::ticket(activity.id, 2).order_no();
        let _ = database.say(&format!("UPDATE orders SET order_no = '{taken}' WHERE user_id = 'u1'"));
        let tickets = shop::deliveries(activity.id, 3).split_off(1);
        let refused = ledger.settle(shop::batch(activity.id, tickets.clone())).await;
        assert!(matches!(refused, Err(Error::Rejected(_))), "{refused:?}");
        let tally = ledger.tally(activity.id).await.expect("is read");
        assert_eq!((tally.orders_live, tally.available), (1, 9));
        let alone = shop::settle(&ledger, activity.id, tickets[1..].to_vec()).await;
        assert_eq!(alone.orders_written, 1);
    });
}
