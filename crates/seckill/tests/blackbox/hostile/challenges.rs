//! B-44: answers to challenges that are another's, guessed, used before, or of another form.

use std::collections::BTreeSet;

use seckill_testkit::{Answer, Server, work};
use serde_json::{Value, json};

use super::house::Mode;

/// Little work.
const SETTINGS: [(&str, &str); 1] = [("SECKILL_CHALLENGE__POW_BITS", "8")];
/// Answers to one challenge that are looked at.
const TRIES: u64 = 5;
/// How long a challenge is good.
const LIFE_MS: i64 = 120_000;

fn ask(server: &Server, sale: u64, user: &str, lines: &[&str], body: Option<&str>) -> Answer {
    let path = format!("/api/seckill/{sale}/token");
    let answer = server.as_user_with(user, "POST", &path, lines, body);
    answer.expect("answers")
}

/// What is posed to a user. It says nothing of its answer, and until when it is good.
fn posed(server: &Server, sale: u64, user: &str) -> Value {
    let posed = ask(server, sale, user, &[], None);
    assert_eq!((posed.status, posed.code()), (200, 0), "{posed:?}");
    let challenge = &posed.data()["challenge"];
    let told: BTreeSet<_> = challenge
        .as_object()
        .expect("a challenge")
        .keys()
        .map(String::as_str)
        .collect();
    let (common, own) = (
        ["expires_at", "expires_at_ms", "id", "kind", "tries"],
        match challenge["kind"].as_str() {
            Some("captcha") => &["image"][..],
            _ => &["bits", "prefix"],
        },
    );
    assert_eq!(told, common.iter().chain(own).copied().collect());
    let image = challenge["image"].as_str().unwrap_or_default();
    assert!(
        !image.contains("<text") && !image.contains("<title") && !image.contains("<!--"),
        "{image}"
    );
    let now: i64 = posed.header("server-time").parse().expect("a moment");
    let left_ms = challenge["expires_at_ms"].as_i64().expect("a moment") - now;
    assert!((1..=LIFE_MS).contains(&left_ms), "{left_ms}");
    challenge.clone()
}

fn worked(challenge: &Value) -> String {
    let bits = challenge["bits"].as_u64().and_then(|bits| bits.try_into().ok());
    work(
        challenge["prefix"].as_str().expect("a prefix"),
        bits.expect("a few bits"),
    )
}

/// Code of the refusal of an answer, and what is said of further tries.
fn told(answer: &Answer) -> (u16, i64, Value) {
    (answer.status, answer.code(), answer.data()["tries_left"].clone())
}

fn answers_count_once_for_their_buyer(mode: Mode) {
    let house = mode.house(&SETTINGS);
    let server = house.server();
    let asking = |challenge: &str| server.sale(5, &json!({"challenge": challenge}));
    let [sale, other, pictured] = [asking("pow"), asking("pow"), asking("captcha")];
    house.is_unmoved_by(|| {
        let challenge = posed(server, sale, "a");
        let (id, right) = (challenge["id"].as_str().expect("an id"), worked(&challenge));
        let answer = |id: &str, answer: &str| json!({"challenge": id, "answer": answer}).to_string();
        let whole = answer(id, &right);
        let cut = answer(&id[1..], &right);
        let flipped = answer(&id.replacen(|letter: char| letter.is_ascii_digit(), "x", 1), &right);
        let none_of_his = (403, 40_301, Value::Null);
        for (name, sale, user, lines, body) in [
            ("another's", sale, "b", &[][..], &whole),
            ("of another sale", other, "a", &[], &whole),
            ("of another kind of sale", pictured, "a", &[], &whole),
            ("of another device", sale, "a", &["X-Device-Id: two"], &whole),
            ("a cut one", sale, "a", &[], &cut),
            ("an altered one", sale, "a", &[], &flipped),
            ("none", sale, "a", &[], &answer("", &right)),
        ] {
            assert_eq!(told(&ask(server, sale, user, lines, Some(body))), none_of_his, "{name}");
        }
        for body in [
            "{".to_owned(),
            json!({"challenge": id}).to_string(),
            json!({"answer": right}).to_string(),
            json!({"challenge": id, "answer": 1}).to_string(),
            json!({"challenge": id, "answer": right, "solved": true}).to_string(),
            answer(id, &"1".repeat(65)),
        ] {
            assert_eq!(
                told(&ask(server, sale, "a", &[], Some(&body))),
                (400, 40_000, Value::Null),
                "{body}"
            );
        }
        // None of that took a try or spent it.
        let issued = ask(server, sale, "a", &[], Some(&whole));
        assert_eq!(issued.status, 200, "{issued:?}");
        assert_eq!(
            told(&ask(server, sale, "a", &[], Some(&whole))),
            (403, 40_301, json!(0)),
            "it is used"
        );
        guesses_end(server, pictured);
        for sale in [sale, other, pictured] {
            assert_eq!(server.settled(sale)["accepted"], 0, "sale {sale}");
        }
        let token = json!({"token": issued.data()["token"]}).to_string();
        let buys = |user: &str| server.as_user(user, "POST", &format!("/api/seckill/{sale}"), Some(&token));
        assert_eq!(buys("b").expect("answers").code(), 40_301);
        assert_eq!(buys("a").expect("answers").status, 202);
    });
}

/// Five answers are looked at, whatever comes after them.
fn guesses_end(server: &Server, sale: u64) {
    let challenge = posed(server, sale, "guesser");
    let guess = |answer: &str| {
        let body = json!({"challenge": challenge["id"], "answer": answer}).to_string();
        told(&ask(server, sale, "guesser", &[], Some(&body)))
    };
    // No sum is one of these.
    for (nth, wrong) in ["7", "0007", "-1", "１", ""].into_iter().enumerate() {
        let left = TRIES - 1 - u64::try_from(nth).expect("few");
        assert_eq!(guess(wrong), (403, 40_301, json!(left)), "{wrong}");
    }
    for sum in 100..130 {
        assert_eq!(guess(&sum.to_string()), (403, 40_301, json!(0)), "{sum}");
    }
}

#[test]
fn an_answer_counts_once_for_its_buyer_and_guesses_end_in_one_process() {
    answers_count_once_for_their_buyer(Mode::OneProcess);
}

#[test]
fn an_answer_counts_once_for_its_buyer_and_guesses_end_on_redis() {
    answers_count_once_for_their_buyer(Mode::Redis);
}
