//! The whole sale with its orders on a real PostgreSQL and a real MariaDB.

use seckill_testkit::{MariaDb, Postgres, Server};
use serde_json::json;
use tempfile::TempDir;

use crate::program;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Sells ten units to twelve buyers, is killed, starts again, and has the same books.
fn sells_and_keeps(url: &str) {
    let settings = [("SECKILL_DATABASE__URL", url), ("SECKILL_DATABASE__MIGRATE", "auto")];
    let mut server = Server::start_with(&program(), &settings);
    let activity = server.sale(10, &json!({}));
    let statuses: Vec<u16> = (0..12)
        .map(|user| server.buy(activity, &format!("u{user}"), "k").expect("answers").status)
        .collect();
    assert_eq!(
        statuses.iter().filter(|status| **status == 202).count(),
        10,
        "{statuses:?}"
    );
    let books = server.settled(activity);
    assert_eq!(
        (&books["balanced"], &books["orders_live"]),
        (&json!(true), &json!(10)),
        "{books}"
    );
    let orders = server.as_user("u3", "GET", "/api/orders", None).expect("answers");
    assert_eq!(orders.data()["orders"].as_array().map(Vec::len), Some(1), "{orders:?}");
    server.kill();
    server.start_again();
    assert_eq!(server.settled(activity)["orders_live"], 10);
    let id = activity.to_string();
    let audit = program().run(
        server.folder.path(),
        &["audit", &id, "--admin", &server.admin.to_string()],
    );
    assert_eq!(audit.status.code(), Some(0), "{audit:?}");
}

#[test]
fn a_sale_with_its_orders_on_postgresql_balances_and_outlives_a_kill() {
    sells_and_keeps(&Postgres::fresh().url());
}

#[test]
fn a_sale_with_its_orders_on_mariadb_balances_and_outlives_a_kill() {
    sells_and_keeps(&MariaDb::fresh().url());
}

#[test]
fn a_server_database_is_migrated_by_the_command_unless_told_otherwise() {
    let database = Postgres::fresh();
    let folder = TempDir::new().expect("a folder");
    let run = |command: &str| {
        let mut command = program().command(folder.path(), &[command, "--data-dir", "data"]);
        command
            .env("SECKILL_DATABASE__URL", database.url())
            .output()
            .expect("starts")
    };
    let refused = run("serve");
    assert_eq!(refused.status.code(), Some(4), "{}", text(&refused.stderr));
    assert!(
        text(&refused.stderr).contains("run `seckill migrate`"),
        "{}",
        text(&refused.stderr)
    );
    let migrated = run("migrate");
    assert_eq!(migrated.status.code(), Some(0), "{}", text(&migrated.stderr));
    let _ = Server::start_with(&program(), &[("SECKILL_DATABASE__URL", &database.url())]);
}
