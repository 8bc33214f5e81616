//! Tables that lost what keeps orders apart are refused with what makes them whole, and `examine` tells what it sees.

use seckill_ledger::Error;
use seckill_ledger_sql::{Server, ServerOptions};
use seckill_sale::{Clock as _, EpochMs, Finding, ManualClock, Severity, SystemClock};
use seckill_testkit::{Database, Kind};

use crate::faults::open;

/// What somebody did, and a part of the statement that undoes it.
fn losses(is_postgres: bool) -> [(&'static str, &'static str, &'static str); 5] {
    if is_postgres {
        [
            (
                "ALTER TABLE orders DROP CONSTRAINT orders_one_of_a_user",
                "keys",
                "UNIQUE (user_id, activity_id)",
            ),
            (
                "ALTER TABLE records DROP CONSTRAINT records_pkey",
                "keys",
                "ADD PRIMARY KEY (activity_id, user_id)",
            ),
            (
                "ALTER TABLE stock DROP CONSTRAINT stock_is_not_oversold",
                "keys",
                "CHECK (available >= 0)",
            ),
            (
                "DROP INDEX orders_by_activity",
                "keys",
                "CREATE INDEX orders_by_activity",
            ),
            (
                r#"ALTER TABLE records ALTER COLUMN user_id TYPE TEXT COLLATE "default""#,
                "collation",
                r#"ALTER COLUMN user_id TYPE TEXT COLLATE "C""#,
            ),
        ]
    } else {
        [
            (
                "ALTER TABLE orders DROP INDEX orders_one_of_a_user",
                "keys",
                "UNIQUE (user_id, activity_id)",
            ),
            (
                "ALTER TABLE records DROP PRIMARY KEY",
                "keys",
                "ADD PRIMARY KEY (activity_id, user_id)",
            ),
            (
                "ALTER TABLE stock DROP CONSTRAINT stock_is_not_oversold",
                "keys",
                "CHECK (available >= 0)",
            ),
            (
                "ALTER TABLE orders DROP INDEX orders_by_activity",
                "keys",
                "INDEX orders_by_activity",
            ),
            (
                "ALTER TABLE records MODIFY user_id VARCHAR(64) CHARACTER SET utf8mb4 NOT NULL",
                "collation",
                "MODIFY user_id VARBINARY(64) NOT NULL",
            ),
        ]
    }
}

fn examine(url: &str) -> Vec<Finding> {
    Server::findings(url, ServerOptions::default(), &SystemClock).expect("an address")
}

fn found<'a>(findings: &'a [Finding], area: &str) -> &'a Finding {
    let found = findings.iter().find(|finding| finding.area == area);
    found.unwrap_or_else(|| panic!("nothing is said of {area}: {findings:?}"))
}

pub fn what_the_tables_lost_is_named_with_what_makes_it_again<K: Kind>() {
    let database = Database::<K>::fresh();
    let url = database.url();
    drop(open(&url));
    for (loss, area, repair) in losses(url.starts_with("postgres")) {
        let _ = database.say(loss);
        let finding = found(&examine(&url), area).clone();
        assert_eq!(finding.severity, Severity::Failed, "{finding:?}");
        for migrate in [true, false] {
            let options = ServerOptions {
                migrate,
                ..ServerOptions::default()
            };
            match Server::open(&url, options) {
                Err(Error::Rejected(said)) => assert!(said.contains(repair), "{loss}: {said}"),
                other => panic!("{loss}: {:?}", other.map(drop)),
            }
        }
        let (_, statements) = finding.sentence.split_once("run: ").expect("what to run");
        let _ = database.say(statements);
        drop(open(&url));
    }
}

pub fn a_good_database_passes_and_an_empty_one_is_to_be_migrated<K: Kind>() {
    let database = Database::<K>::fresh();
    let url = database.url();
    let schema = found(&examine(&url), "schema").clone();
    assert_eq!(schema.severity, Severity::Failed);
    assert!(schema.sentence.contains("seckill migrate"), "{schema:?}");
    drop(open(&url));
    let findings = examine(&url);
    let others: Vec<_> = findings
        .iter()
        .filter(|finding| finding.severity != Severity::Passed)
        .collect();
    assert!(others.is_empty(), "{others:?}");
    let areas: Vec<_> = findings.iter().map(|finding| finding.area).collect();
    let all = [
        "connection",
        "version",
        "schema",
        "keys",
        "collation",
        "isolation",
        "durability",
        "connections",
        "clock",
        "rights",
        "writes",
    ];
    assert_eq!(areas, all);
}

pub fn too_few_connections_and_a_wrong_clock_are_told_of<K: Kind>() {
    let database = Database::<K>::fresh();
    let url = database.url();
    drop(open(&url));
    let many = ServerOptions {
        writers: 200,
        readers: 55,
        ..ServerOptions::default()
    };
    let findings =
        Server::findings(&url, many, &ManualClock::at(EpochMs(SystemClock.now().0 - 5_000))).expect("an address");
    let connections = found(&findings, "connections");
    assert_eq!(connections.severity, Severity::Failed);
    assert!(connections.sentence.contains("opens 255"), "{connections:?}");
    let clock = found(&findings, "clock");
    assert_eq!(clock.severity, Severity::Warning);
    assert!(clock.sentence.contains("ahead of"), "{clock:?}");
}

pub fn a_server_that_is_not_there_is_a_finding<K: Kind>() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr()
        .expect("bound")
        .port();
    let database = Database::<K>::fresh();
    let url = database
        .url()
        .replace(&format!(":{}/", database.port()), &format!(":{nobody}/"));
    let findings = examine(&url);
    assert_eq!(found(&findings, "connection").severity, Severity::Failed);
    assert_eq!(findings.len(), 1);
}
