//! The database has what the operator asked for, and answers no more: he never hears that nothing was done.

use http::Method;
use seckill_ledger::Catalog;
use seckill_sale::{ActivityId, Status};
use serde_json::{Value, json};

use crate::blocks::is_blocked;
use crate::every_command::{COMMANDS, begin, send};
use crate::failing::{answer_again, fail_after};
use crate::house::{House, NOW};

/// More writes than any command does here.
const WRITES_MAX: i64 = 20;

#[tokio::test]
async fn whatever_fails_behind_a_write_no_command_says_that_nothing_was_done() {
    for command in COMMANDS {
        for writes in 1..WRITES_MAX {
            let house = House::new();
            let of = begin(&house).await;
            fail_after(&house.ledger, writes);
            let answer = send(&house, command, of).await;
            let (status, code) = (answer.status.as_u16(), answer.json["code"].as_u64());
            let name = command.0;
            if writes == 1 {
                assert_eq!(status, command.2, "{name}: {answer:?}");
            }
            assert!(
                status < 300 || code == Some(50302),
                "{name}, {writes} writes: {answer:?}"
            );
            if status < 300 {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_command_that_wrote_nothing_says_so() {
    for command in COMMANDS {
        // A pause, and what only shuts the entrance, need no database.
        if command.0 == "pause" {
            continue;
        }
        let house = House::new();
        let of = begin(&house).await;
        fail_after(&house.ledger, 0);
        let answer = send(&house, command, of).await;
        assert_eq!(answer.json["code"], 50300, "{}: {answer:?}", command.0);
    }
}

#[tokio::test]
async fn blocks_are_in_force_or_gone_when_they_are_answered_though_they_can_not_be_read_again() {
    let house = House::new();
    let block = |user: &str| json!({"kind": "user", "value": user});
    let blocks = "/admin/api/blocks";
    let known = house.post(blocks, block("eve")).await.is(201, 0).id();
    house.post(blocks, block("carol")).await.is(201, 0);
    let is_kept_out = |user| is_blocked(&house.gate, "11.0.0.1", user, NOW);
    fail_after(&house.ledger, 1);
    house.post(blocks, block("mallory")).await.is(201, 0);
    assert_eq!(["eve", "carol", "mallory"].map(is_kept_out), [true; 3]);
    answer_again(&house.ledger);
    fail_after(&house.ledger, 1);
    let remove = house.ask(Method::DELETE, &format!("{blocks}/{known}")).operator();
    remove.send().await.is(200, 0);
    assert_eq!(["eve", "carol", "mallory"].map(is_kept_out), [false, true, true]);
    answer_again(&house.ledger);
    fail_after(&house.ledger, 1);
    let remove = house.ask(Method::DELETE, blocks).operator().json(&block("mallory"));
    remove.send().await.is(200, 0);
    assert_eq!(["eve", "carol", "mallory"].map(is_kept_out), [false, true, false]);
}

#[tokio::test]
async fn answers_are_made_of_what_was_written() {
    let house = House::new();
    let of = begin(&house).await;
    let answer = async |name: &str| {
        let command = COMMANDS.iter().find(|command| command.0 == name).expect("there");
        fail_after(&house.ledger, 1);
        let answer = send(&house, command, of).await;
        answer_again(&house.ledger);
        answer.data().clone()
    };
    let added = answer("add stock").await;
    assert_eq!(
        (&added["stock_total"], &added["movement"]["units"]),
        (&json!(12), &json!(7))
    );
    assert_eq!(answer("title").await["title"], "new");
    assert_eq!(answer("list").await["list"], Value::Null);
    let known = house
        .gate
        .catalogue()
        .find(ActivityId::new(of.running).expect("in range"));
    assert_eq!(
        known.expect("known").eligibility.list,
        None,
        "nobody is looked up in it"
    );
    assert_eq!(answer("close").await["status"], "closed");
    let id = ActivityId::new(of.running).expect("in range");
    let row = house.ledger.activity(id).await.expect("read");
    assert_eq!((row.status, row.stock_total, &*row.title), (Status::Closed, 12, "new"));
}
