//! Sales whose buyers solve something first: a picture, or work.

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use seckill_sale::Challenge;
use serde_json::Value;

use crate::asking::Reply;
use crate::house::{House, OPENS};
use crate::plan::Plan;
use crate::solving::{answer, ask, asking_for, buy_with, captcha_answer, posed, pow_answer, text};

/// An answer that was looked at and not taken.
#[track_caller]
fn is_unsolved(reply: &Reply, tries_left: u64) {
    reply.is(403, 40301);
    assert_eq!(reply.data()["tries_left"], tries_left);
}

/// A challenge that is none of this buyer's here and now.
#[track_caller]
fn is_none_of_his(reply: &Reply) {
    reply.is(403, 40301);
    assert_eq!(reply.data()["tries_left"], Value::Null);
}

#[tokio::test]
async fn the_answer_to_a_picture_gives_one_token_that_opens_the_sale() {
    let house = House::new();
    let id = asking_for(&house, Challenge::Captcha).await;
    let page = house.get(format!("/api/activities/{id}")).send().await;
    assert_eq!(page.data()["challenge"], "captcha");
    house.buy(id, "a").send().await.is(403, 40301);
    let challenge = posed(&house, id, "a").await;
    assert_eq!((text(&challenge, "kind"), &challenge["tries"]), ("captcha", &5.into()));
    assert_eq!(challenge["expires_at_ms"], OPENS.plus(120_000).0);
    let image = text(&challenge, "image");
    assert!(image.starts_with("<svg ") && image.ends_with("</svg>") && image.len() < 8_192);
    let (puzzle, right) = (text(&challenge, "id"), captcha_answer(text(&challenge, "id")));
    assert!(!challenge.to_string().contains(&format!("\"{right}\"")));
    is_unsolved(&answer(&house, id, "a", puzzle, "1").await, 4);
    let issued = answer(&house, id, "a", puzzle, &format!(" {right} ")).await;
    issued.is(200, 0);
    assert_eq!(issued.data()["expires_at_ms"], OPENS.plus(300_000).0);
    assert_eq!(issued.data()["challenge"], Value::Null);
    is_unsolved(&answer(&house, id, "a", puzzle, &right).await, 0);
    assert_eq!(house.left(id), 5);
    let token = text(issued.data(), "token");
    buy_with(&house, id, "b", token).await.is(403, 40301);
    buy_with(&house, id, "a", token).await.is(202, 0);
    buy_with(&house, id, "a", token).await.is(409, 40004);
    assert_eq!(house.left(id), 4);
}

#[tokio::test]
async fn the_answer_of_a_work_gives_a_token_and_a_plain_one_does_not_open_its_sale() {
    let house = House::new();
    let id = asking_for(&house, Challenge::Pow).await;
    house.switch(|switches| switches.challenge = Some(Challenge::Token));
    let plain = ask(&house, id, "a").json("{}").send().await;
    let plain = text(plain.data(), "token").to_owned();
    house.switch(|switches| switches.challenge = None);
    buy_with(&house, id, "a", &plain).await.is(403, 40301);
    let challenge = posed(&house, id, "a").await;
    assert_eq!((text(&challenge, "kind"), &challenge["bits"]), ("pow", &8.into()));
    let (right, wrong) = pow_answer(text(&challenge, "prefix"), 8);
    let puzzle = text(&challenge, "id");
    is_unsolved(&answer(&house, id, "a", puzzle, &wrong).await, 4);
    let issued = answer(&house, id, "a", puzzle, &right).await;
    // A sale that asks for less takes it, too; one that asks for a picture does not.
    let token = text(issued.is(200, 0).data(), "token");
    house.switch(|switches| switches.challenge = Some(Challenge::Captcha));
    buy_with(&house, id, "a", token).await.is(403, 40301);
    house.switch(|switches| switches.challenge = Some(Challenge::Token));
    buy_with(&house, id, "a", token).await.is(202, 0);
}

