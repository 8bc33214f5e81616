//! A server that is killed, that only reads, that takes few connections and cuts them: an outage each time. Nothing is refused for it,
//! nothing is written by half, and it heals without a word from us.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use seckill_ledger::conformance::{books, shop};
use seckill_ledger::{Error, Examined as _, SettleBatch, Settled, Settlement as _, TicketResult};
use seckill_ledger_sql::{Server, ServerOptions};
use seckill_sale::{ActivityId, Severity, SystemClock};
use seckill_testkit::{Database, Kind};

use crate::faults::{block_on, open};

pub fn is_outage(settled: &Result<Settled, Error>) -> bool {
    settled.as_ref().is_err_and(Error::is_outage)
}

pub fn a_killed_server_is_an_outage_until_it_is_back<K: Kind>() {
    let mut database = Database::<K>::alone(&[]);
    let ledger = open(&database.url());
    let activity = block_on(shop::sold(&ledger, 10, 3));
    let batch = shop::batch(activity.id, shop::deliveries(activity.id, 7));
    database.kill();
    for _ in 0..3 {
        let refused = block_on(ledger.settle(batch.clone()));
        assert!(is_outage(&refused), "{refused:?}");
    }
    database.start_again();
    block_on(async {
        let settled = ledger.settle(batch).await.expect("is done");
        assert_eq!(
            (settled.orders_written, settled.results),
            (4, vec![TicketResult::Succeeded; 7])
        );
        books::check(&ledger).await;
    });
}

/// Statements that make somebody who owns nothing: what keeps others out does not keep the server's owner out.
fn make_guest(database: &Database<impl Kind>, more: &str) {
    if is_postgres(database) {
        let schema = database.say("SELECT 'schema ' || current_schema()");
        let schema = schema
            .split_whitespace()
            .skip_while(|word| *word != "schema")
            .nth(1)
            .expect("its name");
        let grants =
            format!("GRANT ALL ON SCHEMA {schema} TO guest; GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO guest");
        let _ = database.say(&format!("CREATE ROLE guest LOGIN {more}; {grants}"));
    } else {
        let _ = database.say(&format!(
            "CREATE USER guest@'%' {more}; GRANT ALL ON `%`.* TO guest@'%'"
        ));
    }
}

fn is_postgres(database: &Database<impl Kind>) -> bool {
    database.url().starts_with("postgres")
}

pub fn as_guest(database: &Database<impl Kind>, options: ServerOptions) -> Server {
    let url = database
        .url()
        .replace("//root@", "//guest@")
        .replace("//seckill@", "//guest@");
    Server::open(&url, options).expect("a good database")
}

/// A failover to a replica: every row is refused, and none for its own sake.
pub fn a_server_that_only_reads_is_an_outage<K: Kind>() {
    let database = Database::<K>::alone(&[]);
    let activity = block_on(shop::sold(&open(&database.url()), 10, 3));
    let batch = shop::batch(activity.id, shop::deliveries(activity.id, 7));
    make_guest(&database, "");
    let (shut, opened) = if is_postgres(&database) {
        let shut = "ALTER ROLE guest SET default_transaction_read_only = on";
        (shut, "ALTER ROLE guest RESET default_transaction_read_only")
    } else {
        ("SET GLOBAL read_only = ON", "SET GLOBAL read_only = OFF")
    };
    let _ = database.say(shut);
    let ledger = as_guest(&database, ServerOptions::default());
    let refused = block_on(ledger.settle(batch.clone()));
    assert!(is_outage(&refused), "{refused:?}");
    let found = block_on(ledger.examine(Arc::new(SystemClock), Some(activity.id)));
    let failed: Vec<_> = found
        .iter()
        .filter(|finding| finding.severity == Severity::Failed)
        .collect();
    assert!(failed.len() == 1 && failed[0].area == "writes", "{found:?}");
    assert_eq!(block_on(ledger.tally(activity.id)).expect("is read").orders_live, 3);
    drop(ledger);
    let _ = database.say(opened);
    let ledger = as_guest(&database, ServerOptions::default());
    assert_eq!(block_on(ledger.settle(batch)).expect("is done").orders_written, 4);
}

