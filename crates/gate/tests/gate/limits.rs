//! Whom each limit counts.

use std::sync::Arc;

use seckill_gate::{Earlier, PerLimit, Switches, Wish};
use seckill_sale::{Quota, Refusal, Scope};

use crate::support::{
    SELLING, UNLIMITED, activity, activity_id, click, headers, identified, limit, limited, limited_but, request,
    signed_in, wish,
};

#[test]
fn user_limit_holds_over_many_addresses_and_spares_an_office() {
    let gate = limited(PerLimit {
        ip: limit("50/s burst 100"),
        user: limit("1/s burst 3"),
        ..UNLIMITED
    });
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
    let gate = limited(PerLimit {
        user: limit("1/s burst 1"),
        ..UNLIMITED
    });
    gate.catalogue().put(&Arc::new(activity(2)));
    let alice = signed_in("alice");
    assert_eq!(click(&gate, "1.2.3.4", &alice), Ok(true));
    assert!(click(&gate, "1.2.3.4", &alice).is_err());
    let again = identified(&gate, "1.2.3.4", &alice, SELLING).expect("signed in");
    let second = Wish {
        activity: activity_id(2),
        ..wish(None)
    };
    let admitted = gate.admit_purchase(again, second, |_, _| Earlier::None, SELLING);
    assert!(admitted.is_ok());
}

#[test]
fn rotating_forwarded_for_does_not_dodge_the_address_limit() {
    let gate = limited(PerLimit {
        ip: limit("1/s burst 5"),
        ..UNLIMITED
    });
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
    let limits = PerLimit {
        ip: limit("1/s burst 1"),
        device: limit("1/s burst 1"),
        user: limit("1/s burst 2"),
        ..UNLIMITED
    };
    let gate = limited_but("127.0.0.0/8", limits);
    let mut alice = signed_in("alice");
    alice.insert("x-device-id", "phone".parse().expect("a header value"));
    let passed = |peer| (0..10).filter(|_| click(&gate, peer, &alice).is_ok()).count();
    assert_eq!(passed("127.0.0.1"), 2);
    assert_eq!(passed("127.0.0.1"), 0);
}

#[test]
fn limits_follow_the_switches_and_come_back() {
    let gate = limited(PerLimit {
        user: limit("1/s burst 1"),
        ..UNLIMITED
    });
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
    assert_eq!((passed("b"), gate.limits().buy.user), (10, limit("off")));
    assert!(gate.switch(Switches {
        revision: 2,
        ..Switches::open(1)
    }));
    assert_eq!((passed("c"), gate.limits().buy.user), (1, limit("1/s burst 1")));
}