#[tokio::test]
async fn a_challenge_of_another_or_altered_or_expired_is_refused_and_stays_its_owners() {
    let house = House::new();
    let id = asking_for(&house, Challenge::Captcha).await;
    let other = asking_for(&house, Challenge::Captcha).await;
    let challenge = posed(&house, id, "a").await;
    let puzzle = text(&challenge, "id");
    let right = captcha_answer(puzzle);
    let mut flipped = puzzle.to_owned().into_bytes();
    flipped[30] ^= 1;
    let flipped = String::from_utf8(flipped).expect("text");
    for (id, user, puzzle) in [
        (id, "b", puzzle),
        (other, "a", puzzle),
        (id, "a", &flipped),
        (id, "a", ""),
        (id, "a", &"A".repeat(1_000)),
    ] {
        is_none_of_his(&answer(&house, id, user, puzzle, &right).await);
    }
    let body = format!(r#"{{"challenge":"{puzzle}","answer":"{right}"}}"#);
    let elsewhere = ask(&house, id, "a").header("x-device-id", "other").json(body);
    is_none_of_his(&elsewhere.send().await);
    answer(&house, id, "a", puzzle, &right).await.is(200, 0);
    let challenge = posed(&house, id, "a").await;
    house.clock.advance(120_000);
    is_none_of_his(
        &answer(
            &house,
            id,
            "a",
            text(&challenge, "id"),
            &captcha_answer(text(&challenge, "id")),
        )
        .await,
    );
    assert_eq!((house.left(id), house.left(other)), (5, 5));
}

#[tokio::test]
async fn the_sixth_answer_is_not_looked_at() {
    let house = House::new();
    let id = asking_for(&house, Challenge::Captcha).await;
    let challenge = posed(&house, id, "a").await;
    let puzzle = text(&challenge, "id");
    for tries_left in (0..5).rev() {
        is_unsolved(&answer(&house, id, "a", puzzle, "0").await, tries_left);
    }
    is_unsolved(&answer(&house, id, "a", puzzle, &captcha_answer(puzzle)).await, 0);
    let next = posed(&house, id, "a").await;
    let next = text(&next, "id");
    answer(&house, id, "a", next, &captcha_answer(next)).await.is(200, 0);
}

#[tokio::test]
async fn of_a_hundred_answers_at_once_one_gets_a_token() {
    let house = House::new();
    let id = asking_for(&house, Challenge::Captcha).await;
    let challenge = posed(&house, id, "a").await;
    let puzzle = text(&challenge, "id");
    let right = captcha_answer(puzzle);
    let replies = join_all((0..100).map(|_| answer(&house, id, "a", puzzle, &right))).await;
    let (issued, refused): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.status == 200);
    assert_eq!(issued.len(), 1);
    assert!(refused.iter().all(|reply| reply.code() == 40301));
}

#[tokio::test]
async fn bodies_of_another_form_are_refused_and_take_no_try() {
    let house = House::new();
    let id = asking_for(&house, Challenge::Captcha).await;
    let challenge = posed(&house, id, "a").await;
    let puzzle = text(&challenge, "id");
    for body in [
        format!(r#"{{"challenge":"{puzzle}"}}"#),
        r#"{"answer":"1"}"#.to_owned(),
        format!(r#"{{"challenge":"{puzzle}","answer":1}}"#),
        format!(r#"{{"challenge":"{puzzle}","answer":"{}"}}"#, "1".repeat(65)),
        format!(r#"{{"challenge":"{puzzle}","answer":"1","answer":"2"}}"#),
        format!(r#"{{"challenge":"{puzzle}","answer":"1","token":"2"}}"#),
        format!(r#"["{puzzle}","1"]"#),
        "{".to_owned(),
    ] {
        ask(&house, id, "a").json(&body).send().await.is(400, 40000);
    }
    is_unsolved(&answer(&house, id, "a", puzzle, "1").await, 4);
}

#[tokio::test]
async fn nothing_is_posed_or_answered_the_day_before_or_after_the_end() {
    let house = House::new();
    let id = asking_for(&house, Challenge::Pow).await;
    let challenge = posed(&house, id, "a").await;
    house.clock.set(OPENS.plus(-300_001));
    ask(&house, id, "a").send().await.is(403, 40001);
    answer(&house, id, "a", text(&challenge, "id"), "1")
        .await
        .is(403, 40001);
    house.clock.set(crate::house::ENDS);
    ask(&house, id, "a").send().await.is(403, 40002);
    answer(&house, id, "a", text(&challenge, "id"), "1")
        .await
        .is(403, 40002);
    ask(&house, id, "a")
        .json(r#"{"challenge":"x"}"#)
        .send()
        .await
        .is(400, 40000);
}

#[tokio::test]
async fn where_the_store_takes_nothing_nobody_gets_a_token() {
    let house = House::new();
    let id = asking_for(&house, Challenge::Captcha).await;
    let challenge = posed(&house, id, "a").await;
    let puzzle = text(&challenge, "id");
    house.stock.close();
    answer(&house, id, "a", puzzle, &captcha_answer(puzzle))
        .await
        .is(503, 50300);
}

#[tokio::test]
async fn answers_past_the_purchases_that_may_be_under_way_hear_too_busy_and_lose_no_try() {
    let house = House::with(&Plan {
        in_flight_max: 1,
        ..Plan::default()
    });
    let (plain, id) = (house.sale(3).await, asking_for(&house, Challenge::Pow).await);
    let challenge = posed(&house, id, "a").await;
    let (right, wrong) = pow_answer(text(&challenge, "prefix"), 8);
    let send = |given| Box::pin(answer(&house, id, "a", text(&challenge, "id"), given));
    let mut bought = Box::pin(house.buy(plain, "b").send());
    assert!((&mut bought).now_or_never().is_none(), "it waits for the store");
    send(wrong.as_str()).await.is(503, 50300);
    bought.await.is(202, 0);
    is_unsolved(&send(&wrong).await, 4);
    send(&right).await.is(200, 0);
    house.buy(plain, "c").send().await.is(202, 0);
}
