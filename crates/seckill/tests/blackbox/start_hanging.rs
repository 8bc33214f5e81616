//! A disk that does not answer while the process starts, a limit on the size of its files, and a database that hangs.

use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use seckill_bench::held_disk::{Held, HeldDisk};
use seckill_testkit::Server;
use serde_json::json;

use crate::program;

/// How long something that must happen soon may take.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn signal_ends_a_start_that_a_hanging_journal_keeps_waiting() {
    let disk = HeldDisk::build(Held::Journal, Duration::ZERO).expect("a C compiler");
    let environment = disk.environment();
    let environment: Vec<_> = environment.iter().map(|(name, value)| (&**name, &**value)).collect();
    let mut server = Server::start_with(&program(), &environment);
    let activity = server.sale(10, &json!({}));
    let ticket = server.buy(activity, "a", "k").expect("answers").data()["ticket"].clone();
    server.kill();
    disk.hang().expect("a file");
    server.spawn();
    let begun = Instant::now();
    while TcpStream::connect(server.public).is_err() {
        assert!(begun.elapsed() < PATIENCE, "{}", server.log());
        thread::yield_now();
    }
    assert_eq!(server.terminate().code(), Some(1), "{}", server.log());
    assert!(server.log().contains("a signal ended the start"), "{}", server.log());
    disk.release().expect("a file");
    server.start_again();
    let again = server.buy(activity, "a", "k").expect("answers");
    assert_eq!((again.status, &again.data()["ticket"]), (202, &ticket));
}

#[test]
fn limit_on_the_size_of_files_is_a_full_disk_and_ends_nobody() {
    let server = Server::start(&program());
    let pid = Pid::from_raw(i32::try_from(server.pid()).expect("a pid"));
    let limit = Rlimit {
        current: Some(9 << 20),
        maximum: None,
    };
    prlimit(pid, Resource::Fsize, limit).expect("our child");
    let activity = server.sale(100_000, &json!({}));
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
    assert_eq!(server.settled(activity)["balanced"], true);
}

#[test]
fn commands_are_answered_while_the_database_hangs_and_the_brake_holds() {
    let disk = HeldDisk::build(Held::Database, Duration::ZERO).expect("a C compiler");
    let mut environment = disk.environment();
    environment.push(("SECKILL_STORE__ANSWER_WITHIN".to_owned(), "1s".to_owned()));
    let environment: Vec<_> = environment.iter().map(|(name, value)| (&**name, &**value)).collect();
    let server = Server::start_with(&program(), &environment);
    let activity = server.sale(10, &json!({}));
    disk.hang().expect("a file");
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
    let product = json!({"name": "n", "price_cents": 1, "currency": "CNY", "stock": 1});
    let refused = server.as_admin("POST", "/admin/api/products", Some(&product));
    // Unknown, where its own commit is on its way to the disk; not done, where it waits behind that of an order.
    assert!(matches!(refused.code(), 50300 | 50302), "{refused:?}");
    let pause = format!("/admin/api/activities/{activity}/pause");
    let paused = server.as_admin("POST", &pause, Some(&json!({})));
    assert_eq!(
        (paused.status, &paused.data()["ledger_pending"]),
        (200, &json!(true)),
        "{paused:?}"
    );
    let shut = server.as_admin("PATCH", "/admin/api/switches", Some(&json!({"entry_open": false})));
    assert_eq!(shut.status, 200, "{shut:?}");
    assert_eq!(server.buy(activity, "b", "k").expect("answers").code(), 40006);
    disk.release().expect("a file");
    assert_eq!(server.settled(activity)["balanced"], true);
}
