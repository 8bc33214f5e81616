//! Reconciliation and recovery, which are dry unless told.

use http::Method;
use serde_json::json;

use crate::house::House;

#[tokio::test]
async fn lost_order_row_shows_in_audit_and_reconciliation() {
    let house = House::new();
    let id = house.opened(3).await;
    for user in ["a", "b"] {
        house.claim(id, user).await.expect("a unit is left");
    }
    house.settle().await;
    let path = format!("/admin/api/activities/{id}/reconcile");
    let clean = house.ask(Method::POST, &path).operator().send().await;
    assert_eq!(
        (&clean.is(200, 0).data()["clean"], &clean.data()["differences"]),
        (&json!(true), &json!([]))
    );

    let connection = rusqlite::Connection::open(&house.database).expect("the database");
    connection
        .execute("DELETE FROM orders WHERE user_id = 'b'", [])
        .expect("deleted");
    let audit = house.get(&format!("/admin/api/activities/{id}/audit")).await;
    assert_eq!(audit.data()["balanced"], false);
    let dry = house.post(&path, json!({"fix": false})).await;
    assert_eq!(dry.is(200, 0).data()["clean"], false);
    assert_eq!(dry.data()["differences"][0]["user"], "b");
    assert_eq!(dry.data()["before"], dry.data()["after"]);
}

#[tokio::test]
async fn recovery_says_what_it_will_do_and_does_it_only_when_told() {
    let house = House::new();
    let id = house.created(3).await;
    let path = format!("/admin/api/activities/{id}/recover");
    let dry = house.ask(Method::POST, &path).operator().send().await;
    let data = dry.is(200, 0).data();
    assert_eq!((&data["ran"], &data["recovered"]), (&json!(false), &json!([])));
    assert_eq!(
        (&data["plan"][0]["step"], &data["plan"][0]["activity"]),
        (&json!("rebuild"), &json!(id))
    );
    assert!(
        data["plan"][0]["says"]
            .as_str()
            .expect("words")
            .contains("built from the ledger")
    );
    assert!(!house.actions().await.contains(&"activity.recover".to_owned()));
    let ran = house.post(&path, json!({"run": true})).await;
    assert_eq!(
        (&ran.is(200, 0).data()["ran"], &ran.data()["recovered"][0]["left"]),
        (&json!(true), &json!(3))
    );
    let again = house.post("/admin/api/recover", json!({})).await;
    assert_eq!(again.is(200, 0).data()["plan"], json!([]));
}
