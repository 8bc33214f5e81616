//! A database restored from an older copy: noticed at the start, mended by `seckill recover`, without a second sale.

use std::fs;

use seckill_testkit::Server;
use serde_json::json;

use crate::program;

const FILES: [&str; 3] = ["seckill.db", "seckill.db-wal", "seckill.db-shm"];

fn copy(server: &Server, from: &str, to: &str) {
    for file in FILES {
        let (from, to) = (
            server.data().join(format!("{from}{file}")),
            server.data().join(format!("{to}{file}")),
        );
        if from.exists() {
            fs::copy(&from, &to).expect("copied");
        } else {
            let _ = fs::remove_file(&to);
        }
    }
}

#[test]
fn a_database_restored_from_an_older_copy_is_refused_and_recovered_without_a_second_sale() {
    let mut server = Server::start(&program());
    let activity = server.sale(3, &json!({}));
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
    let _ = server.settled(activity);
    server.terminate();
    copy(&server, "", "old-");
    server.start_again();
    let ticket = server.buy(activity, "b", "k").expect("answers").data()["ticket"].clone();
    let _ = server.settled(activity);
    server.terminate();
    copy(&server, "old-", "");

    server.spawn();
    assert_eq!(server.wait_end().code(), Some(1));
    assert!(server.log().contains("seckill recover"), "{}", server.log());

    let data = server.data().to_string_lossy().into_owned();
    let dry = program().run(server.folder.path(), &["recover", "--data-dir", &data]);
    assert_eq!(dry.status.code(), Some(0), "{dry:?}");
    server.spawn();
    assert_eq!(server.wait_end().code(), Some(1), "a dry run changes nothing");
    let done = program().run(server.folder.path(), &["recover", "--yes", "--data-dir", &data]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");

    server.start_again();
    let audit = server.settled(activity);
    assert_eq!(audit["balanced"], true, "{audit}");
    assert_eq!(
        (audit["orders_live"].as_u64(), audit["stock_left"].as_u64()),
        (Some(2), Some(1)),
        "{audit}"
    );
    let again = server.buy(activity, "b", "k").expect("answers");
    assert_eq!((again.status, &again.data()["ticket"]), (202, &ticket));
    assert_eq!(server.buy(activity, "c", "k").expect("answers").status, 202);
    assert_eq!(server.buy(activity, "d", "k").expect("answers").status, 410);
}

#[test]
fn a_journal_without_its_database_is_refused() {
    let mut server = Server::start(&program());
    let activity = server.sale(3, &json!({}));
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
    let _ = server.settled(activity);
    server.terminate();
    for file in FILES {
        let _ = fs::remove_file(server.data().join(file));
    }
    server.spawn();
    assert_eq!(server.wait_end().code(), Some(1));
    assert!(server.log().contains("seckill recover"), "{}", server.log());
}

#[test]
fn a_database_without_its_journal_is_refused() {
    let mut server = Server::start(&program());
    let activity = server.sale(3, &json!({}));
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
    let _ = server.settled(activity);
    server.terminate();
    fs::remove_dir_all(server.data().join("journal")).expect("removed");
    server.spawn();
    assert_eq!(server.wait_end().code(), Some(1));
    assert!(server.log().contains("seckill recover"), "{}", server.log());
}
