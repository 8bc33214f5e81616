//! The checklist's lines about store and database, on real servers that are set wrongly, locked or gone.

use std::time::Duration;

use seckill_testkit::{Database, Kind, MariaDbServer, Network, PostgresServer, Proxy, Redis, Server};
use serde_json::json;

use crate::check::{lines, until};
use crate::program;

#[test]
fn a_store_that_is_set_so_that_it_loses_sales_or_is_gone_turns_its_lines_red() {
    let mut redis = Redis::start();
    let url = redis.url();
    let server = Server::start_with(&program(), &[("SECKILL_STORE__URL", url.as_str())]);
    until(&server, None, "store settings", "passed", "maxmemory-policy");
    for (setting, bad, good, state) in [
        ("maxmemory-policy", "volatile-lru", "noeviction", "failed"),
        ("appendonly", "no", "yes", "failed"),
        ("appendfsync", "everysec", "always", "warning"),
        ("no-appendfsync-on-rewrite", "yes", "no", "warning"),
    ] {
        redis.expect(&["CONFIG", "SET", setting, bad], "+OK");
        until(&server, None, "store settings", state, setting);
        redis.expect(&["CONFIG", "SET", setting, good], "+OK");
    }
    redis.expect(&["ACL", "SETUSER", "default", "-xautoclaim"], "+OK");
    until(&server, None, "store settings", "failed", "xautoclaim");
    redis.expect(&["ACL", "SETUSER", "default", "+@all"], "+OK");
    until(&server, None, "store settings", "passed", "rights");
    redis.kill();
    until(&server, None, "store", "failed", "cannot be reached");
    until(&server, None, "store settings", "failed", "");
    until(&server, None, "nodes", "failed", "not known");
    redis.start_again();
    until(&server, None, "store", "passed", "");
}

#[test]
fn a_store_that_answers_late_leaves_its_clock_uncertain() {
    let redis = Redis::start();
    let way = Proxy::to(redis.address());
    way.set(Network::Slow(Duration::from_millis(110)));
    let url = format!("redis://{}", way.address);
    let server = Server::start_with(&program(), &[("SECKILL_STORE__URL", url.as_str())]);
    assert_eq!(lines(&server, None, "clock")[0].0, "warning");
    until(&server, None, "clock", "warning", "answers take long");
    way.set(Network::Fine);
    until(&server, None, "clock", "passed", "known to");
}

/// A lock on the table of orders, one on the stock rows, a table whose ids are compared otherwise, and how it is mended.
struct Harm {
    table: &'static str,
    row: &'static str,
    collation: [&'static str; 2],
}

fn a_database_turns_its_lines_red<K: Kind>(harm: &Harm) {
    let mut database = Database::<K>::alone(&[]);
    let redis = Redis::start();
    let (store, url) = (redis.url(), database.url());
    let settings = [
        ("SECKILL_STORE__URL", store.as_str()),
        ("SECKILL_DATABASE__URL", &url),
        ("SECKILL_DATABASE__MIGRATE", "auto"),
    ];
    let server = Server::start_with(&program(), &settings);
    let sale = Some(server.sale(5, &json!({})));
    until(&server, sale, "database writes", "passed", "");
    until(&server, sale, "database settings", "passed", "collation");
    {
        let _held = database.hold(harm.table);
        until(
            &server,
            None,
            "database writes",
            "failed",
            "reads are answered, writes are not",
        );
    }
    {
        let _held = database.hold(harm.row);
        until(&server, sale, "database writes", "failed", "can't be written");
        assert_eq!(
            lines(&server, None, "database writes")[0].0,
            "passed",
            "other sales can be"
        );
    }
    let [worse, better] = harm.collation;
    let _ = database.say(worse);
    until(&server, None, "database settings", "failed", "two buyers can be one");
    let _ = database.say(better);
    until(&server, None, "database settings", "passed", "collation");
    database.kill();
    until(&server, None, "database", "failed", "");
    until(&server, None, "database settings", "failed", "");
    database.start_again();
    until(&server, None, "database writes", "passed", "");
}

#[test]
fn a_postgresql_that_is_locked_collates_otherwise_or_is_gone_turns_its_lines_red() {
    a_database_turns_its_lines_red::<PostgresServer>(&Harm {
        table: "BEGIN; LOCK TABLE orders IN EXCLUSIVE MODE",
        row: "BEGIN; SELECT * FROM stock FOR UPDATE",
        collation: [
            r#"ALTER TABLE records ALTER COLUMN user_id TYPE TEXT COLLATE "default""#,
            r#"ALTER TABLE records ALTER COLUMN user_id TYPE TEXT COLLATE "C""#,
        ],
    });
}

#[test]
fn a_mariadb_that_is_locked_collates_otherwise_or_is_gone_turns_its_lines_red() {
    a_database_turns_its_lines_red::<MariaDbServer>(&Harm {
        table: "LOCK TABLES orders WRITE",
        row: "BEGIN; SELECT * FROM stock FOR UPDATE",
        collation: [
            "ALTER TABLE records MODIFY user_id VARCHAR(64) CHARACTER SET utf8mb4 NOT NULL",
            "ALTER TABLE records MODIFY user_id VARBINARY(64) NOT NULL",
        ],
    });
}
