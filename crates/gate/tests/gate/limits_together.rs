//! What many are limited to together, on one node and on all, and who is named for coming too often.

use std::sync::Arc;

use http::HeaderValue;
use seckill_gate::{AbuseRules, DEVICE_HEADER, Earlier, Limits, Networks, PerLimit, RateLimiting, Settings, Wish};
use seckill_sale::{Refusal, Scope, SharedRate};

use crate::support::{
    SELLING, UNLIMITED, activity, activity_id, click, gate, identified, limit, limited, settings, signed_in, wish,
};

#[test]
fn buyers_of_an_activity_and_of_a_node_are_limited_together() {
    let gate = limited(PerLimit {
        activity: limit("60/min burst 5"),
        node: limit("60/min burst 8"),
        ..UNLIMITED
    });
    gate.catalogue().put(&Arc::new(activity(2)));
    let refused_by = |n: usize, id| {
        let headers = signed_in(&format!("user-{n}"));
        let buyer = identified(&gate, "1.2.3.4", &headers, SELLING).expect("signed in");
        let wish = Wish {
            activity: activity_id(id),
            ..wish(None)
        };
        match gate.admit_purchase(buyer, wish, |_, _| Earlier::None, SELLING) {
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
    let gate = limited(PerLimit {
        user: limit("1/min burst 1"),
        activity: limit("1/min burst 2"),
        ..UNLIMITED
    });
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
    let limits = Limits::from(PerLimit {
        user: limit("1/s burst 3"),
        ..PerLimit::OFF
    });
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
    let gate = limited(PerLimit {
        ip: limit("50/s burst 100"),
        network: limit("20/s burst 50"),
        ..UNLIMITED
    });
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
fn purchases_ask_the_rates_that_all_nodes_share_where_limits_reach_so_far() {
    let limits = Limits::from(PerLimit {
        user: limit("1/s burst 3"),
        device: limit("30/min burst 5"),
        ..PerLimit::OFF
    });
    let asked = |rate_limiting, exempt: &str| {
        let exempt = Networks::new([exempt.parse().expect("a network")]);
        let settings = Settings {
            limits,
            rate_limiting,
            exempt,
            ..settings()
        };
        let gate = gate(settings, activity(1));
        let mut headers = signed_in("alice");
        headers.insert(DEVICE_HEADER, HeaderValue::from_static("phone"));
        let buyer = identified(&gate, "1.2.3.4", &headers, SELLING).expect("signed in");
        let admitted = gate.admit_purchase(buyer, wish(None), |_, _| Earlier::None, SELLING);
        gate.for_the_store(&admitted.expect("within all limits")).rates
    };
    assert_eq!(asked(RateLimiting::Local, "9.9.9.9/32"), []);
    let user = SharedRate {
        scope: Scope::User,
        key: "u:1:alice".to_owned(),
        interval_us: 1_000_000,
        burst: 3,
    };
    let device = SharedRate {
        scope: Scope::Device,
        key: "d:phone".to_owned(),
        interval_us: 2_000_000,
        burst: 5,
    };
    assert_eq!(asked(RateLimiting::Global, "9.9.9.9/32"), [user.clone(), device]);
    assert_eq!(asked(RateLimiting::Global, "1.2.3.0/24"), [user]);
}
