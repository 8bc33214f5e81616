//! The checklist's lines about store and database, and those of a sale that need one of them: each is broken and turns red.

use rusqlite::Connection;
use seckill_ledger::{Catalog, Settlement};
use seckill_queue::Queue;
use seckill_sale::ActivityId;
use seckill_stock::Stock;
use serde_json::json;

use crate::check::{check, of_activity, of_node};
use crate::house::{House, NOW};

impl House {
    fn by_hand(&self) -> Connection {
        Connection::open(&self.database).expect("the database")
    }
}

#[tokio::test]
async fn store_whose_disk_hangs_fails_with_all_that_is_asked_of_it() {
    let house = House::new();
    let id = house.opened(10).await;
    house.engine.hang().await;
    let list = of_activity(&house, id).await;
    check(&list, "store", "failed", "cannot be reached");
    check(&list, "stock", "failed", "cannot be reached");
    house.engine.answer_again().await;
    check(&of_node(&house).await, "store", "passed", "answers within");
}

#[tokio::test]
async fn database_that_cannot_be_read_fails() {
    let house = House::new();
    house.by_hand().execute_batch("DROP TABLE switches").expect("dropped");
    check(&of_node(&house).await, "database", "failed", "switches");
}

#[tokio::test]
async fn sale_that_cannot_be_read_leaves_the_other_lines_as_they_are() {
    let house = House::new();
    let id = house.opened(10).await;
    house
        .by_hand()
        .execute_batch("ALTER TABLE activities RENAME TO gone")
        .expect("renamed");
    let list = of_activity(&house, id).await;
    check(&list, "sale", "failed", "can't be read");
    check(&list, "store", "passed", "");
}

#[tokio::test]
async fn database_that_is_locked_for_writing_is_said_to_be_read_and_not_written_in_one_line() {
    let house = House::new();
    let other = house.by_hand();
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    let list = of_node(&house).await;
    check(
        &list,
        "database writes",
        "failed",
        "reads are answered, writes are not: ",
    );
    let mut lines = list["checks"].as_array().into_iter().flatten();
    assert!(lines.all(|line| line["area"] != "database"), "{list}");
    other.execute_batch("ROLLBACK").expect("free again");
    check(&of_node(&house).await, "database writes", "passed", "");
}

#[tokio::test]
async fn database_with_a_row_that_cannot_be_is_told_of() {
    let house = House::new();
    let _id = house.opened(10).await;
    let spoil = "PRAGMA ignore_check_constraints = 1; UPDATE stock SET available = -1";
    house.by_hand().execute_batch(spoil).expect("spoiled");
    check(
        &of_node(&house).await,
        "database settings",
        "failed",
        "CHECK constraint failed in stock",
    );
}

#[tokio::test]
async fn sale_that_is_no_sale_or_is_over_fails() {
    let house = House::new();
    let id = house.opened(10).await;
    let draft = json!({"status": "draft"});
    let path = format!("/admin/api/activities/{id}");
    let _maybe = house.patch(&path, draft).await;
    house
        .by_hand()
        .execute("UPDATE activities SET status = 'draft'", [])
        .expect("by hand");
    check(&of_activity(&house, id).await, "sale", "failed", "a draft");
    house
        .by_hand()
        .execute("UPDATE activities SET status = 'running'", [])
        .expect("by hand");
    check(&of_activity(&house, id).await, "sale", "passed", "sells from");
    house.clock.set(NOW.plus(100 * 86_400_000));
    house.beat();
    check(&of_activity(&house, id).await, "sale", "failed", "ended at");
}

#[tokio::test]
async fn sale_that_is_closed_fails() {
    let house = House::new();
    let id = house.opened(10).await;
    house
        .post(&format!("/admin/api/activities/{id}/close"), json!({}))
        .await
        .is(200, 0);
    check(&of_activity(&house, id).await, "sale", "failed", "closed for good");
}

#[tokio::test]
async fn sale_of_which_the_store_has_another_one_with_its_number_fails() {
    let house = House::new();
    let id = house.opened(10).await;
    check(&of_activity(&house, id).await, "stock", "passed", "in place");
    let id_in_store = ActivityId::new(id).expect("in range");
    house.store.set_created([(id_in_store, NOW.plus(1))].into());
    check(
        &of_activity(&house, id).await,
        "stock",
        "failed",
        "another sale that had this number",
    );
}

#[tokio::test]
async fn sale_that_this_node_does_not_know_fails() {
    let house = House::new();
    let id = house.opened(10).await;
    house.gate.catalogue().replace([]);
    check(&of_activity(&house, id).await, "sale", "failed", "does not know it");
}

#[tokio::test]
async fn books_that_change_while_they_are_read_are_a_warning() {
    let house = House::new();
    let id = house.opened(10).await;
    house.claim(id, "a").await.expect("a unit");
    let batch = seckill_ledger::SettleBatch {
        created_at: None,
        activity: ActivityId::new(id).expect("in range"),
        tickets: house.store.take(10).await.expect("taken"),
        now: NOW,
        pay_within_ms: 900_000,
    };
    // A worker between ledger and store.
    house.ledger.settle(batch).await.expect("settled");
    check(&of_activity(&house, id).await, "stock", "warning", "ask again");
}

#[tokio::test]
async fn dead_letters_are_a_warning_of_the_workers() {
    let house = House::new();
    let id = house.opened(10).await;
    house.claim(id, "a").await.expect("a unit");
    house.park_all().await;
    check(&of_node(&house).await, "workers", "warning", "1 dead letter waits");
}

#[tokio::test]
async fn sale_of_fewer_units_than_shards_is_told_of() {
    let house = House::new();
    let id = house.opened(10).await;
    let split = |shards: i64| {
        let said = house.by_hand().execute("UPDATE activities SET shards = ?1", [shards]);
        assert_eq!(said, Ok(1));
    };
    split(11);
    check(
        &of_activity(&house, id).await,
        "shards",
        "warning",
        "10 units in 11 shards",
    );
    split(10);
    let list = of_activity(&house, id).await;
    let has_line = |list: &serde_json::Value| list["checks"].to_string().contains("shards");
    assert!(
        !has_line(&list),
        "a store in one piece has nothing to say of them: {list}"
    );
    let _known = house
        .ledger
        .activity(ActivityId::new(id).expect("in range"))
        .await
        .expect("is there");
}
