//! B-47: idempotency keys that are no keys, another's, or used for something else.

use seckill_testkit::Answer;
use serde_json::json;

use super::house::{House, Mode};

const KEY: &str = "Idempotency-Key: 0f9b2c47-d1e8-8a63";

fn buy(house: &House, sale: u64, user: &str, keys: &[&str], body: &str) -> Answer {
    let path = format!("/api/seckill/{sale}");
    let answer = house.server().as_user_with(user, "POST", &path, keys, Some(body));
    answer.expect("answers")
}

fn keys_are_their_buyers(mode: Mode) {
    let house = mode.house(&[]);
    let server = house.server();
    let sale = server.sale(9, &json!({"per_user_limit": 3}));
    house.is_unmoved_by(|| {
        let (long, large) = ("k".repeat(65), "k".repeat(10_000));
        for key in ["", "k", " ", "two words", "two\ttabs", "ü", "键键", &long, &large] {
            let refused = buy(&house, sale, "a", &[&format!("Idempotency-Key: {key}")], "{}");
            assert_eq!((refused.status, refused.code()), (400, 40_000), "{key}: {refused:?}");
        }
        for twice in [[KEY, KEY], [KEY, "Idempotency-Key: another"]] {
            let refused = buy(&house, sale, "a", &twice, "{}");
            assert_eq!(
                (refused.status, refused.code()),
                (400, 40_000),
                "{twice:?}: {refused:?}"
            );
        }
        assert_eq!(server.settled(sale)["accepted"], 0);
        let ticket = |answer: &Answer| {
            assert_eq!(answer.status, 202, "{answer:?}");
            answer.data()["ticket"].as_str().expect("a ticket").to_owned()
        };
        let two = r#"{"quantity":2}"#;
        let first = ticket(&buy(&house, sale, "a", &[KEY], two));
        let again = buy(&house, sale, "a", &[KEY], two);
        assert_eq!(
            (ticket(&again), again.header("idempotency-replayed")),
            (first.clone(), "true")
        );
        for (keys, body, told) in [
            (&[KEY][..], "{}", (422, 42_200)),
            (&[KEY], r#"{"quantity":3}"#, (422, 42_200)),
            (&["Idempotency-Key: another"], two, (409, 40_004)),
            (&[], two, (409, 40_004)),
        ] {
            let refused = buy(&house, sale, "a", keys, body);
            assert_eq!((refused.status, refused.code()), told, "{keys:?} {body}: {refused:?}");
        }
        // The same key of somebody else is another key.
        let other = buy(&house, sale, "b", &[KEY], two);
        assert_ne!(ticket(&other), first);
        assert_eq!(other.header("idempotency-replayed"), "");
        // Braces and colons are as good as letters: no key of a store is made of them.
        let _odd = ticket(&buy(&house, sale, "c", &["Idempotency-Key: {1}:*"], "{}"));
        let books = server.settled(sale);
        assert_eq!(
            (&books["accepted"], &books["balanced"]),
            (&json!(5), &json!(true)),
            "{books}"
        );
        // Nor is there a time after which it would buy once more.
        assert_eq!(ticket(&buy(&house, sale, "a", &[KEY], two)), first);
    });
}

#[test]
fn a_key_is_its_buyer_s_and_stands_for_one_purchase_in_one_process() {
    keys_are_their_buyers(Mode::OneProcess);
}

#[test]
fn a_key_is_its_buyer_s_and_stands_for_one_purchase_on_redis() {
    keys_are_their_buyers(Mode::Redis);
}
