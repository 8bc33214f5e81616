//! Facts about challenges.

use seckill_sale::{ActivityId, UserId};

use super::*;
use crate::challenge::{captcha, pow};
use crate::device::Device;

pub(crate) const NOW: EpochMs = EpochMs(1_000);
const LAST: EpochMs = EpochMs(120_999);

pub(crate) fn challenges() -> Challenges {
    Challenges::new(&[7; 32], 8)
}

pub(crate) fn user(text: &str) -> UserId {
    UserId::new(text).expect("a user id")
}

pub(crate) fn binding<'a>(user: &'a UserId, activity: u64, device: &'a str) -> Binding<'a> {
    Binding {
        user,
        activity: ActivityId::new(activity).expect("in range"),
        device: Device::new(device),
    }
}

pub(crate) fn posed(kind: Challenge, binding: &Binding<'_>, random: u128) -> Posed {
    challenges()
        .pose(kind, binding, NOW, random)
        .expect("it is to be solved")
}

fn attempt(posed: &Posed, kind: Challenge, binding: &Binding<'_>) -> Attempt {
    challenges()
        .check(&posed.id, kind, binding, NOW)
        .expect("posed a moment ago")
}

#[test]
fn answer_to_the_picture_is_taken_and_no_other() {
    let alice = user("alice");
    let bound = binding(&alice, 1, "d");
    for random in 0..50 {
        let posed = posed(Challenge::Captcha, &bound, random);
        let attempt = attempt(&posed, Challenge::Captcha, &bound);
        let answer = captcha::answer(&mut attempt.stream());
        let full_width: String = answer
            .chars()
            .map(|digit| char::from_u32(u32::from(digit) - 48 + 0xff10).expect("a digit"))
            .collect();
        for right in [
            &answer,
            &format!(" {answer}\t"),
            &full_width,
            &format!("\u{3000}{full_width}"),
        ] {
            assert!(attempt.solved_by(right).is_some(), "{right:?}");
        }
        let next = (answer.parse::<u32>().expect("a number") + 1).to_string();
        for wrong in [
            "",
            " ",
            "0",
            &next,
            &format!("0{answer}"),
            &format!("+{answer}"),
            &format!("{answer}.0"),
            "１ ２",
        ] {
            assert!(attempt.solved_by(wrong).is_none(), "{wrong:?} for {answer}");
        }
    }
}

#[test]
fn answer_of_the_work_is_taken_and_no_other() {
    let alice = user("alice");
    let bound = binding(&alice, 1, "");
    let posed = posed(Challenge::Pow, &bound, 5);
    let Exercise::Pow { prefix, bits } = &posed.exercise else {
        panic!("work is asked for")
    };
    assert_eq!((prefix.len(), *bits), (32, 8));
    let is_right = |answer: &String| pow::is_answer(prefix, 8, answer);
    let answer = (0_u32..).map(|n| n.to_string()).find(is_right).expect("there is one");
    let attempt = attempt(&posed, Challenge::Pow, &bound);
    assert!(attempt.solved_by(&answer).is_some());
    let wrong = (0_u32..).map(|n| n.to_string()).find(|answer| !is_right(answer));
    assert!(attempt.solved_by(&wrong.expect("most are")).is_none());
    let Exercise::Pow { prefix: other, .. } = self::posed(Challenge::Pow, &bound, 6).exercise else {
        panic!()
    };
    assert_ne!(prefix, &other);
}

#[test]
fn challenge_can_be_answered_until_it_expires() {
    let alice = user("alice");
    let bound = binding(&alice, 1, "d");
    let posed = posed(Challenge::Captcha, &bound, 1);
    assert_eq!(posed.expires_at, LAST.plus(1));
    let check = |now| challenges().check(&posed.id, Challenge::Captcha, &bound, now);
    assert!(check(NOW).is_some() && check(LAST).is_some());
    assert!(check(LAST.plus(1)).is_none());
    assert_eq!(check(NOW).map(|attempt| attempt.until()), Some(posed.expires_at));
}

#[test]
fn challenge_of_another_is_none() {
    let (alice, bob) = (user("alice"), user("bob"));
    let bound = binding(&alice, 1, "d");
    let posed = posed(Challenge::Captcha, &bound, 1);
    let check = |challenges: &Challenges, kind, binding| challenges.check(&posed.id, kind, &binding, NOW).is_some();
    assert!(check(&challenges(), Challenge::Captcha, bound));
    for other in [
        binding(&bob, 1, "d"),
        binding(&alice, 2, "d"),
        binding(&alice, 1, "e"),
        binding(&alice, 1, ""),
    ] {
        assert!(!check(&challenges(), Challenge::Captcha, other), "{other:?}");
    }
    for kind in [Challenge::None, Challenge::Token, Challenge::Pow] {
        assert!(!check(&challenges(), kind, bound), "{kind:?}");
    }
    assert!(!check(&Challenges::new(&[8; 32], 8), Challenge::Captcha, bound));
}

#[test]
fn every_altered_character_is_refused() {
    let alice = user("alice");
    let bound = binding(&alice, 1, "");
    let posed = posed(Challenge::Pow, &bound, 1);
    assert_eq!(posed.id.len(), 79);
    for at in 0..posed.id.len() {
        for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. ".chars() {
            let mut altered = posed.id.clone();
            altered.replace_range(at..=at, &other.to_string());
            let is_taken = challenges().check(&altered, Challenge::Pow, &bound, NOW).is_some();
            assert!(altered == posed.id || !is_taken, "{altered}");
        }
    }
    for bad in [
        "",
        &posed.id[1..],
        &posed.id[..78],
        &format!("{}A", posed.id),
        &format!("{}=", posed.id),
        &"A".repeat(10_000),
    ] {
        assert!(challenges().check(bad, Challenge::Pow, &bound, NOW).is_none(), "{bad}");
    }
}

/// A purchase token signs as long a text with the same secret.
#[test]
fn purchase_token_is_no_challenge_and_a_challenge_is_no_purchase_token() {
    let alice = user("alice");
    let bound = binding(&alice, 1, "");
    let tokens = crate::PurchaseTokens::new(&[7; 32]);
    let token = tokens.issue(Challenge::Captcha, &bound, NOW, 1).text;
    assert!(challenges().check(&token, Challenge::Captcha, &bound, NOW).is_none());
    let id = posed(Challenge::Captcha, &bound, 1).id;
    assert!(!tokens.accepts(&id, Challenge::None, &bound, NOW));
}

#[test]
fn tries_and_use_have_keys_of_their_own_in_every_challenge() {
    let alice = user("alice");
    let bound = binding(&alice, 1, "");
    let mut keys = std::collections::HashSet::new();
    for random in 0..20 {
        let attempt = attempt(&posed(Challenge::Captcha, &bound, random), Challenge::Captcha, &bound);
        let answer = captcha::answer(&mut attempt.stream());
        let solved = attempt.solved_by(&answer).expect("right");
        keys.extend([attempt.tries_key(), solved.use_key()]);
        assert_eq!(solved.until(), attempt.until());
    }
    assert_eq!(keys.len(), 40);
}
