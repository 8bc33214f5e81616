//! The end of a process: orderly on SIGTERM, one owner per folder, ports that are taken.

use std::fs;

use seckill_testkit::Server;
use serde_json::json;

use crate::program;

#[test]
fn sigterm_ends_with_exit_0_and_loses_no_ticket() {
    let mut server = Server::start(&program());
    let activity = server.sale(10, &json!({}));
    let ticket = server.buy(activity, "a", "k").expect("answers").data()["ticket"].clone();
    assert_eq!(server.terminate().code(), Some(0), "{}", server.log());
    server.start_again();
    let again = server.buy(activity, "a", "k").expect("answers");
    assert_eq!((again.status, &again.data()["ticket"]), (202, &ticket));
    assert_eq!(server.settled(activity)["balanced"], true);
}

#[test]
fn a_second_process_on_the_same_folder_is_refused() {
    let server = Server::start(&program());
    let data = server.data();
    let second = program().run(
        server.folder.path(),
        &[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--admin-listen",
            "127.0.0.1:0",
            "--data-dir",
            &data.to_string_lossy(),
        ],
    );
    assert_eq!(second.status.code(), Some(1), "{second:?}");
    assert!(
        String::from_utf8_lossy(&second.stderr).contains(&server.pid().to_string()),
        "{second:?}"
    );
}

#[test]
fn a_second_process_on_the_same_port_is_refused() {
    let server = Server::start(&program());
    let second = program().run(
        server.folder.path(),
        &[
            "serve",
            "--listen",
            &server.public.to_string(),
            "--admin-listen",
            "127.0.0.1:0",
            "--data-dir",
            "elsewhere",
        ],
    );
    assert_eq!(second.status.code(), Some(1), "{second:?}");
    assert!(
        String::from_utf8_lossy(&second.stderr).contains("address in use"),
        "{second:?}"
    );
}

#[test]
fn a_damaged_journal_refuses_the_start_and_verify_finds_it() {
    let mut server = Server::start(&program());
    let activity = server.sale(10, &json!({}));
    for user in ["a", "b", "c"] {
        assert_eq!(server.buy(activity, user, "k").expect("answers").status, 202);
    }
    let _ = server.settled(activity);
    server.terminate();
    let journal = server.data().join("journal");
    let names = fs::read_dir(&journal)
        .expect("the journal")
        .map(|entry| entry.expect("readable").path());
    let segment = names
        .filter(|path| path.to_string_lossy().contains("segment"))
        .max()
        .expect("a segment");
    let mut bytes = fs::read(&segment).expect("readable");
    // In the first frame, behind the segment's header of one sector.
    bytes[540] ^= 1;
    fs::write(&segment, bytes).expect("writable");
    server.spawn();
    assert_eq!(server.wait_end().code(), Some(1));
    assert!(server.log().contains("seckill journal verify"), "{}", server.log());
    let data = server.data().to_string_lossy().into_owned();
    let verify = program().run(server.folder.path(), &["journal", "--data-dir", &data, "verify"]);
    assert_eq!(verify.status.code(), Some(3), "{verify:?}");
}
