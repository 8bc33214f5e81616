//! What goes back, when, and what keeps it from that.

use std::collections::BTreeSet;

use seckill_sale::EpochMs;
use serde_json::{Map, Value};

use super::tests::for_good;
use super::*;

fn at(now: i64) -> EpochMs {
    EpochMs(now)
}

/// `json` until then.
fn until(switches: &Switches, json: &str, until: i64) -> Switches {
    let mut patch: SwitchesPatch = serde_json::from_str(json).expect("a patch");
    patch.until = Some(at(until));
    switches.patched(&patch).expect("in range")
}

#[test]
fn what_a_patch_names_goes_back_at_its_moment_and_nothing_else_does() {
    let before = for_good(&Switches::open(9), r#"{"challenge":"token","limits":{"ip":"5/s"}}"#);
    let change = r#"{"entry_open":false,"challenge":null,"limits":{"ip":"off"},"backlog_resume":3}"#;
    let changed = until(&before, change, 100);
    let changed = for_good(&changed, r#"{"admit_ratio":0.5}"#);
    let early = changed.at(at(99));
    assert_eq!(early, changed);
    assert!(!early.entry_open && !changed.is_due(at(99)) && changed.is_due(at(100)));
    let late = changed.at(at(100));
    let expect = Switches {
        admit_ratio: 0.5,
        revision: 3,
        ..before
    };
    assert_eq!(late, expect);
}

#[test]
fn a_later_patch_of_the_same_member_cancels_its_return_alone() {
    let open = Switches::open(9);
    let both = until(&open, r#"{"entry_open":false,"admit_ratio":0.5}"#, 100);
    let shut = for_good(&both, r#"{"entry_open":false}"#).at(at(100));
    assert_eq!((shut.entry_open, shut.admit_ratio), (false, 1.0));
    assert_eq!(shut.returns, []);
}

#[test]
fn whoever_prolongs_a_change_does_not_make_it_the_rule() {
    let shut = until(&Switches::open(9), r#"{"entry_open":false}"#, 100);
    let longer = until(&shut, r#"{"entry_open":false}"#, 200);
    assert_eq!(longer.returns.len(), 1);
    assert!(!longer.at(at(199)).entry_open);
    assert!(longer.at(at(200)).entry_open);
}

/// The members that a JSON object names, those of the limits each by itself.
fn names(json: &str) -> BTreeSet<String> {
    let members: Map<String, Value> = serde_json::from_str(json).expect("an object");
    let named = |(name, value): (String, Value)| match value {
        Value::Object(inner) if name == "limits" => inner.keys().map(|inner| format!("{name}.{inner}")).collect(),
        _ => vec![name],
    };
    members.into_iter().flat_map(named).collect()
}

#[test]
fn returns_come_in_the_order_of_their_moments_and_each_member_has_one_at_most() {
    let mut switches = Switches::open(9);
    let changes = [
        r#"{"entry_open":false}"#,
        r#"{"admit_ratio":0.5}"#,
        r#"{"read_only":true}"#,
        r#"{"backlog_max":5}"#,
        r#"{"backlog_resume":5}"#,
        r#"{"backlog_oldest_max_s":5}"#,
        r#"{"auto_admit":"off"}"#,
        r#"{"challenge":"token"}"#,
        r#"{"limits":{"ip":"off"}}"#,
        r#"{"limits":{"network":"off"}}"#,
        r#"{"limits":{"user":"off"}}"#,
        r#"{"limits":{"device":"off"}}"#,
        r#"{"limits":{"activity":"off"}}"#,
        r#"{"limits":{"node":"off"}}"#,
    ];
    let changed: BTreeSet<String> = changes.iter().flat_map(|change| names(change)).collect();
    let all = Members::of(&Switches::open(9));
    assert_eq!(changed, names(&serde_json::to_string(&all).expect("plain data")));
    for round in 0..3_i64 {
        for (nth, change) in (0..).zip(changes) {
            switches = until(&switches, change, 1_000 - 10 * round - nth);
        }
    }
    assert_eq!(switches.returns.len(), changes.len());
    assert!(switches.returns.is_sorted_by_key(|due| due.at));
    let json = serde_json::to_string(&switches).expect("plain data");
    assert!(json.len() < 2_000, "{}: the store keeps 4 KiB", json.len());
    assert_eq!(serde_json::from_str::<Switches>(&json).expect("as written"), switches);
    let home = Switches {
        revision: switches.revision,
        ..Switches::open(9)
    };
    assert_eq!(switches.at(at(1_000)), home);
}

#[test]
fn a_change_that_expires_names_something() {
    let patch = SwitchesPatch {
        until: Some(at(1)),
        ..SwitchesPatch::default()
    };
    assert_eq!(Switches::open(9).patched(&patch), Err(Error::NothingExpires));
}
