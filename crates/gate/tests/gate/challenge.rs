//! The token route where a sale asks for something that has to be solved.

use seckill_gate::{Attempt, Earlier, Exercise, Gate, Moment, Posed, PurchaseToken, TokenStep, TokenWish};
use seckill_sale::{Activity, Challenge, Refusal};

use crate::support::{
    RANDOM, SELLING, STARTS_AT, activity, activity_id, buy, gate, headers, identified, limit, settings, token,
    token_wish,
};

fn asking_for(challenge: Challenge) -> Activity {
    Activity {
        challenge,
        ..activity(1)
    }
}

fn ask(gate: &Gate, device: &str, answered: Option<&str>, moment: Moment) -> Result<TokenStep, Refusal> {
    let bearer = format!("Bearer {}", token("alice"));
    let headers = headers(&[("authorization", &bearer), ("x-device-id", device)]);
    let buyer = identified(gate, "1.2.3.4", &headers, moment)?;
    let wish = TokenWish {
        answered,
        ..token_wish(1)
    };
    gate.admit_token(&buyer, wish, moment)
}

fn posed(gate: &Gate, moment: Moment) -> Posed {
    match ask(gate, "phone", None, moment) {
        Ok(TokenStep::Posed(posed)) => posed,
        other => panic!("{other:?}"),
    }
}

fn answered(gate: &Gate, id: &str, moment: Moment) -> Result<Attempt, Refusal> {
    match ask(gate, "phone", Some(id), moment)? {
        TokenStep::Answered(attempt) => Ok(attempt),
        other => panic!("{other:?}"),
    }
}

/// The token for a proof of work, found as a buyer would.
fn solved(gate: &Gate, posed: &Posed) -> PurchaseToken {
    assert!(matches!(posed.exercise, Exercise::Pow { bits: 8, .. }));
    let attempt = answered(gate, &posed.id, SELLING).expect("nothing is in the way");
    let answer = (0..).find_map(|n: u32| attempt.solved_by(&n.to_string()));
    let bearer = format!("Bearer {}", token("alice"));
    let headers = headers(&[("authorization", &bearer), ("x-device-id", "phone")]);
    let buyer = identified(gate, "1.2.3.4", &headers, SELLING).expect("signed in");
    let answer = answer.expect("one in 256");
    gate.solved_token(&buyer, activity_id(1), answer, RANDOM, SELLING)
}

#[test]
fn a_sale_that_asks_for_something_poses_it_and_gives_no_token() {
    let captcha = gate(settings(), asking_for(Challenge::Captcha));
    assert!(matches!(posed(&captcha, SELLING).exercise, Exercise::Captcha { .. }));
    let token = gate(settings(), asking_for(Challenge::Token));
    assert!(matches!(ask(&token, "phone", None, SELLING), Ok(TokenStep::Issued(_))));
    let id = posed(&captcha, SELLING).id;
    let nothing_to_solve = ask(&token, "phone", Some(&id), SELLING);
    assert!(matches!(nothing_to_solve, Ok(TokenStep::Issued(_))));
}

#[test]
fn challenges_are_posed_shortly_before_the_start_only() {
    let gate = gate(settings(), asking_for(Challenge::Pow));
    let before = |ms: i64| Moment::exact(STARTS_AT.plus(-ms));
    let early = ask(&gate, "phone", None, before(300_001)).map(|_| ());
    assert_eq!(early, Err(Refusal::NotStarted { starts_at: STARTS_AT }));
    let posed = posed(&gate, before(300_000));
    let answered = |ms| answered(&gate, &posed.id, before(ms)).map(|_| ());
    assert_eq!(answered(180_001), Ok(()));
    assert_eq!(answered(180_000), Err(Refusal::ChallengeFailed), "two minutes later");
    assert_eq!(answered(300_001), Err(Refusal::NotStarted { starts_at: STARTS_AT }));
}

#[test]
fn an_answer_for_another_device_or_kind_is_refused() {
    let pow = gate(settings(), asking_for(Challenge::Pow));
    let id = posed(&pow, SELLING).id;
    assert!(answered(&pow, &id, SELLING).is_ok());
    let other = ask(&pow, "other", Some(&id), SELLING).map(|_| ());
    assert_eq!(other, Err(Refusal::ChallengeFailed));
    let captcha = gate(settings(), asking_for(Challenge::Captcha));
    assert!(matches!(
        answered(&captcha, &id, SELLING),
        Err(Refusal::ChallengeFailed)
    ));
}

#[test]
fn a_solved_challenge_opens_the_sale_that_asks_for_it_and_a_plain_token_does_not() {
    let pow = gate(settings(), asking_for(Challenge::Pow));
    let bearer = format!("Bearer {}", token("alice"));
    let headers = headers(&[("authorization", &bearer), ("x-device-id", "phone")]);
    let buy = |token: &str| buy(&pow, "1.2.3.4", &headers, Some(token), Earlier::None);
    let plain = gate(settings(), asking_for(Challenge::Token));
    let Ok(TokenStep::Issued(plain)) = ask(&plain, "phone", None, SELLING) else {
        panic!("nothing is to be solved")
    };
    assert_eq!(buy(&plain.text), Err(Refusal::ChallengeFailed));
    assert_eq!(buy(&solved(&pow, &posed(&pow, SELLING)).text), Ok(true));
}

#[test]
fn challenges_and_answers_count_as_attempts_and_ids_of_others_do_not() {
    let mut settings = settings();
    settings.limits.buy.user = limit("1/min burst 2");
    let gate = gate(settings, asking_for(Challenge::Captcha));
    let limited = |outcome: Result<TokenStep, Refusal>| matches!(outcome, Err(Refusal::Limited { .. }));
    let id = posed(&gate, SELLING).id;
    for _ in 0..5 {
        let forged = ask(&gate, "phone", Some("forged"), SELLING);
        assert!(matches!(forged, Err(Refusal::ChallengeFailed)));
    }
    assert!(answered(&gate, &id, SELLING).is_ok());
    assert!(limited(ask(&gate, "phone", Some(&id), SELLING)));
    assert!(limited(ask(&gate, "phone", None, SELLING)));
}
