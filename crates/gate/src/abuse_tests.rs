//! Who is named as an offender, and for what.

use seckill_sale::Quota;

use super::*;

const NOW: EpochMs = EpochMs(1_750_000_000_000);

fn rules(ip: &str, user: &str, device: &str) -> AbuseRules {
    let limit = |text: &str| text.parse().expect("a limit");
    AbuseRules {
        ip: limit(ip),
        user: limit(user),
        device: limit(device),
        block_for_ms: 600_000,
    }
}

fn refused<'a>(client: &str, user: Option<&'a UserId>, device: Option<&'a str>) -> Refused<'a> {
    Refused {
        client: client.parse().expect("an address"),
        exempt: false,
        user,
        device: device.and_then(Device::new),
    }
}

fn named(abuse: &Abuse) -> Vec<String> {
    let mut names: Vec<_> = abuse.take().into_iter().map(|o| o.subject.to_string()).collect();
    names.sort();
    names
}

#[test]
fn whoever_is_refused_more_often_than_the_rule_allows_is_named_once() {
    let abuse = Abuse::new(rules("off", "60/min burst 10", "off"), 1024);
    let alice = UserId::new("alice").expect("a user id");
    let times = |count: usize| {
        for _ in 0..count {
            abuse.note(
                &Refusal::Unauthenticated,
                || refused("1.2.3.4", Some(&alice), None),
                NOW,
            );
        }
    };
    times(10);
    assert!(abuse.take().is_empty());
    times(20);
    let offenders = abuse.take();
    assert_eq!(offenders.len(), 1, "{offenders:?}");
    assert_eq!(offenders[0].subject, Subject::User(alice.clone()));
    assert_eq!(offenders[0].expires_at, NOW.plus(600_000));
    assert!(abuse.take().is_empty());
}

#[test]
fn what_honest_people_hear_is_not_counted() {
    let abuse = Abuse::new(rules("1/min burst 1", "1/min burst 1", "1/min burst 1"), 1024);
    let alice = UserId::new("alice").expect("a user id");
    let quota = Quota { burst: 1, window_s: 1 };
    let of_all = |scope| Refusal::Limited {
        scope,
        retry_after_ms: 1,
        quota,
    };
    for refusal in [
        Refusal::SoldOut,
        Refusal::Ended,
        Refusal::Busy,
        Refusal::Blocked,
        of_all(Scope::Activity),
        of_all(Scope::Node),
    ] {
        for _ in 0..9 {
            abuse.note(&refusal, || refused("1.2.3.4", Some(&alice), Some("d")), NOW);
        }
    }
    assert!(abuse.take().is_empty());
}

#[test]
fn exempt_networks_are_not_blocked_but_their_users_are() {
    let abuse = Abuse::new(rules("1/min burst 1", "1/min burst 1", "1/min burst 1"), 1024);
    let alice = UserId::new("alice").expect("a user id");
    let refused = Refused {
        exempt: true,
        ..refused("1.2.3.4", Some(&alice), Some("d"))
    };
    for _ in 0..9 {
        abuse.note(&Refusal::ChallengeFailed, || refused, NOW);
    }
    assert_eq!(named(&abuse), ["alice"]);
}

#[test]
fn addresses_of_one_ipv6_customer_are_blocked_together() {
    let abuse = Abuse::new(rules("1/min burst 2", "off", "off"), 1024);
    for last in 1..=3 {
        abuse.note(
            &Refusal::Unauthenticated,
            || refused(&format!("2001:db8::{last}"), None, None),
            NOW,
        );
    }
    assert_eq!(named(&abuse), ["2001:db8::/64"]);
}

#[test]
fn offenders_that_wait_are_bounded() {
    let abuse = Abuse::new(rules("off", "1/min burst 1", "off"), 1 << 16);
    for n in 0..OFFENDERS_MAX + 500 {
        let user = UserId::new(&format!("bot-{n}")).expect("a user id");
        for _ in 0..2 {
            abuse.note(&Refusal::Unauthenticated, || refused("1.2.3.4", Some(&user), None), NOW);
        }
    }
    assert_eq!(abuse.take().len(), OFFENDERS_MAX);
}
