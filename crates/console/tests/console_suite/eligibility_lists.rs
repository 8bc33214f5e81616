//! Lists of users as they are kept and read: by the ledger, by this node and by others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use http::Method;
use seckill_gate::{ELIGIBLE_LISTS_MAX, Gate};
use seckill_sale::ActivityId;

use crate::eligibility::{has, path, put};
use crate::house::{House, activity};

/// What the gate refuses with 50303: a sale of which it knows that it has a list, and that has none here.
fn is_shut(gate: &Gate, id: ActivityId) -> bool {
    let activity = gate.catalogue().find(id).expect("known");
    activity.eligibility.list.is_some() && gate.eligible().of(id).is_none()
}

#[tokio::test]
async fn the_first_list_of_an_open_sale_keeps_nobody_out_who_is_on_it() {
    let house = House::new();
    let id = house.opened(5).await;
    let list: String = (0..50_000).map(|n| format!("user-{n}\n")).collect();
    let (gate, ended) = (house.gate.clone(), Arc::new(AtomicBool::new(false)));
    let watching = {
        let (ended, id) = (ended.clone(), ActivityId::new(id).expect("in range"));
        thread::spawn(move || {
            let mut was_shut = false;
            while !ended.load(Ordering::Relaxed) {
                was_shut |= is_shut(&gate, id);
            }
            was_shut
        })
    };
    put(&house, id, "text/plain", list.as_bytes()).await.is(200, 0);
    ended.store(true, Ordering::Relaxed);
    assert!(!watching.join().expect("no panic"));
    assert_eq!(has(&house.gate, id, "user-7"), Some(true));
}

#[tokio::test]
async fn each_list_has_a_salt_of_its_own() {
    let house = House::new();
    let id = house.opened(5).await;
    let mut kept = Vec::new();
    for _ in 0..2 {
        put(&house, id, "text/plain", b"alice").await.is(200, 0);
        let row = "SELECT l.salt, p.bytes FROM eligible_lists l JOIN eligible_pieces p USING (activity_id)";
        let row: rusqlite::Result<(Vec<u8>, Vec<u8>)> =
            database(&house).query_row(row, [], |row| Ok((row.get(0)?, row.get(1)?)));
        kept.push(row.expect("a list"));
    }
    assert_eq!(kept[0].0.len(), 16);
    assert!(kept[0].0 != kept[1].0 && kept[0].1 != kept[1].1);
}

/// The database, to be broken.
fn database(house: &House) -> rusqlite::Connection {
    rusqlite::Connection::open(&house.database).expect("the database")
}

#[tokio::test]
async fn what_cannot_be_read_keeps_back_nothing_else() {
    let house = House::new();
    let id = house.opened(5).await;
    let (other, console, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    put(&house, id, "text/plain", b"alice").await.is(200, 0);
    let broken = database(&house);
    broken
        .execute_batch("ALTER TABLE blocks RENAME TO gone")
        .expect("renamed");
    console.refresh().await.expect_err("there are no blocks");
    assert_eq!(has(&other, id, "alice"), Some(true), "the lists come nevertheless");
    broken
        .execute_batch("ALTER TABLE gone RENAME TO blocks; ALTER TABLE activities RENAME TO gone")
        .expect("renamed");
    console.refresh_lists().await.expect_err("there are no lists");
    let small = console.refresh_switches_and_blocks().await;
    small.expect("switches and blocks wait for no list");
}

#[tokio::test]
async fn a_list_stays_while_the_catalogue_of_the_node_says_that_there_is_one() {
    let house = House::new();
    let id = house.opened(5).await;
    put(&house, id, "text/plain", b"alice").await.is(200, 0);
    let (other, console, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    let activity = ActivityId::new(id).expect("in range");
    let told = house.gate.catalogue().find(activity).expect("known");
    other.catalogue().put(&told);
    let removed = house.ask(Method::DELETE, &path(id)).operator().send().await;
    removed.is(200, 0);
    console.refresh_lists().await.expect("the ledger answers");
    assert_eq!(has(&other, id, "alice"), Some(true), "its catalogue has not heard yet");
    other
        .catalogue()
        .put(&house.gate.catalogue().find(activity).expect("known"));
    console.refresh_lists().await.expect("the ledger answers");
    assert_eq!(has(&other, id, "alice"), None);
}

#[tokio::test]
async fn a_list_of_a_ledger_that_was_restored_is_in_force_at_once() {
    let house = House::new();
    let id = house.opened(5).await;
    put(&house, id, "text/plain", b"alice").await.is(200, 0);
    let copy = house.database.with_extension("copy");
    let copied = format!("VACUUM INTO '{}'", copy.display());
    database(&house).execute_batch(&copied).expect("copied");
    put(&house, id, "text/plain", b"bob").await.is(200, 0);
    let restored = format!(
        "ATTACH '{}' AS c; PRAGMA foreign_keys = OFF;
        UPDATE main.activities SET eligible_list = (SELECT eligible_list FROM c.activities);
        DELETE FROM main.eligible_lists; INSERT INTO main.eligible_lists SELECT * FROM c.eligible_lists;
        DELETE FROM main.eligible_pieces; INSERT INTO main.eligible_pieces SELECT * FROM c.eligible_pieces;",
        copy.display()
    );
    database(&house).execute_batch(&restored).expect("restored");
    house.console.refresh_lists().await.expect("the ledger answers");
    assert_eq!(
        [has(&house.gate, id, "alice"), has(&house.gate, id, "bob")],
        [Some(true), Some(false)]
    );
}

#[tokio::test]
async fn no_more_sales_have_a_list_than_a_node_can_keep() {
    let house = House::new();
    let product = house.product().await;
    let mut ids = Vec::new();
    for _ in 0..=ELIGIBLE_LISTS_MAX {
        let sale = house.post("/admin/api/activities", activity(product, 1)).await;
        ids.push(sale.is(201, 0).id());
    }
    let (last, first) = ids.split_last().expect("some");
    for id in first {
        put(&house, *id, "text/plain", b"alice").await.is(200, 0);
    }
    let refused = put(&house, *last, "text/plain", b"alice").await;
    let detail = refused.is(409, 40900).json["detail"].as_str().expect("a detail");
    assert!(detail.contains("64 sales"), "{detail}");
    put(&house, first[0], "text/plain", b"bob").await.is(200, 0);
    let removed = house.ask(Method::DELETE, &path(first[0])).operator().send().await;
    removed.is(200, 0);
    put(&house, *last, "text/plain", b"alice").await.is(200, 0);
}
