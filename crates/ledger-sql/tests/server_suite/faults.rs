//! What only a server can do: lose an answer or a connection, keep a lock, be of another version; and transactions side by side.

use std::net::Ipv4Addr;

use futures_util::future::join_all;
use seckill_ledger::conformance::{books, shop};
use seckill_ledger::{Error, Ledger, SettleBatch, Settlement as _, TicketResult, UnitsOnCancel};
use seckill_ledger_sql::{Server, ServerOptions};
use seckill_testkit::{Database, Kind, Network, Proxy};

pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(work)
}

pub fn options() -> ServerOptions {
    ServerOptions {
        lock_wait_s_max: 1,
        ..ServerOptions::default()
    }
}

pub fn open(url: &str) -> Server {
    Server::open(url, options()).expect("a good database")
}

pub fn before(database: &Database<impl Kind>) -> Proxy {
    Proxy::to((Ipv4Addr::LOCALHOST, database.port()).into())
}

fn through(proxy: &Proxy, database: &Database<impl Kind>) -> Server {
    open(&behind(proxy, database))
}

pub fn behind(proxy: &Proxy, database: &Database<impl Kind>) -> String {
    let (there, here) = (format!(":{}/", database.port()), format!(":{}/", proxy.address.port()));
    database.url().replace(&there, &here)
}

/// The whole word, as it stands on the wire.
pub fn commit(database: &Database<impl Kind>) -> &'static [u8] {
    match database.url().starts_with("postgres") {
        true => b"COMMIT\0",
        false => b"\x03COMMIT",
    }
}

pub fn the_outcome_of_a_commit_without_an_answer_is_unknown_and_the_batch_is_written_once<K: Kind>() {
    let database = Database::<K>::fresh();
    let proxy = before(&database);
    let ledger = through(&proxy, &database);
    block_on(async {
        let activity = shop::sale(&ledger, 10).await;
        let batch = shop::batch(activity.id, shop::deliveries(activity.id, 3));
        proxy.eat_reply_to(commit(&database), 1);
        let unknown = ledger.settle(batch.clone()).await;
        assert!(matches!(unknown, Err(Error::OutcomeUnknown(_))), "{unknown:?}");
        assert_eq!(proxy.replies_eaten(), 1);
        let settled = ledger.settle(batch).await.expect("is done");
        // The batch that nobody heard of was the first.
        assert_eq!((settled.orders_written, settled.batch), (0, 2));
        assert_eq!(settled.results, [TicketResult::Succeeded; 3]);
        assert_eq!(ledger.tally(activity.id).await.expect("is done").available, 7);
        books::check(&ledger).await;
    });
}

pub fn connections_that_died_idle_are_made_anew<K: Kind>() {
    let database = Database::<K>::fresh();
    let proxy = before(&database);
    let ledger = through(&proxy, &database);
    block_on(async {
        let activity = shop::sold(&ledger, 10, 2).await;
        proxy.set(Network::Reset);
        proxy.set(Network::Fine);
        assert_eq!(
            shop::settle(&ledger, activity.id, shop::deliveries(activity.id, 4))
                .await
                .orders_written,
            2
        );
        proxy.set(Network::Reset);
        proxy.set(Network::Fine);
        books::check(&ledger).await;
    });
}

pub fn a_lock_that_is_held_is_an_outage_that_leaves_nothing_and_heals<K: Kind>() {
    let database = Database::<K>::fresh();
    let ledger = open(&database.url());
    block_on(async {
        let activity = shop::sold(&ledger, 10, 2).await;
        let batch = shop::batch(activity.id, shop::deliveries(activity.id, 4));
        let held = database.hold("START TRANSACTION; SELECT activity_id FROM stock FOR UPDATE");
        let refused = ledger.settle(batch.clone()).await;
        assert!(matches!(refused, Err(Error::Outage(_))), "{refused:?}");
        // Who only reads does not notice.
        let tally = ledger.tally(activity.id).await.expect("is done");
        assert_eq!((tally.available, tally.orders_live), (8, 2));
        drop(held);
        assert_eq!(ledger.settle(batch).await.expect("is done").orders_written, 2);
        books::check(&ledger).await;
    });
}

