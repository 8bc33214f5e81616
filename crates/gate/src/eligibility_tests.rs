//! Lists of users, and the levels beside them.

use std::sync::Arc;

use seckill_sale::{Activity, Eligibility, NotReady, Refusal};

use super::*;
use crate::testing::activity;

fn user(n: usize) -> UserId {
    UserId::new(&format!("user-{n}")).expect("a user id")
}

fn list(users: std::ops::Range<usize>) -> EligibleUsers {
    let salt = [7; 16];
    EligibleUsers::of_fingerprints(1, salt, users.map(|n| fingerprint(&salt, &user(n))).collect())
}

#[test]
fn everybody_on_the_list_and_nobody_else_is_found() {
    for count in [0, 1, 7, 8, 9, 1_000, 20_000] {
        let list = list(0..count);
        assert_eq!(list.users(), Some(count));
        assert!((0..count).all(|n| list.has(&user(n))), "{count}");
        assert!(!(count..count + 2_000).any(|n| list.has(&user(n))), "{count}");
    }
}

#[test]
fn a_user_costs_eight_and_a_half_bytes() {
    let Form::Fingerprints { sorted, starts, .. } = list(0..20_000).form else {
        panic!("it was made of fingerprints")
    };
    let bytes = size_of_val(&*sorted) + size_of_val(&*starts);
    assert_eq!(bytes, 20_000 * 17 / 2 + size_of::<u32>());
}

#[test]
fn user_who_stands_there_twice_counts_once() {
    let salt = [7; 16];
    let twice = vec![fingerprint(&salt, &user(1)); 2];
    let list = EligibleUsers::of_fingerprints(1, salt, twice);
    assert_eq!((list.users(), list.has(&user(1))), (Some(1), true));
}

/// Made by the example of docs/identity.md in Python: 64 bits, 3 hashes, users alice and bob.
#[test]
fn bloom_filter_is_read_by_the_documented_rules() {
    let bytes = BLOOM_OF_ALICE_AND_BOB.to_vec();
    let list = EligibleUsers::bloom(1, bytes, 64, 3).expect("fits");
    let has = |id: &str| list.has(&UserId::new(id).expect("a user id"));
    assert!(has("alice") && has("bob"));
    assert!(!has("carol") && !has("mallory"));
}

const BLOOM_OF_ALICE_AND_BOB: [u8; 8] = [2, 1, 0, 5, 0, 128, 2, 0];

#[test]
fn bloom_filter_has_the_bytes_that_its_bits_need() {
    let fits = |bytes: usize, bits, hashes| EligibleUsers::bloom(1, vec![0; bytes], bits, hashes).is_some();
    assert!(fits(1, 1, 1) && fits(1, 8, 1) && fits(2, 9, BLOOM_HASHES_MAX));
    for (bytes, bits, hashes) in [(0, 0, 1), (1, 9, 1), (2, 8, 1), (1, 8, 0), (1, 8, BLOOM_HASHES_MAX + 1)] {
        assert!(!fits(bytes, bits, hashes), "{bytes} {bits} {hashes}");
    }
    assert!(!fits(((BLOOM_BITS_MAX + 1) / 8 + 1) as usize, BLOOM_BITS_MAX + 1, 1));
}

#[test]
fn level_and_list_must_both_be_met() {
    let lists = EligibleLists::default();
    let asks = |min_level, list| Activity {
        eligibility: Eligibility { min_level, list },
        ..activity(1)
    };
    let check = |activity: &Activity, n, level| lists.check(activity, &user(n), level);
    let refused = Err(Refusal::NotEligible);
    assert_eq!(check(&asks(None, None), 9, None), Ok(()));
    for (level, expect) in [
        (None, &refused),
        (Some(2), &refused),
        (Some(3), &Ok(())),
        (Some(9), &Ok(())),
    ] {
        assert_eq!(&check(&asks(Some(3), None), 9, level), expect, "{level:?}");
    }
    let not_yet = Err(Refusal::NotReady(NotReady::NotPreheated));
    assert_eq!(check(&asks(None, Some(1)), 0, None), not_yet, "no list has come yet");
    lists.put(activity(1).id, &Arc::new(list(0..5)));
    assert_eq!(check(&asks(None, Some(1)), 0, None), Ok(()));
    assert_eq!(check(&asks(None, Some(1)), 5, None), refused);
    assert_eq!(check(&asks(Some(3), Some(1)), 0, Some(2)), refused);
    assert_eq!(check(&asks(Some(3), Some(1)), 5, Some(3)), refused);
    assert_eq!(check(&asks(Some(3), Some(1)), 0, Some(3)), Ok(()));
}

#[test]
fn list_that_came_last_is_in_force_until_its_sale_is_let_go() {
    let lists = EligibleLists::default();
    let (id, versioned) = (activity(1).id, |version| {
        Arc::new(EligibleUsers::of_fingerprints(version, [0; 16], Vec::new()))
    });
    let version = || lists.of(id).map(|list| list.version());
    lists.put(id, &versioned(2));
    lists.put(id, &versioned(1));
    assert_eq!(version(), Some(1), "of a ledger that was restored from a copy");
    lists.keep(|kept| kept == id);
    assert_eq!(version(), Some(1));
    lists.keep(|_| false);
    assert_eq!(version(), None);
}
