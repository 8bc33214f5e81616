//! Processes that share fewer connections than they would like.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use seckill_ledger::conformance::{books, shop};
use seckill_ledger::{SettleBatch, Settlement as _};
use seckill_ledger_sql::{Server, ServerOptions};
use seckill_testkit::Kind;

use crate::faults::block_on;
use crate::outages::{as_guest, is_outage, with_three_connections};

/// Two processes with eight connections each, if they could: one that only looks, and has taken all there are, and one that writes.
pub fn pools_that_share_three_connections_all_get_their_turn<K: Kind>() {
    let (database, activity) = with_three_connections::<K>();
    let ledgers = [(); 2].map(|()| as_guest(&database, ServerOptions::default()));
    let looks = || join_all((0..32).map(|_| ledgers[0].tally(activity)));
    block_on(looks())
        .into_iter()
        .for_each(|tally| _ = tally.expect("is read"));
    let tickets = shop::deliveries(activity, 200);
    block_on(async {
        let (mine, others) = tickets.split_at(100);
        let settled = [(&ledgers[1], mine), (&ledgers[0], others)].map(|(ledger, tickets)| {
            let batches = tickets.chunks(5).map(|tickets| shop::batch(activity, tickets.to_vec()));
            join_all(batches.map(|batch| settle_within_reason(ledger, batch)))
        });
        // It goes on looking all the while, so that no connection of it is ever idle.
        let looking = async {
            loop {
                let _ = looks().await;
            }
        };
        tokio::select! {
            _ = join_all(settled) => {}
            () = looking => {}
        }
        books::check(&ledgers[1]).await;
        assert_eq!(ledgers[0].tally(activity).await.expect("is read").orders_live, 200);
    });
}

/// As `outages`; there is room for all, if each gives back what it does not need.
async fn settle_within_reason(ledger: &Server, batch: SettleBatch) {
    let begun = Instant::now();
    while is_outage(&ledger.settle(batch.clone()).await) {
        assert!(begun.elapsed() < Duration::from_secs(60), "others keep all connections");
    }
}
