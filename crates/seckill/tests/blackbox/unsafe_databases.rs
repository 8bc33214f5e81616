//! Databases that would lose or double orders are refused at the start, with what mends them.

use seckill_testkit::{MariaDb, Postgres, Redis, Server};
use serde_json::json;

use crate::program;
use crate::unsafe_servers::assert_refused;

#[test]
fn a_database_that_takes_two_buyers_for_one_is_refused_with_what_mends_it() {
    let database = MariaDb::fresh();
    let url = database.url();
    let settings = [
        ("SECKILL_DATABASE__URL", url.as_str()),
        ("SECKILL_DATABASE__MIGRATE", "auto"),
    ];
    drop(Server::start_with(&program(), &settings));
    let _ = database.say("ALTER TABLE records MODIFY user_id VARCHAR(64) CHARACTER SET utf8mb4 NOT NULL");
    assert_refused(&settings, 4, "MODIFY user_id VARBINARY(64) NOT NULL");
}

#[test]
fn a_user_of_the_database_who_may_only_read_is_refused() {
    let database = Postgres::alone(&[]);
    let url = database.url();
    drop(Server::start_with(
        &program(),
        &[("SECKILL_DATABASE__URL", &url), ("SECKILL_DATABASE__MIGRATE", "auto")],
    ));
    let schema = database.say("SELECT 'schema ' || current_schema()");
    let schema = schema
        .split_whitespace()
        .skip_while(|word| *word != "schema")
        .nth(1)
        .expect("its name");
    let _ = database.say(&format!(
        "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA {schema} TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader"
    ));
    let as_reader = url.replace("//seckill@", "//reader@");
    assert_refused(&[("SECKILL_DATABASE__URL", &as_reader)], 4, "permission denied: orders");
}

#[test]
fn a_database_that_is_not_there_is_refused_at_once_with_its_place() {
    let database = MariaDb::fresh();
    let (server, _) = database
        .url()
        .rsplit_once('/')
        .map(|(server, name)| (server.to_owned(), name.to_owned()))
        .expect("a name");
    let words = format!(
        "the database \"nowhere\" on 127.0.0.1:{}, as user \"root\", can't be opened: unknown database",
        database.port()
    );
    assert_refused(&[("SECKILL_DATABASE__URL", &format!("{server}/nowhere"))], 4, &words);
}

/// Tables with what a sale wrote, in an order in which they can be filled.
const TABLES: [&str; 8] = [
    "products",
    "activities",
    "stock",
    "orders",
    "records",
    "stock_movements",
    "audit_rows",
    "admin_requests",
];

#[test]
fn a_database_restored_from_an_older_copy_beside_a_shared_store_is_refused_and_recovered() {
    let (redis, database) = (Redis::start(), Postgres::fresh());
    let (store, url) = (redis.url(), database.url());
    let settings = [
        ("SECKILL_STORE__URL", store.as_str()),
        ("SECKILL_DATABASE__URL", &url),
        ("SECKILL_DATABASE__MIGRATE", "auto"),
    ];
    let mut server = Server::start_with(&program(), &settings);
    let activity = server.sale(10, &json!({}));
    let sell = |server: &Server, users: &[&str]| {
        for user in users {
            assert_eq!(server.buy(activity, user, "k").expect("answers").status, 202);
        }
        assert_eq!(server.settled(activity)["balanced"], true);
    };
    let each = |statement: &dyn Fn(&str) -> String| TABLES.map(statement).join("; ");
    sell(&server, &["a"]);
    let _ = database.say(&each(&|table| format!("CREATE TABLE older_{table} AS TABLE {table}")));
    sell(&server, &["b", "c"]);
    server.terminate();
    let restore = each(&|table| format!("INSERT INTO {table} SELECT * FROM older_{table}"));
    let _ = database.say(&format!("TRUNCATE {} CASCADE; {restore}", TABLES.join(", ")));
    server.spawn();
    assert_eq!(server.wait_end().code(), Some(1));
    assert!(server.log().contains("it lacks results of 2 units"), "{}", server.log());
    let data = server.data().to_string_lossy().into_owned();
    let mut recover = program().command(server.folder.path(), &["recover", "--yes", "--data-dir", &data]);
    let recovered = recover.envs(settings).output().expect("starts");
    assert_eq!(recovered.status.code(), Some(0), "{recovered:?}");
    server.start_again();
    let books = server.settled(activity);
    assert_eq!(
        (&books["balanced"], &books["orders_live"]),
        (&json!(true), &json!(3)),
        "{books}"
    );
}
