//! A worker that stands still in the middle of its work, a person who waits no longer, and a server that lets nobody in.

use std::time::{Duration, Instant};

use seckill_ledger::conformance::{books, shop};
use seckill_ledger::{Catalog as _, Error, Operations as _, Settlement as _};
use seckill_ledger_sql::{Server, ServerOptions};
use seckill_testkit::{Database, Kind};

use crate::faults::{before, behind, block_on, commit, open, options};

/// A worker that stands still before its commit, as a stopped process does: others wait for the rows that it has locked.
pub fn a_worker_that_stands_still_is_undone_and_settles_again_when_it_goes_on<K: Kind>() {
    let database = Database::<K>::fresh();
    let proxy = before(&database);
    let impatient = ServerOptions {
        idle_s_max: 2,
        ..options()
    };
    let worker = Server::open(&behind(&proxy, &database), impatient).expect("a good database");
    let other = open(&database.url());
    block_on(async {
        let activity = shop::sale(&other, 10).await;
        let batch = shop::batch(activity.id, shop::deliveries(activity.id, 3));
        proxy.hold(commit(&database));
        let heals = async {
            until(|| proxy.holds()).await;
            let begin = || other.begin_opening(activity.id, shop::at(shop::NOW));
            let refused = begin().await;
            assert!(
                matches!(refused, Err(Error::Outage(_))),
                "the row is locked: {refused:?}"
            );
            let begun = Instant::now();
            while begin().await.is_err() {
                assert!(begun.elapsed().as_secs() < 60, "nobody undoes what stands still");
            }
            proxy.let_go();
        };
        let (stood_still, ()) = tokio::join!(worker.settle(batch.clone()), heals);
        assert!(matches!(stood_still, Err(Error::OutcomeUnknown(_))), "{stood_still:?}");
        assert_eq!(other.tally(activity.id).await.expect("is read").orders_live, 0);
        assert_eq!(worker.settle(batch).await.expect("is done").orders_written, 3);
        assert_eq!(other.tally(activity.id).await.expect("is read").orders_live, 3);
        books::check(&other).await;
    });
}

pub fn what_a_person_has_given_up_is_not_written_when_the_lock_is_let_go<K: Kind>() {
    let database = Database::<K>::fresh();
    let (other, impatient) = (
        open(&database.url()),
        ServerOptions {
            lock_wait_s_max: 60,
            answer_within: Some(Duration::from_millis(1)),
            ..options()
        },
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(async {
        let set = async |ledger: &Server, json: &str, expected| {
            let set = ledger.set_switches(json.to_owned(), expected, shop::at(shop::NOW));
            set.await
        };
        assert_eq!(set(&other, "before", 0).await, Ok(1));
        let held = database.hold("START TRANSACTION; SELECT revision FROM switches FOR UPDATE");
        let ledger = Server::open(&database.url(), impatient).expect("a good database");
        let refused = set(&ledger, "given up", 1).await;
        assert!(matches!(refused, Err(Error::Outage(_))), "{refused:?}");
        drop(held);
        // What was begun has ended when this returns.
        drop(ledger);
        let kept = other
            .switches()
            .await
            .expect("is read")
            .map(|row| (row.revision, row.json));
        assert_eq!(kept, Some((1, "before".to_owned())));
    });
}

async fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed().as_secs() < 60, "it never is so");
        tokio::task::yield_now().await;
    }
}

pub fn who_is_not_let_in_hears_why_at_once_and_not_his_password<K: Kind>() {
    let database = Database::<K>::fresh();
    let refusal = |url: &str| match Server::open(url, options()) {
        Err(Error::Rejected(said)) => said,
        other => panic!("{url}: {:?}", other.map(drop)),
    };
    let (host, owner) = (format!("127.0.0.1:{}", database.port()), ["root@", "seckill@"]);
    let url = owner
        .iter()
        .fold(database.url(), |url, owner| url.replace(owner, "stranger:geheim@"));
    let said = refusal(&url);
    assert!(
        said.contains("access denied") && said.contains("\"stranger\""),
        "{said}"
    );
    assert!(said.contains(&host) && !said.contains("geheim"), "{said}");
    let (scheme, rest) = url.split_once("stranger:geheim@").expect("a user");
    let owner = if scheme.starts_with("postgres") {
        owner[1]
    } else {
        owner[0]
    };
    let place = rest.split_once('/').expect("a place").0;
    let said = refusal(&format!("{scheme}{owner}{place}/nowhere"));
    assert!(
        said.contains("\"nowhere\"") && said.contains("unknown database"),
        "{said}"
    );
    assert!(said.contains(&host), "{said}");
}
