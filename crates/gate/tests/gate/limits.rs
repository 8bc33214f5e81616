//! Whom each limit counts, and who is named for coming too often.

use std::sync::Arc;

use seckill_gate::{AbuseRules, Earlier, Limits, Networks, Settings, Switches, Wish};
use seckill_sale::{Quota, Refusal, Scope};

use crate::support::{
    SELLING, UNLIMITED, activity, activity_id, click, gate, headers, limit, request, settings, signed_in, wish,
};

#[test]
fn user_limit_holds_over_many_addresses_and_spares_an_office() {
    let limits = Limits {
        ip: limit("50/s burst 100"),
        user: limit("1/s burst 3"),
        ..UNLIMITED
    };
    let gate = gate(Settings { limits, ..settings() }, activity(1));
    let alice = signed_in("alice");
    let passed = (0..50)
        .filter(|n| click(&gate, &format!("1.2.3.{n}"), &alice).is_ok())
        .count();
    assert_eq!(passed, 3);
    let refusal = click(&gate, "1.2.3.99", &alice);
    assert_eq!(
        refusal,
        Err(Refusal::Limited {
            scope: Scope::User,
            retry_after_ms: 1000,
            quota: Quota { burst: 3, window_s: 3 },
        })
    );
    let office = (0..50)
        .filter(|n| click(&gate, "9.9.9.9", &signed_in(&format!("user-{n}"))).is_ok())
        .count();
    assert_eq!(office, 50);
}

#[test]
fn user_limit_counts_each_activity_apart() {
    let limits = Limits {
        user: limit("1/s burst 1"),
        ..UNLIMITED
    };
    let gate = gate(Settings { limits, ..settings() }, activity(1));
    gate.catalogue().put(&Arc::new(activity(2)));
    let alice = signed_in("alice");
    assert_eq!(click(&gate, "1.2.3.4", &alice), Ok(true));
    assert!(click(&gate, "1.2.3.4", &alice).is_err());
    let identified = gate
        .arrive(request("1.2.3.4", &alice), SELLING)
        .and_then(|arrived| gate.identify(arrived, SELLING));
    let second = Wish {
        activity: activity_id(2),
        ..wish(None)
    };
    assert!(
        gate.admit_purchase(identified.expect("signed in"), second, |_, _| Earlier::None, SELLING)
            .is_ok()
    );
}

#[test]
fn buyers_of_an_activity_and_of_a_node_are_limited_together() {
    let limits = Limits {
        activity: limit("60/min burst 5"),
        node: limit("60/min burst 8"),
        ..UNLIMITED
    };
    let gate = gate(Settings { limits, ..settings() }, activity(1));
    gate.catalogue().put(&Arc::new(activity(2)));
    let refused_by = |n: usize, id| {
        let headers = signed_in(&format!("user-{n}"));
        let identified = gate
            .arrive(request("1.2.3.4", &headers), SELLING)
            .and_then(|arrived| gate.identify(arrived, SELLING));
        let wish = Wish {
            activity: activity_id(id),
            ..wish(None)
        };
        match gate.admit_purchase(identified.expect("signed in"), wish, |_, _| Earlier::None, SELLING) {
            Ok(_) => None,
            Err(Refusal::Limited { scope, .. }) => Some(scope),
            Err(other) => panic!("{other:?}"),
        }
    };
    let first: Vec<_> = (0..6).map(|n| refused_by(n, 1)).collect();
    assert_eq!(first, [None, None, None, None, None, Some(Scope::Activity)]);
    let second: Vec<_> = (10..14).map(|n| refused_by(n, 2)).collect();
    assert_eq!(second, [None, None, None, Some(Scope::Node)]);
}

#[test]
fn whoever_is_refused_for_himself_takes_nothing_from_the_others() {
    let limits = Limits {
        user: limit("1/min burst 1"),
        activity: limit("1/min burst 2"),
        ..UNLIMITED
    };
    let gate = gate(Settings { limits, ..settings() }, activity(1));
    let greedy = signed_in("greedy");
    let passed = (0..50).filter(|_| click(&gate, "1.2.3.4", &greedy).is_ok()).count();
    assert_eq!(passed, 1);
    assert_eq!(click(&gate, "1.2.3.4", &signed_in("honest")), Ok(true));
}

