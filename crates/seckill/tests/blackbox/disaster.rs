//! Losses that a start has to notice, beyond an older database: a journal that is behind, a database that is gone.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use seckill_testkit::Server;
use serde_json::{Value, json};

use crate::program;

pub(crate) fn run(server: &Server, arguments: &[&str]) -> Output {
    let data = server.data().to_string_lossy().into_owned();
    program().run(server.folder.path(), &[arguments, &["--data-dir", &data]].concat())
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn refused(server: &mut Server) {
    server.spawn();
    assert_eq!(server.wait_end().code(), Some(1), "{}", server.log());
    assert!(server.log().contains("seckill recover"), "{}", server.log());
}

pub(crate) fn ticket(server: &Server, activity: u64, user: &str) -> Value {
    let answer = server.buy(activity, user, "k").expect("answers");
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.data()["ticket"].clone()
}

fn segment(server: &Server) -> PathBuf {
    server.data().join("journal/journal-0000000001.segment")
}

/// Where what was written ends: the space behind it is zeroed.
fn written(segment: &Path) -> u64 {
    let bytes = fs::read(segment).expect("the segment");
    bytes.iter().rposition(|&byte| byte != 0).expect("frames") as u64
}

/// Ten units, alice, carl and dora have orders, and the journal was cut behind alice.
fn cut_behind_alice() -> (Server, u64, [Value; 3]) {
    let mut server = Server::start(&program());
    let activity = server.sale(10, &json!({}));
    let alice = ticket(&server, activity, "alice");
    let _ = server.settled(activity);
    let offset = written(&segment(&server)) + 20;
    let [carl, dora] = ["carl", "dora"].map(|user| ticket(&server, activity, user));
    let _ = server.settled(activity);
    server.terminate();
    let file = fs::File::options().write(true).open(segment(&server)).expect("opened");
    file.write_all_at(b"XXXX", offset).expect("damaged");
    let repaired = run(&server, &["journal", "repair"]);
    assert_eq!(repaired.status.code(), Some(0), "{repaired:?}");
    assert!(said(&repaired).contains("seckill recover"), "{repaired:?}");
    (server, activity, [alice, carl, dora])
}

#[test]
fn a_journal_behind_its_database_is_refused_and_built_anew_without_a_ticket_used_twice() {
    let (mut server, activity, tickets) = cut_behind_alice();
    refused(&mut server);
    let dry = run(&server, &["recover"]);
    assert_eq!(dry.status.code(), Some(0), "{dry:?}");
    assert!(said(&dry).contains("behind"), "{dry:?}");
    assert!(!said(&dry).contains("belong together"), "{dry:?}");
    refused(&mut server);
    let done = run(&server, &["recover", "--yes"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");

    server.start_again();
    for (user, old) in ["alice", "carl", "dora"].into_iter().zip(&tickets) {
        assert_eq!(&ticket(&server, activity, user), old);
    }
    let eve = ticket(&server, activity, "eve");
    assert!(!tickets.contains(&eve), "{eve}");
    let audit = server.settled(activity);
    assert_eq!(audit["balanced"], true, "{audit}");
    assert_eq!(
        (audit["orders_live"].as_u64(), audit["stock_left"].as_u64()),
        (Some(4), Some(6)),
        "{audit}"
    );
    server.terminate();
    server.start_again();
}

#[test]
fn a_journal_restored_from_an_older_copy_is_refused_and_mended() {
    let mut server = Server::start(&program());
    let activity = server.sale(3, &json!({}));
    ticket(&server, activity, "alice");
    let _ = server.settled(activity);
    server.terminate();
    let (journal, old) = (server.data().join("journal"), server.folder.path().join("old"));
    fs::create_dir(&old).expect("made");
    for file in fs::read_dir(&journal).expect("read") {
        let file = file.expect("read");
        fs::copy(file.path(), old.join(file.file_name())).expect("copied");
    }
    server.start_again();
    let carl = ticket(&server, activity, "carl");
    let _ = server.settled(activity);
    server.terminate();
    fs::remove_dir_all(&journal).expect("removed");
    fs::rename(&old, &journal).expect("restored");

    refused(&mut server);
    let done = run(&server, &["recover", "--yes"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    server.start_again();
    assert_eq!(ticket(&server, activity, "carl"), carl);
    assert_ne!(ticket(&server, activity, "eve"), carl);
    assert_eq!(server.settled(activity)["balanced"], true);
    assert_eq!(server.buy(activity, "frank", "k").expect("answers").status, 410);
}

#[test]
fn a_lost_database_stays_refused_whatever_recover_is_told_until_a_copy_is_back() {
    let mut server = Server::start(&program());
    let activity = server.sale(3, &json!({}));
    ticket(&server, activity, "alice");
    let _ = server.settled(activity);
    server.terminate();
    let kept = server.folder.path().join("kept.db");
    fs::copy(server.data().join("seckill.db"), &kept).expect("copied");
    for file in ["seckill.db", "seckill.db-wal", "seckill.db-shm"] {
        let _ = fs::remove_file(server.data().join(file));
    }
    for arguments in [&["recover"][..], &["recover", "--yes"], &["recover", "1", "--yes"]] {
        refused(&mut server);
        let recover = run(&server, arguments);
        assert_eq!(recover.status.code(), Some(1), "{recover:?}");
        assert!(said(&recover).contains("restore a copy"), "{recover:?}");
        assert!(!said(&recover).contains("done"), "{recover:?}");
    }
    refused(&mut server);
    for file in ["seckill.db-wal", "seckill.db-shm"] {
        let _ = fs::remove_file(server.data().join(file));
    }
    fs::rename(&kept, server.data().join("seckill.db")).expect("restored");
    server.start_again();
    assert_eq!(server.settled(activity)["balanced"], true);
}

#[test]
fn an_activity_that_only_the_journal_knows_is_refused_until_it_is_given_up() {
    let mut server = Server::start(&program());
    let first = server.sale(3, &json!({}));
    ticket(&server, first, "alice");
    let _ = server.settled(first);
    server.terminate();
    let kept = server.folder.path().join("kept.db");
    fs::copy(server.data().join("seckill.db"), &kept).expect("copied");
    server.start_again();
    ticket(&server, first, "bob");
    let second = server.sale(10, &json!({}));
    ticket(&server, second, "carl");
    let _ = server.settled(second);
    server.terminate();
    for file in ["seckill.db-wal", "seckill.db-shm"] {
        let _ = fs::remove_file(server.data().join(file));
    }
    fs::copy(&kept, server.data().join("seckill.db")).expect("restored");

    let recover = run(&server, &["recover", "--yes"]);
    assert_eq!(recover.status.code(), Some(1), "{recover:?}");
    assert!(said(&recover).contains("--give-up-unknown"), "{recover:?}");
    refused(&mut server);
    let only = run(&server, &["recover", &first.to_string(), "--yes"]);
    assert_eq!(only.status.code(), Some(0), "{only:?}");
    refused(&mut server);
    let given_up = run(&server, &["recover", "--yes", "--give-up-unknown"]);
    assert_eq!(given_up.status.code(), Some(0), "{given_up:?}");
    server.start_again();
    let audit = server.settled(first);
    assert_eq!((&audit["balanced"], &audit["orders_live"]), (&json!(true), &json!(2)));
    let next = server.sale(10, &json!({}));
    assert_eq!(server.settled(next)["stock_left"], 10, "nothing is inherited");
}
