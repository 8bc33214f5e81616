//! The gate's routes as a whole: limits, challenge, gateway mode, switches.

use http::HeaderMap;
use seckill_gate::{AbuseRules, Authority, Earlier, Limits, Moment, Settings, Switches, TokenStep};
use seckill_sale::{Activity, Challenge, Refusal, Scope, UserId};

use crate::support::{
    SELLING, STARTS_AT, activity, buy, click, gate, headers, identified, limit, limited, limited_but, request,
    settings, signed_in, token, token_wish, user,
};

fn asking_for_token() -> Activity {
    Activity {
        challenge: Challenge::Token,
        ..activity(1)
    }
}

#[test]
fn purchase_token_opens_the_sale_that_asks_for_it() {
    let gate = gate(settings(), asking_for_token());
    let alice = signed_in("alice");
    let get = |headers| {
        let buyer = identified(&gate, "1.2.3.4", headers, SELLING)?;
        gate.admit_token(&buyer, token_wish(1), SELLING)
    };
    let Ok(TokenStep::Issued(token)) = get(&alice) else {
        panic!("nothing is in the way")
    };
    let token = token.text;
    let none = Earlier::None;
    assert_eq!(buy(&gate, "1.2.3.4", &alice, Some(&token), none), Ok(true));
    assert_eq!(
        buy(&gate, "1.2.3.4", &alice, Some(&token), none),
        Ok(true),
        "a refused attempt spends nothing"
    );
    assert_eq!(
        buy(&gate, "1.2.3.4", &signed_in("bob"), Some(&token), none),
        Err(Refusal::ChallengeFailed)
    );
    assert_eq!(buy(&gate, "1.2.3.4", &alice, None, none), Err(Refusal::ChallengeFailed));
}

#[test]
fn existing_ticket_wins_over_a_failed_challenge() {
    let gate = gate(settings(), asking_for_token());
    let alice = signed_in("alice");
    for earlier in [Earlier::Ticket, Earlier::Unknown] {
        assert_eq!(buy(&gate, "1.2.3.4", &alice, None, earlier), Ok(false));
    }
}

#[test]
fn tokens_are_given_out_shortly_before_the_start() {
    let gate = gate(settings(), asking_for_token());
    let alice = signed_in("alice");
    let get = |before_ms: i64| {
        let moment = Moment::exact(STARTS_AT.plus(-before_ms));
        let buyer = identified(&gate, "1.2.3.4", &alice, moment)?;
        gate.admit_token(&buyer, token_wish(1), moment).map(|_| ())
    };
    assert_eq!(get(300_000), Ok(()));
    assert_eq!(get(300_001), Err(Refusal::NotStarted { starts_at: STARTS_AT }));
}

#[test]
fn switch_for_all_activities_overrides_their_challenge() {
    let gate = gate(settings(), activity(1));
    let alice = signed_in("alice");
    assert_eq!(click(&gate, "1.2.3.4", &alice), Ok(true));
    assert!(gate.switch(Switches {
        challenge: Some(Challenge::Token),
        revision: 1,
        ..Switches::open(1)
    }));
    assert_eq!(click(&gate, "1.2.3.4", &alice), Err(Refusal::ChallengeFailed));
    assert!(gate.switch(Switches {
        revision: 2,
        ..Switches::open(1)
    }));
    assert_eq!(click(&gate, "1.2.3.4", &alice), Ok(true));
}

#[test]
fn older_switches_do_not_undo_newer_ones() {
    let gate = gate(settings(), activity(1));
    assert!(gate.switch(Switches {
        revision: 3,
        entry_open: false,
        ..Switches::open(1)
    }));
    assert!(!gate.switch(Switches {
        revision: 2,
        ..Switches::open(1)
    }));
    assert!(!gate.switch(Switches {
        revision: 3,
        ..Switches::open(1)
    }));
    assert!(!gate.switches().entry_open);
}

#[test]
fn reads_count_per_user_and_for_the_anonymous_per_address() {
    let gate = limited(Limits {
        read: limit("1/s burst 2"),
        ..Limits::OFF
    });
    let (alice, nobody) = (signed_in("alice"), HeaderMap::new());
    let read = |peer, headers| {
        gate.admit_read(request(peer, headers), SELLING)
            .map(|identified| identified.into_user())
    };
    assert_eq!(read("1.1.1.1", &alice), Ok(user("alice")));
    assert_eq!(read("1.1.1.2", &alice), Ok(user("alice")));
    assert!(matches!(
        read("1.1.1.3", &alice),
        Err(Refusal::Limited { scope: Scope::User, .. })
    ));
    assert_eq!(read("1.1.1.1", &nobody), Err(Refusal::Unauthenticated));
    assert_eq!(read("1.1.1.1", &nobody), Err(Refusal::Unauthenticated));
    assert!(matches!(read("1.1.1.1", &nobody), Err(Refusal::LimitedByIp { .. })));
    assert_eq!(
        read("1.1.1.1", &signed_in("bob")),
        Ok(user("bob")),
        "an office is not starved"
    );
}

