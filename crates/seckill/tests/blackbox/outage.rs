//! A database that is gone for longer than any limit of ours, or that hardly lets anybody in: the sale goes on, and its orders are written
//! when that can be.

use std::time::{Duration, Instant};

use seckill_testkit::{Database, Kind, MariaDbServer, PostgresServer, Server};
use serde_json::json;

use crate::rush::Rush;
use crate::shop::{API, SCHEDULER, Shop, WORKER};

const STOCK: u64 = 50_000;
/// Longer than a ticket's waits and a worker's pauses together, and than the limit after which an outage is told.
const OUTAGE: Duration = Duration::from_secs(8);

/// The code of what this user hears of his ticket.
fn told(node: &Server, activity: u64, user: &str) -> i64 {
    let path = format!("/api/seckill/result/{activity}");
    node.as_user(user, "GET", &path, None).expect("answers").code()
}

/// A ticket whose first failed attempt would be its last one: none counts.
fn a_sale_goes_on_without_its_database<K: Kind>() {
    let mut database = Database::<K>::alone(&[]);
    let shop = Shop::new(database.url()).setting("SECKILL_QUEUE__ATTEMPTS_MAX", "1");
    let shop = shop.with(&[API, WORKER, WORKER, SCHEDULER]);
    let node = &shop.nodes[0];
    let rush = Rush::at(&shop.nodes[..1], node.sale(STOCK, &json!({})));
    rush.during(|| {
        rush.admits(node, 20);
        database.kill();
    });
    let begun = Instant::now();
    let comes = || {
        rush.comes(|| false);
        begun.elapsed()
    };
    let _passed = node.until(comes, |passed| OUTAGE <= *passed);
    let before = rush.admitted();
    assert!(100 < before, "{before} were admitted");
    let last = format!("u{}", before - 1);
    assert_eq!(told(node, rush.activity, &last), 0, "it waits");
    database.start_again();
    rush.comes(|| false);
    rush.check(node, STOCK);
    shop.nodes.iter().for_each(told_once);
}

/// However many things failed meanwhile, and however often.
fn told_once(node: &Server) {
    node.until_logged("the database can be used again");
    let log = node.log();
    let warnings: Vec<_> = log.lines().filter(|line| line.contains("WARN")).collect();
    let count = warnings
        .iter()
        .filter(|line| line.contains("the database cannot be used"))
        .count();
    // Beside it: alerts, and what was asked for in the moment of the end.
    assert!(count == 1 && warnings.len() < 8, "{warnings:#?}");
}

#[test]
fn a_sale_goes_on_while_postgresql_is_down_and_its_orders_are_written_afterwards() {
    a_sale_goes_on_without_its_database::<PostgresServer>();
}

#[test]
fn a_sale_goes_on_while_mariadb_is_down_and_its_orders_are_written_afterwards() {
    a_sale_goes_on_without_its_database::<MariaDbServer>();
}

/// Statements in a database's own words.
struct Words {
    /// Makes a user who owns nothing, for the server's owner is never kept out.
    guest: &'static str,
    /// Three connections for him.
    few: &'static str,
    /// Ends those that he has.
    cut: &'static str,
}

const POSTGRES: Words = Words {
    guest: "CREATE ROLE guest LOGIN; DO $$ BEGIN EXECUTE 'ALTER SCHEMA ' || current_schema() || ' OWNER TO guest'; END $$",
    few: "ALTER ROLE guest CONNECTION LIMIT 3",
    cut: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guest'",
};

const MARIADB: Words = Words {
    guest: "CREATE USER guest@'%'; GRANT ALL ON `%`.* TO guest@'%'",
    few: "SET GLOBAL max_user_connections = 3",
    cut: "KILL USER guest@'%'",
};

/// An API and two workers, each of which would like to have more connections than there are for all of them.
fn processes_with_too_few_connections_lose_nothing(database: &Database<impl Kind>, words: &Words) {
    let _ = database.say(words.guest);
    let url = ["//root@", "//seckill@"]
        .iter()
        .fold(database.url(), |url, owner| url.replace(owner, "//guest@"));
    let shop = Shop::new(url)
        .setting("SECKILL_QUEUE__ATTEMPTS_MAX", "1")
        .with(&[API, WORKER, WORKER]);
    let node = &shop.nodes[0];
    let rush = Rush::at(&shop.nodes[..1], node.sale(STOCK, &json!({})));
    let _ = database.say(words.few);
    let _ = database.say(words.cut);
    rush.during(|| rush.admits(node, 300));
    let kept_out = || {
        shop.nodes
            .iter()
            .any(|node| node.log().contains("too many connections"))
    };
    let _told = node.until(kept_out, |told| *told);
    // They stay as few: each process gives back what it does not need, and all have their turn.
    rush.check(node, STOCK);
}

#[test]
fn processes_that_share_three_connections_of_postgresql_say_so_and_lose_nothing() {
    processes_with_too_few_connections_lose_nothing(&Database::<PostgresServer>::alone(&[]), &POSTGRES);
}

#[test]
fn processes_that_share_three_connections_of_mariadb_say_so_and_lose_nothing() {
    let database = Database::<MariaDbServer>::alone(&["max_user_connections=100"]);
    processes_with_too_few_connections_lose_nothing(&database, &MARIADB);
}