#[test]
fn whoever_hammers_is_named_as_an_offender() {
    let abuse = AbuseRules {
        user: limit("10/s burst 20"),
        block_for_ms: 60_000,
        ..AbuseRules::OFF
    };
    let limits = Limits {
        user: limit("1/s burst 3"),
        ..UNLIMITED
    };
    let settings = Settings {
        limits,
        abuse,
        ..settings()
    };
    let gate = gate(settings, activity(1));
    let (bot, honest) = (signed_in("bot"), signed_in("honest"));
    for _ in 0..100 {
        let _ = click(&gate, "1.2.3.4", &bot);
    }
    for _ in 0..10 {
        let _ = click(&gate, "1.2.3.4", &honest);
    }
    let offenders = gate.abuse().take();
    let names: Vec<_> = offenders.iter().map(|offender| offender.subject.to_string()).collect();
    assert_eq!(names, ["bot"]);
    assert_eq!(offenders[0].expires_at, SELLING.now.plus(60_000));
}

#[test]
fn farm_of_one_network_is_limited_together() {
    let limits = Limits {
        ip: limit("50/s burst 100"),
        network: limit("20/s burst 50"),
        ..UNLIMITED
    };
    let gate = gate(Settings { limits, ..settings() }, activity(1));
    let passed = |network: &str| {
        let click = |n: &usize| {
            click(
                &gate,
                &format!("{network}.{}", n % 256),
                &signed_in(&format!("bot-{n}")),
            )
        };
        (0..1000).filter(|n| click(n).is_ok()).count()
    };
    assert_eq!(passed("203.0.113"), 50);
    let honest = click(&gate, "198.51.100.7", &signed_in("honest"));
    assert_eq!(honest, Ok(true), "another network pays nothing for it");
}

#[test]
fn rotating_forwarded_for_does_not_dodge_the_address_limit() {
    let limits = Limits {
        ip: limit("1/s burst 5"),
        ..UNLIMITED
    };
    let gate = gate(Settings { limits, ..settings() }, activity(1));
    let forwarded = |n: u32| headers(&[("x-forwarded-for", &format!("9.9.{}.{}", n / 250, n % 250))]);
    let passed = |peer| {
        (0..100)
            .filter(|&n| gate.arrive(request(peer, &forwarded(n)), SELLING).is_ok())
            .count()
    };
    assert_eq!(passed("1.2.3.4"), 5);
    assert_eq!(passed("10.0.0.1"), 100, "a trusted proxy speaks for a hundred clients");
}

#[test]
fn exempt_networks_have_no_address_and_device_limit_but_the_user_limit() {
    let limits = Limits {
        ip: limit("1/s burst 1"),
        device: limit("1/s burst 1"),
        user: limit("1/s burst 2"),
        ..UNLIMITED
    };
    let exempt = Networks::new(["127.0.0.0/8".parse().expect("a network")]);
    let gate = gate(
        Settings {
            limits,
            exempt,
            ..settings()
        },
        activity(1),
    );
    let mut alice = signed_in("alice");
    alice.insert("x-device-id", "phone".parse().expect("a header value"));
    let passed = |peer| (0..10).filter(|_| click(&gate, peer, &alice).is_ok()).count();
    assert_eq!(passed("127.0.0.1"), 2);
    assert_eq!(passed("127.0.0.1"), 0);
}

#[test]
fn limits_follow_the_switches_and_come_back() {
    let limits = Limits {
        user: limit("1/s burst 1"),
        ..UNLIMITED
    };
    let gate = gate(Settings { limits, ..settings() }, activity(1));
    let passed = |id: &str| {
        (0..10)
            .filter(|_| click(&gate, "1.2.3.4", &signed_in(id)).is_ok())
            .count()
    };
    assert_eq!(passed("a"), 1);
    let mut switches = Switches {
        revision: 1,
        ..Switches::open(1)
    };
    switches.limits.user = Some(limit("off"));
    assert!(gate.switch(switches));
    assert_eq!((passed("b"), gate.limits().user), (10, limit("off")));
    assert!(gate.switch(Switches {
        revision: 2,
        ..Switches::open(1)
    }));
    assert_eq!((passed("c"), gate.limits().user), (1, limit("1/s burst 1")));
}