#[test]
fn pages_need_no_identity() {
    let gate = limited(Limits {
        read: limit("1/s burst 2"),
        ..Limits::OFF
    });
    let bad = headers(&[("authorization", "Bearer none")]);
    let (nobody, alice) = (HeaderMap::new(), signed_in("alice"));
    let page = |headers| gate.admit_page(request("1.1.1.1", headers), SELLING);
    assert_eq!(page(&nobody), Ok(()));
    assert_eq!(page(&bad), Ok(()));
    assert!(matches!(page(&bad), Err(Refusal::LimitedByIp { .. })));
    assert_eq!(page(&alice), Ok(()));
}

#[test]
fn stream_token_is_checked_like_any_other() {
    let limits = Limits {
        read: limit("1/s burst 2"),
        ..Limits::OFF
    };
    let gate = limited_but("2.2.2.2/32", limits);
    let nobody = HeaderMap::new();
    let read = |peer, token: &str| {
        gate.admit_read_with_token(gate.sender(request(peer, &nobody)), token, SELLING)
            .map(|identity| identity.user)
    };
    assert_eq!(read("1.1.1.1", &token("alice")), Ok(user("alice")));
    for _ in 0..2 {
        assert_eq!(read("1.1.1.1", "none"), Err(Refusal::Unauthenticated));
    }
    assert!(matches!(read("1.1.1.1", "none"), Err(Refusal::LimitedByIp { .. })));
    assert_eq!(
        read("1.1.1.1", &token("bob")),
        Ok(user("bob")),
        "an office is not starved"
    );
    for _ in 0..3 {
        assert_eq!(read("2.2.2.2", "none"), Err(Refusal::Unauthenticated));
    }
}

#[test]
fn gateway_names_the_user_from_trusted_proxies_only() {
    let gate = gate(
        Settings {
            authority: Authority::Gateway,
            ..settings()
        },
        activity(1),
    );
    let named = headers(&[("x-user-id", "alice"), ("x-forwarded-for", "1.2.3.4")]);
    let identify = |peer, headers| identified(&gate, peer, headers, SELLING).map(|buyer| buyer.into_user());
    assert_eq!(identify("10.0.0.1", &named), Ok(user("alice")));
    assert_eq!(identify("1.2.3.4", &named), Err(Refusal::Unauthenticated));
    assert_eq!(identify("10.0.0.1", &signed_in("alice")), Err(Refusal::Unauthenticated));
    let unnamed = HeaderMap::new();
    let by_body = |peer, headers, id: &str| {
        let arrived = gate.arrive(request(peer, headers), SELLING)?;
        gate.identify_named(arrived, user(id), SELLING)
            .map(|identified| identified.into_user())
    };
    assert_eq!(by_body("10.0.0.1", &named, "alice"), Ok(user("alice")));
    assert_eq!(by_body("10.0.0.1", &unnamed, "alice"), Ok(user("alice")));
    assert_eq!(by_body("10.0.0.1", &named, "bob"), Err(Refusal::Unauthenticated));
    assert_eq!(by_body("1.2.3.4", &named, "alice"), Err(Refusal::Unauthenticated));
}

#[test]
fn body_names_nobody_where_tokens_are_the_authority() {
    let gate = gate(settings(), activity(1));
    let alice = signed_in("alice");
    let arrived = gate.arrive(request("10.0.0.1", &alice), SELLING).expect("not limited");
    let named: Result<UserId, _> = gate
        .identify_named(arrived, user("alice"), SELLING)
        .map(|identified| identified.into_user());
    assert_eq!(named, Err(Refusal::Unauthenticated));
}

#[test]
fn whoever_is_named_in_vain_again_and_again_is_an_offender() {
    let abuse = AbuseRules {
        ip: limit("1/min burst 2"),
        block_for_ms: 1_000,
        ..AbuseRules::OFF
    };
    let gate = gate(Settings { abuse, ..settings() }, activity(1));
    let nobody = HeaderMap::new();
    for _ in 0..3 {
        assert!(gate.abuse().take().is_empty());
        let arrived = gate.arrive(request("1.2.3.4", &nobody), SELLING).expect("no limit");
        let refused = gate.identify_named(arrived, user("alice"), SELLING);
        assert!(refused.is_err());
    }
    let offenders = gate.abuse().take();
    assert_eq!(offenders[0].subject.to_string(), "1.2.3.4/32");
}
