//! Who is named as an offender and who is not, and what counts for an address or a user where nothing is bought.

use http::{HeaderMap, HeaderValue};
use seckill_gate::{AbuseRules, DEVICE_HEADER, Earlier, Gate, Limits, PerLimit, Request, Settings, Signature};
use seckill_sale::{Activity, Challenge, Refusal};

use crate::support::{
    SELLING, UNLIMITED, activity, activity_id, gate, headers, identified, limit, limited, request, settings, signed_in,
    token, user, wish,
};

/// A gate that names every address and user after three refusals.
fn wary() -> Gate {
    let rule = limit("1/min burst 3");
    let abuse = AbuseRules {
        ip: rule,
        user: rule,
        device: rule,
        block_for_ms: 60_000,
    };
    let sale = Activity {
        challenge: Challenge::Token,
        ..activity(1)
    };
    gate(Settings { abuse, ..settings() }, sale)
}

fn offenders(gate: &Gate) -> Vec<String> {
    let mut names: Vec<_> = gate
        .abuse()
        .take()
        .iter()
        .map(|offender| offender.subject.to_string())
        .collect();
    names.sort();
    names
}

#[test]
fn only_purchases_and_tokens_that_are_asked_for_without_identity_are_offences() {
    let gate = wary();
    let (nobody, bad) = (HeaderMap::new(), headers(&[("authorization", "Bearer none")]));
    for _ in 0..20 {
        assert_eq!(gate.admit_page(request("1.1.1.1", &nobody), SELLING), Ok(()));
        assert_eq!(gate.admit_page(request("1.1.1.2", &bad), SELLING), Ok(()));
        // He names himself by his first message.
        assert_eq!(gate.admit_socket(request("1.1.1.3", &nobody), None, SELLING), Ok(None));
        // What a foreign page can make the browser of any visitor ask for.
        let token = gate.admit_socket(request("1.1.1.4", &nobody), Some("none"), SELLING);
        assert_eq!(token, Err(Refusal::Unauthenticated));
        for who in [&nobody, &bad] {
            let read = gate.admit_read(request("1.1.1.5", who), SELLING);
            assert_eq!(read.map(|_| ()), Err(Refusal::Unauthenticated));
        }
    }
    assert_eq!(offenders(&gate), [""; 0]);
    for _ in 0..4 {
        let bought = identified(&gate, "1.1.1.6", &bad, SELLING);
        assert_eq!(bought.map(|_| ()), Err(Refusal::Unauthenticated));
    }
    assert_eq!(offenders(&gate), ["1.1.1.6/32"]);
}

/// Whether he holds a ticket only the store knows, and so only behind it he is refused.
#[test]
fn whoever_is_refused_behind_the_store_is_named_with_address_and_device() {
    let gate = wary();
    let mut bot = signed_in("bot");
    bot.insert(DEVICE_HEADER, HeaderValue::from_static("rig"));
    for _ in 0..4 {
        let buyer = identified(&gate, "1.2.3.4", &bot, SELLING).expect("a good token");
        let admitted = gate.admit_purchase(buyer, wish(None), |_, _| Earlier::Unknown, SELLING);
        let admitted = admitted.expect("the store decides");
        let suspect = gate.for_the_store(&admitted).suspect.expect("there are rules");
        gate.note_suspect(&Refusal::SoldOut, &suspect, SELLING);
        gate.note_suspect(&Refusal::ChallengeFailed, &suspect, SELLING);
    }
    assert_eq!(offenders(&gate), ["1.2.3.4/32", "bot", "rig"]);
}

#[test]
fn sockets_whose_token_is_bad_count_for_their_address() {
    let gate = limited(Limits {
        read: limit("1/s burst 2"),
        ..Limits::OFF
    });
    let nobody = HeaderMap::new();
    let open = |token: &str| gate.admit_socket(request("1.1.1.1", &nobody), Some(token), SELLING);
    assert_eq!(open("none"), Err(Refusal::Unauthenticated));
    assert_eq!(open("none"), Err(Refusal::Unauthenticated));
    assert!(matches!(open("none"), Err(Refusal::LimitedByIp { .. })));
    let known = open(&token("alice")).expect("she has her own limit");
    assert_eq!(known.map(|(user, _)| user), Some(user("alice")));
    let bad = Request {
        signature: Some(&Signature::Malformed),
        ..request("1.1.1.2", &nobody)
    };
    for token in [None, Some(&*token("alice"))] {
        assert_eq!(gate.admit_socket(bad, token, SELLING), Err(Refusal::Unauthenticated));
    }
}

#[test]
fn the_store_is_asked_again_as_often_as_a_user_may_buy() {
    let gate = limited(PerLimit {
        user: limit("1/s burst 3"),
        ..UNLIMITED
    });
    let asked = |id: &str| {
        (0..10)
            .filter(|_| gate.may_ask_again(&user(id), activity_id(1), SELLING))
            .count()
    };
    assert_eq!([asked("alice"), asked("bob")], [3, 3]);
}
