//! Facts about purchase tokens.

use super::*;

fn user(text: &str) -> UserId {
    UserId::new(text).expect("a user id")
}

fn binding<'a>(user: &'a UserId, activity: u64, device: &'a str) -> Binding<'a> {
    Binding {
        user,
        activity: ActivityId::new(activity).expect("in range"),
        device: Device::new(device),
    }
}

#[test]
fn token_is_accepted_until_it_expires() {
    let (tokens, alice) = (PurchaseTokens::new(&[7; 32]), user("alice"));
    let bound = binding(&alice, 1, "d");
    let token = tokens.issue(Challenge::Token, &bound, EpochMs(1000), 9);
    assert_eq!(token.expires_at, EpochMs(301_000));
    assert!(tokens.accepts(&token.text, Challenge::Token, &bound, EpochMs(1000)));
    assert!(tokens.accepts(&token.text, Challenge::Token, &bound, EpochMs(300_999)));
    assert!(!tokens.accepts(&token.text, Challenge::Token, &bound, EpochMs(301_000)));
}

#[test]
fn token_of_another_is_refused() {
    let (tokens, alice, bob) = (PurchaseTokens::new(&[7; 32]), user("alice"), user("bob"));
    let token = tokens
        .issue(Challenge::Token, &binding(&alice, 1, "d"), EpochMs(0), 9)
        .text;
    for other in [
        binding(&bob, 1, "d"),
        binding(&alice, 2, "d"),
        binding(&alice, 1, "e"),
        binding(&alice, 1, ""),
    ] {
        assert!(
            !tokens.accepts(&token, Challenge::Token, &other, EpochMs(0)),
            "{other:?}"
        );
    }
    assert!(!PurchaseTokens::new(&[8; 32]).accepts(&token, Challenge::Token, &binding(&alice, 1, "d"), EpochMs(0)));
}

#[test]
fn token_is_taken_where_what_its_buyer_met_is_asked_for_or_less() {
    use Challenge::{Captcha, None, Pow, Token};
    let (tokens, alice) = (PurchaseTokens::new(&[7; 32]), user("alice"));
    let bound = binding(&alice, 1, "");
    for (met, taken) in [
        (None, &[None][..]),
        (Token, &[None, Token]),
        (Captcha, &[None, Token, Captcha]),
        (Pow, &[None, Token, Pow]),
    ] {
        let token = tokens.issue(met, &bound, EpochMs(0), 9).text;
        for asked in Challenge::ALL {
            let accepted = tokens.accepts(&token, asked, &bound, EpochMs(0));
            assert_eq!(accepted, taken.contains(&asked), "{met:?} for {asked:?}");
        }
    }
}

#[test]
fn text_cannot_move_from_user_to_device() {
    let (tokens, ab, a) = (PurchaseTokens::new(&[7; 32]), user("ab"), user("a"));
    let token = tokens
        .issue(Challenge::Token, &binding(&ab, 1, "c"), EpochMs(0), 9)
        .text;
    assert!(!tokens.accepts(&token, Challenge::Token, &binding(&a, 1, "bc"), EpochMs(0)));
}

#[test]
fn every_altered_character_is_refused() {
    let (tokens, alice) = (PurchaseTokens::new(&[7; 32]), user("alice"));
    let bound = binding(&alice, 1, "");
    let token = tokens.issue(Challenge::Token, &bound, EpochMs(0), 9).text;
    assert_eq!(token.len(), 67);
    for at in 0..token.len() {
        for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. ".chars() {
            let mut altered = token.clone();
            altered.replace_range(at..=at, &other.to_string());
            assert!(
                altered == token || !tokens.accepts(&altered, Challenge::Token, &bound, EpochMs(0)),
                "{altered}"
            );
        }
    }
    for bad in [
        "",
        &token[1..],
        &token[..66],
        &format!("{token}A"),
        &format!("{token}="),
        &"A".repeat(10_000),
    ] {
        assert!(!tokens.accepts(bad, Challenge::Token, &bound, EpochMs(0)), "{bad}");
    }
}