/// One of many who do everything at once. Each hears what a single one could hear, never of an outage or a bad row.
async fn crowd(ledger: &dyn Ledger, batch: SettleBatch, number: u64) {
    let fine = |error: Error| assert!(matches!(error, Error::Conflict(_) | Error::NotFound(_)), "{error:?}");
    let activity = batch.activity;
    for round in 0..4 {
        let mut batch = batch.clone();
        let length = batch.tickets.len();
        batch
            .tickets
            .rotate_left((number as usize * 5 + round as usize * 3) % length);
        let half = batch.tickets.split_off(length / 2);
        batch.tickets = half;
        ledger.settle(batch).await.expect("is done");
        let sequence = 1 + (number * 7 + round * 11) % length as u64;
        let order_no = shop::ticket(activity, sequence).order_no();
        let user = shop::user(&format!("u{sequence}"));
        let cancelled = ledger.cancel(order_no, &user, shop::NOW, UnitsOnCancel::Sale).await;
        cancelled.map(drop).unwrap_or_else(fine);
        let payment = shop::payment(&format!("p{number}-{round}"), activity, sequence, shop::NOW);
        ledger
            .pay(payment, UnitsOnCancel::Product)
            .await
            .map(drop)
            .unwrap_or_else(fine);
        ledger
            .expire_due(shop::DEADLINE, 3, UnitsOnCancel::Product)
            .await
            .expect("is done");
        ledger
            .add_stock(activity, shop::stock(1), shop::at(shop::NOW))
            .await
            .expect("is done");
    }
}

pub fn many_at_once_come_in_nobodys_way_for_good<K: Kind>() {
    many_at_once(&Database::<K>::fresh());
}

pub fn many_at_once(database: &Database<impl Kind>) {
    // However slow the disk is: who waits for a lock gets it.
    let patient = ServerOptions {
        lock_wait_s_max: 60,
        ..ServerOptions::default()
    };
    let ledgers = [(); 2].map(|()| Server::open(&database.url(), patient).expect("a good database"));
    block_on(async {
        let activity = shop::sale(&ledgers[0], 30).await;
        let batch = shop::batch(activity.id, shop::deliveries(activity.id, 30));
        let crowd = (0..8).map(|number| crowd(&ledgers[number as usize % 2], batch.clone(), number));
        join_all(crowd).await;
        let tally = ledgers[0].tally(activity.id).await.expect("is done");
        assert_eq!((tally.succeeded, tally.failed, tally.stock_total), (30, 0, 62));
        books::check(&ledgers[1]).await;
    });
}

pub fn two_that_migrate_at_once_both_come_up<K: Kind>() {
    let database = Database::<K>::fresh();
    let url = database.url();
    std::thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| open(&url)));
        for opened in both {
            drop(opened.join().expect("is done"));
        }
    });
    block_on(shop::sale(&open(&url), 1));
}

pub fn a_database_of_a_newer_version_or_of_another_program_is_refused<K: Kind>() {
    let refusal = |database: &Database<K>| match Server::open(&database.url(), options()) {
        Err(Error::Rejected(said)) => said,
        other => panic!("{:?}", other.map(drop)),
    };
    let newer = Database::<K>::fresh();
    drop(open(&newer.url()));
    let _ = newer.say("INSERT INTO schema_version (version) VALUES (99)");
    assert!(refusal(&newer).contains("version 99"));
    let others = Database::<K>::fresh();
    let _ = others.say("CREATE TABLE songs (title VARCHAR(9))");
    assert!(refusal(&others).contains("another program"));
}

pub fn a_server_that_is_not_there_is_an_outage<K: Kind>() {
    let database = Database::<K>::fresh();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .expect("is done")
        .local_addr()
        .expect("is done")
        .port();
    let url = database
        .url()
        .replace(&format!(":{}/", database.port()), &format!(":{nobody}/"));
    let refused = Server::open(&url, options()).map(drop);
    assert!(
        matches!(&refused, Err(Error::Outage(said)) if said.ends_with("connection refused")),
        "{refused:?}"
    );
}
