//! The checklist before a sale: each thing that would spoil it is found, said in its own line, and changed by nothing.

use seckill_gate::{Authority, Expectations, Verifier};
use serde_json::{Value, json};

use crate::house::{House, NOW};

/// State and words of an area of the checklist.
fn found(list: &Value, area: &str) -> (String, String) {
    let checks = list["checks"].as_array().expect("a list");
    let mut of_area = checks.iter().filter(|check| check["area"] == area);
    let check = of_area.next().unwrap_or_else(|| panic!("{area} is not in {list}"));
    assert!(of_area.next().is_none(), "{area} stands once in {list}");
    let text = |name: &str| check[name].as_str().expect("a text").to_owned();
    (text("state"), text("said"))
}

pub(crate) async fn of_node(house: &House) -> Value {
    house.get("/admin/api/check").await.is(200, 0).data().clone()
}

pub(crate) async fn of_activity(house: &House, id: u64) -> Value {
    let path = format!("/admin/api/activities/{id}/check");
    house.get(&path).await.is(200, 0).data().clone()
}

#[track_caller]
pub(crate) fn check(list: &Value, area: &str, state: &str, words: &str) {
    let (is, said) = found(list, area);
    assert!(is == state && said.contains(words), "{area}: {is}, {said}");
    assert!(state != "failed" || list["passed"] == false, "{list}");
}

#[tokio::test]
async fn node_in_order_passes_with_its_limits_off_as_a_warning() {
    let house = House::new();
    let list = of_node(&house).await;
    assert_eq!(list["passed"], true, "{list}");
    for area in [
        "entrance",
        "challenge",
        "store",
        "store settings",
        "clock",
        "database",
        "database writes",
        "database settings",
        "nodes",
        "versions",
        "clocks",
        "scheduler",
        "workers",
    ] {
        check(&list, area, "passed", "");
    }
    check(
        &list,
        "limits",
        "warning",
        "limits.ip on; limits.network, limits.user, limits.device, limits.activity, limits.node, limits.read off: bots",
    );
    check(&list, "house", "warning", "a test");
}

#[tokio::test]
async fn sale_that_is_ready_passes_and_the_books_are_looked_at() {
    let house = House::new();
    let id = house.opened(10).await;
    house.claim(id, "a").await.expect("a unit");
    house.settle().await;
    let list = of_activity(&house, id).await;
    assert_eq!(list["passed"], true, "{list}");
    check(&list, "stock", "passed", "9 units are in place, and the books balance");
    check(&list, "sale", "passed", "sells from");
    check(&list, "backlog", "passed", "10 units");
    let connection = rusqlite::Connection::open(&house.database).expect("the database");
    assert_eq!(connection.execute("DELETE FROM orders", []), Ok(1));
    let words = format!("`seckill reconcile {id}`");
    check(&of_activity(&house, id).await, "stock", "failed", &words);
}

#[tokio::test]
async fn sale_that_was_not_preheated_or_is_paused_fails() {
    let house = House::new();
    let id = house.created(10).await;
    let list = of_activity(&house, id).await;
    check(&list, "stock", "failed", &format!("`seckill preheat {id}`"));
    let id = house.opened(10).await;
    let pause = format!("/admin/api/activities/{id}/pause");
    house.post(&pause, json!({})).await.is(200, 0);
    check(&of_activity(&house, id).await, "sale", "failed", "paused: resume it");
    let at = json!({"at": "2026-11-11T00:30:00Z"});
    house.post(&pause, at).await.is(200, 0);
    check(&of_activity(&house, id).await, "sale", "warning", "2026-11-11T00:30");
    house.get("/admin/api/activities/99/check").await.is(404, 40400);
}

#[tokio::test]
async fn switches_that_would_keep_buyers_out_are_said() {
    let house = House::new();
    let id = house.opened(10).await;
    for (change, area, state, words) in [
        (json!({"admit_ratio": 0.5}), "entrance", "warning", "0.5"),
        (json!({"backlog_max": 9}), "backlog", "warning", "only 9 tickets"),
        (json!({"read_only": true}), "entrance", "failed", "read-only"),
        (
            json!({"entry_open": false}),
            "entrance",
            "failed",
            "set `entry_open` to true and `read_only` to false",
        ),
        (
            json!({"read_only": false}),
            "entrance",
            "failed",
            "shut for everybody: set `entry_open` to true",
        ),
    ] {
        house.patch("/admin/api/switches", change).await.is(200, 0);
        check(&of_activity(&house, id).await, area, state, words);
    }
}

#[tokio::test]
async fn sale_for_a_level_fails_where_no_token_says_one() {
    let house = House::new();
    let id = house.opened(10).await;
    let change = json!({"eligibility": {"min_level": 3}});
    house
        .patch(&format!("/admin/api/activities/{id}"), change)
        .await
        .is(200, 0);
    check(
        &of_activity(&house, id).await,
        "eligibility",
        "failed",
        "auth.level_claim",
    );
    let Authority::Tokens(verifiers) = house.gate.authority() else {
        panic!("a house of tokens");
    };
    let expectations = Expectations {
        level_claim: Some("level".to_owned()),
        ..Expectations::default()
    };
    let verifier = Verifier::hs256(b"another secret of 32 bytes or more", &expectations);
    verifiers.replace(verifier.expect("a good secret"));
    check(
        &of_activity(&house, id).await,
        "eligibility",
        "passed",
        "from level 3 on",
    );
}

#[tokio::test]
async fn tickets_that_nobody_settles_fail_the_workers() {
    let house = House::new();
    let id = house.opened(10).await;
    house.claim(id, "a").await.expect("a unit");
    check(&of_node(&house).await, "workers", "passed", "1 ticket in the queue");
    house.clock.set(NOW.plus(10_001));
    house.beat();
    check(&of_node(&house).await, "workers", "failed", "has waited 10 s");
}

#[tokio::test]
async fn a_challenge_is_named_be_it_a_switch_for_all_sales_or_the_sale_s_own() {
    let house = House::new();
    let id = house.opened(10).await;
    let turn = |challenge: Value| house.patch("/admin/api/switches", json!({ "challenge": challenge }));
    turn(json!("pow")).await.is(200, 0);
    let list = of_activity(&house, id).await;
    check(&list, "challenge", "warning", "every sale asks for `pow`");
    check(&list, "sale", "passed", "met its challenge, `pow`");
    turn(json!("none")).await.is(200, 0);
    check(&of_node(&house).await, "challenge", "warning", "no sale asks for any");
    turn(json!(null)).await.is(200, 0);
    let own = json!({"challenge": "captcha"});
    house
        .patch(&format!("/admin/api/activities/{id}"), own)
        .await
        .is(200, 0);
    let list = of_activity(&house, id).await;
    check(&list, "challenge", "passed", "each sale");
    check(&list, "sale", "passed", "met its challenge, `captcha`");
}
