//! Rows that somebody else holds for longer than a worker waits, and transactions that come in each other's way all the time: orders are
//! late, and none is lost, doubled, or given up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use seckill_testkit::{Database, Kind, MariaDbServer, PostgresServer};
use serde_json::json;

use crate::rush::Rush;
use crate::shop::{API, SCHEDULER, Shop, WORKER};
use crate::storm::Ends;

const STOCK: u64 = 50_000;
/// Longer than a worker waits for a row.
const HELD_FOR: Duration = Duration::from_secs(6);
/// Transactions that the server has to give up before the storm ends.
const DEADLOCKS: u64 = 2;

fn is_postgres(database: &Database<impl Kind>) -> bool {
    database.url().starts_with("postgres")
}

/// Transactions that the server has given up because they stood in a circle.
fn deadlocks(database: &Database<impl Kind>) -> u64 {
    let said = if is_postgres(database) {
        database.say("SELECT 'given up ' || sum(deadlocks) FROM pg_stat_database")
    } else {
        database.say("SELECT concat('given up ', variable_value) FROM information_schema.global_status WHERE variable_name = 'Innodb_deadlocks'")
    };
    let count = said
        .lines()
        .find_map(|line| line.trim().strip_prefix("given up ")?.parse().ok());
    count.unwrap_or_else(|| panic!("{said}"))
}

/// Takes the stock row first and then rows that workers write first: those of the buyers who are about to come. Rows that are there are
/// passed over, those of a transaction that is under way are waited for.
fn contrary(database: &Database<impl Kind>, activity: u64, around: u64) -> String {
    let row = |n: u64| format!("({activity}, 'u{n}', 9, {}, 1, '0123456789abcdef', 1, 1)", n + 1);
    let rows: Vec<_> = (around.saturating_sub(20)..around + 20).map(row).collect();
    let (ignoring, otherwise) = match is_postgres(database) {
        true => ("", "ON CONFLICT DO NOTHING"),
        false => ("IGNORE", ""),
    };
    format!(
        "BEGIN; SELECT version FROM stock WHERE activity_id = {activity} FOR UPDATE; INSERT {ignoring} INTO records \
         (activity_id, user_id, epoch, sequence, quantity, request_key, accepted_at, state) VALUES {} {otherwise}; ROLLBACK",
        rows.join(", ")
    )
}

/// With one failed attempt a ticket would be given up.
fn rows_in_other_hands_only_delay<K: Kind>() {
    let database = Database::<K>::alone(&[]);
    let shop = Shop::new(database.url()).setting("SECKILL_QUEUE__ATTEMPTS_MAX", "1");
    let shop = shop.with(&[API, WORKER, WORKER, SCHEDULER]);
    let node = &shop.nodes[0];
    let rush = Rush::at(&shop.nodes[..1], node.sale(STOCK, &json!({})));
    let activity = rush.activity;
    rush.during(|| rush.admits(node, 50));
    let row_of = |table: &str| format!("BEGIN; SELECT * FROM {table} WHERE activity_id = {activity} FOR UPDATE");
    let held = ["stock", "orders"].map(|table| database.hold(&row_of(table)));
    let begun = Instant::now();
    let comes = || {
        rush.comes(|| false);
        begun.elapsed()
    };
    let _passed = node.until(comes, |passed| HELD_FOR <= *passed);
    drop(held);
    let wanted = deadlocks(&database) + DEADLOCKS;
    rush.during(|| {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let contradicts = || {
                while !over.load(Ordering::SeqCst) {
                    // It fails where it is the one that is given up.
                    let _ = database.tries(&contrary(&database, activity, rush.admitted()));
                }
            };
            scope.spawn(contradicts);
            let _ends = Ends(&over);
            let _storm = node.until(|| deadlocks(&database), |deadlocks| wanted <= *deadlocks);
        });
    });
    rush.check(node, STOCK);
}

#[test]
fn rows_of_postgresql_in_other_hands_only_delay_orders() {
    rows_in_other_hands_only_delay::<PostgresServer>();
}

#[test]
fn rows_of_mariadb_in_other_hands_only_delay_orders() {
    rows_in_other_hands_only_delay::<MariaDbServer>();
}