/// Who did not get through is asked again until he does.
async fn settle_at_last(ledger: &Server, batch: SettleBatch) -> u32 {
    let mut outages = 0;
    loop {
        let settled = ledger.settle(batch.clone()).await;
        if is_outage(&settled) {
            outages += 1;
            assert!(outages < 10_000, "{settled:?}");
            // The others have their turn.
            std::thread::yield_now();
            continue;
        }
        assert_eq!(
            settled.expect("is done").results,
            vec![TicketResult::Succeeded; batch.tickets.len()]
        );
        return outages;
    }
}

/// A guest of the server who may have three connections.
pub fn with_three_connections<K: Kind>() -> (Database<K>, ActivityId) {
    let database = Database::<K>::alone(&[]);
    let activity = block_on(shop::sale(&open(&database.url()), 200));
    let few = match is_postgres(&database) {
        true => "CONNECTION LIMIT 3",
        false => "WITH MAX_USER_CONNECTIONS 3",
    };
    make_guest(&database, few);
    (database, activity.id)
}

pub fn few_connections_that_are_cut_again_and_again_only_delay<K: Kind>() {
    let (database, activity) = with_three_connections::<K>();
    let is_postgres = is_postgres(&database);
    let cut = if is_postgres {
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guest'"
    } else {
        "KILL USER guest@'%'"
    };
    // One connection more than it may have.
    let options = ServerOptions {
        writers: 3,
        readers: 1,
        ..ServerOptions::default()
    };
    let ledger = as_guest(&database, options);
    let tickets = shop::deliveries(activity, 200);
    let outages = std::thread::scope(|scope| {
        let cutting = scope.spawn(|| (0..8).for_each(|_| _ = database.say(cut)));
        let outages = block_on(async {
            let batches = tickets.chunks(5).map(|tickets| shop::batch(activity, tickets.to_vec()));
            join_all(batches.map(|batch| settle_at_last(&ledger, batch))).await
        });
        cutting.join().expect("is done");
        outages
    });
    drop(outages);
    let ledger = open(&database.url());
    assert_eq!(block_on(ledger.tally(activity)).expect("is read").orders_live, 200);
    block_on(books::check(&ledger));
}

/// Callers who go away before, while and after it is begun leave no transaction behind.
pub fn callers_who_go_away_leave_no_transaction_open<K: Kind>() {
    let database = Database::<K>::alone(&[]);
    let ledger = open(&database.url());
    let activity = block_on(shop::sale(&ledger, 100));
    for sequence in 1..=60_u64 {
        let tickets = vec![shop::delivery(activity.id, sequence, &format!("u{sequence}"), 1)];
        let gone = block_on(async { ledger.settle(shop::batch(activity.id, tickets)).now_or_never() });
        drop(gone);
        drop(block_on(async { ledger.tally(activity.id).now_or_never() }));
    }
    let open_transactions = if is_postgres(&database) {
        "SELECT 'open ' || count(*) FROM pg_stat_activity WHERE xact_start IS NOT NULL AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
    } else {
        "SELECT concat('open ', count(*)) FROM information_schema.innodb_trx"
    };
    // Only when nothing goes on any more: MariaDB makes no new list of transactions while one is asked for all the time.
    let busy = if is_postgres(&database) {
        "SELECT 'busy ' || count(*) FROM pg_stat_activity WHERE (state <> 'idle' OR state_change > now() - interval '2 s') AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
    } else {
        "SELECT concat('busy ', count(*)) FROM information_schema.processlist WHERE (command <> 'Sleep' OR time < 2) AND id <> connection_id()"
    };
    let quiet = (0..2_000).any(|_| database.say(busy).contains("busy 0"));
    assert!(quiet, "something goes on for ever");
    let open = database.say(open_transactions);
    assert!(open.contains("open 0"), "{open}");
    assert_eq!(block_on(ledger.tally(activity.id)).expect("is read").orders_live, 60);
    block_on(books::check(&ledger));
}
