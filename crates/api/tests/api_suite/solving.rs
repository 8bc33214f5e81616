//! Challenges asked for and answered. Work is done; a picture is not read: its sum is computed from the house's secret, as the server computes it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use seckill_gate::derived_secret;
use seckill_sale::{ActivityId, Challenge};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::asking::{Asking, Reply};
use crate::house::House;

pub(crate) async fn asking_for(house: &House, challenge: Challenge) -> ActivityId {
    house.sale_with(5, |sale| sale.challenge = challenge).await
}

pub(crate) fn ask<'a>(house: &'a House, id: ActivityId, user: &str) -> Asking<'a> {
    house.post(format!("/api/seckill/{id}/token")).user(user)
}

pub(crate) fn text<'a>(challenge: &'a Value, member: &str) -> &'a str {
    challenge[member]
        .as_str()
        .unwrap_or_else(|| panic!("no {member} in {challenge}"))
}

/// What is posed to a user.
pub(crate) async fn posed(house: &House, id: ActivityId, user: &str) -> Value {
    let reply = ask(house, id, user).send().await;
    reply.is(200, 0);
    assert_eq!(reply.data()["token"], Value::Null);
    reply.data()["challenge"].clone()
}

pub(crate) fn answer(
    house: &House,
    id: ActivityId,
    user: &str,
    challenge: &str,
    answer: &str,
) -> impl Future<Output = Reply> {
    let body = serde_json::json!({"challenge": challenge, "answer": answer}).to_string();
    ask(house, id, user).json(body).send()
}

/// A purchase with a purchase token.
pub(crate) async fn buy_with(house: &House, id: ActivityId, user: &str, token: &str) -> Reply {
    house
        .buy(id, user)
        .json(format!(r#"{{"token":"{token}"}}"#))
        .send()
        .await
}

/// The sum that a captcha's picture shows.
pub(crate) fn captcha_answer(id: &str) -> String {
    let bytes = URL_SAFE_NO_PAD.decode(id).expect("an id");
    let secret = derived_secret(&[7; 32], "challenges");
    let mut keyed = Hmac::<Sha256>::new_from_slice(&secret).expect("any length");
    for part in [b"\x08exercise", &bytes[11..27], &[0; 4]] {
        keyed.update(part);
    }
    let block: [u8; 32] = keyed.finalize().into_bytes().into();
    let word = |nth: usize| u32::from_be_bytes(block[nth * 4..nth * 4 + 4].try_into().expect("four bytes"));
    let (first, second) = (100 + word(0) % 900, 2 + word(1) % 8);
    match word(2) % 2 {
        1 => first - second,
        _ => first + second,
    }
    .to_string()
}

/// A right answer to a work of at most eight bits, and a wrong one.
pub(crate) fn pow_answer(prefix: &str, bits: u32) -> (String, String) {
    let is_right = |answer: &String| {
        let hash = Sha256::digest(format!("{prefix}{answer}"));
        u32::from(hash[0]) < 1 << (8 - bits)
    };
    let answers = || (0_u32..).map(|n| n.to_string());
    let right = answers().find(is_right).expect("there is one");
    let wrong = answers().find(|answer| !is_right(answer)).expect("there is one");
    (right, wrong)
}
