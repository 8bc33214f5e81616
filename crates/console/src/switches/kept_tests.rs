//! How kept switches meet what the ledger says, and which may be kept.

use seckill_gate::SwitchesPatch;
use seckill_sale::EpochMs;

use super::*;
use crate::switches::brakes::is_brake;

fn with(change: impl FnOnce(&mut Switches)) -> Switches {
    let mut switches = Switches::open(9);
    change(&mut switches);
    switches
}

#[test]
fn only_what_lets_fewer_in_is_a_brake() {
    let open = with(|_| ());
    let brakes = [
        with(|switches| switches.entry_open = false),
        with(|switches| switches.read_only = true),
        with(|switches| switches.admit_ratio = 0.5),
    ];
    for brake in &brakes {
        assert!(is_brake(&open, brake), "{brake:?}");
        assert!(!is_brake(brake, &open), "{brake:?}");
    }
    let until = |json: &str| SwitchesPatch {
        until: Some(EpochMs(1)),
        ..serde_json::from_str(json).expect("a patch")
    };
    let for_a_while = open.patched(&until(r#"{"admit_ratio":0.5}"#)).expect("in range");
    assert!(is_brake(&open, &for_a_while));
    let more = with(|switches| (switches.admit_ratio, switches.backlog_max) = (0.5, 10));
    assert!(!is_brake(&open, &more));
    assert!(!is_brake(&open, &open));
}

fn named(json: &str) -> Members {
    serde_json::from_str(json).expect("members")
}

fn row(revision: u64, switches: &Switches) -> StoredSwitches {
    StoredSwitches {
        revision,
        json: serde_json::to_string(switches).expect("plain data"),
    }
}

#[test]
fn kept_switches_win_on_the_row_they_stand_on_and_any_other_gets_their_changes() {
    let shut = with(|switches| (switches.entry_open, switches.backlog_max) = (false, 5));
    let (theirs, others) = (with(|_| ()), with(|switches| switches.admit_ratio = 0.5));
    let changed = named(r#"{"entry_open":false,"backlog_max":5}"#);
    let kept = Kept::on(Some(&row(3, &theirs)), shut.clone(), &changed);
    assert_eq!(kept.over(&theirs, &row(3, &theirs)), shut);
    let met = with(|switches| {
        (switches.entry_open, switches.admit_ratio, switches.backlog_max) = (false, 0.5, 5);
    });
    // Later, earlier as after a restore, and the same revision again after one.
    for revision in [4, 2, 3] {
        assert_eq!(kept.over(&others, &row(revision, &others)), met, "{revision}");
    }
}

#[test]
fn what_an_older_version_kept_stands_on_a_revision_and_one_can_read_what_is_kept_now() {
    #[derive(Deserialize)]
    struct Older {
        base: u64,
        switches: Switches,
    }
    let shut = with(|switches| switches.entry_open = false);
    let older = format!(r#"{{"base":3,"switches":{}}}"#, row(3, &shut).json);
    let older: Kept = serde_json::from_str(&older).expect("what was kept");
    let others = with(|switches| switches.admit_ratio = 0.5);
    assert_eq!(older.over(&others, &row(3, &others)), shut);
    assert!(older.over(&others, &row(2, &others)).admit_ratio < 1.0);
    let now = serde_json::to_string(&Kept::on(
        Some(&row(3, &others)),
        shut.clone(),
        &named(r#"{"entry_open":false}"#),
    ))
    .expect("plain data");
    let read: Older = serde_json::from_str(&now).expect("what is kept");
    assert_eq!((read.base, read.switches), (3, shut));
}

#[test]
fn what_kept_switches_tighten_goes_back_when_they_said_so() {
    let shut = SwitchesPatch {
        until: Some(EpochMs(9)),
        ..serde_json::from_str(r#"{"entry_open":false}"#).expect("a patch")
    };
    let switches = with(|_| ()).patched(&shut).expect("in range");
    let (before, later) = (with(|_| ()), with(|switches| switches.backlog_max = 5));
    let kept = Kept::on(Some(&row(3, &before)), switches, &shut.members);
    let met = kept.over(&later, &row(4, &later));
    assert!(!met.entry_open);
    assert!(met.at(EpochMs(9)).entry_open);
}

#[test]
fn changes_that_were_kept_let_no_more_in_than_a_later_row_does_and_leave_the_rest_of_it() {
    let shut = with(|switches| switches.entry_open = false);
    let more = with(|switches| (switches.entry_open, switches.admit_ratio) = (false, 1.0));
    let lowered = with(|switches| switches.admit_ratio = 0.5);
    let kept = Kept::on(Some(&row(3, &shut)), more, &named(r#"{"admit_ratio":1.0}"#));
    assert_eq!(
        kept.over(&lowered, &row(4, &lowered)),
        lowered,
        "it did not name the entrance"
    );
}

#[test]
fn changes_of_two_who_knew_nothing_of_each_other_are_kept_together() {
    let base = with(|_| ());
    let on = |switches: Switches, changed: &str| Kept::on(Some(&row(3, &base)), switches, &named(changed));
    let shut = on(with(|switches| switches.entry_open = false), r#"{"entry_open":false}"#);
    let lowered = on(with(|switches| switches.admit_ratio = 0.5), r#"{"admit_ratio":0.5}"#);
    let both = with(|switches| (switches.entry_open, switches.admit_ratio) = (false, 0.5));
    for kept in [shut.onto(&lowered), lowered.onto(&shut)] {
        assert_eq!(kept.switches, both);
        let later = with(|switches| switches.backlog_max = 5);
        let met = kept.over(&later, &row(4, &later));
        assert_eq!((met.entry_open, met.admit_ratio, met.backlog_max), (false, 0.5, 5));
    }
}

#[test]
fn where_the_ledger_has_no_row_kept_switches_stand_on_none_whatever_a_version_says_then() {
    let (ours, of_another) = (with(|_| ()), Switches::open(10));
    let kept = Kept::on(Some(&row(0, &ours)), ours.clone(), &Members::default());
    assert!(kept.stand_on(&row(0, &of_another)));
    assert!(!kept.stand_on(&row(1, &ours)));
}

#[test]
fn the_longest_kept_switches_find_room_in_a_store() {
    let changes = [
        r#"{"entry_open":false}"#,
        r#"{"admit_ratio":0.123456789012345}"#,
        r#"{"read_only":true}"#,
        r#"{"backlog_max":10000000}"#,
        r#"{"backlog_resume":9999999}"#,
        r#"{"backlog_oldest_max_s":86400}"#,
        r#"{"auto_admit":{"store_p99_ms":60000,"step":0.123456789012345}}"#,
        r#"{"challenge":"captcha"}"#,
    ];
    let limits = ["ip", "network", "user", "device", "activity", "node"];
    let limits = limits.map(|limit| format!(r#"{{"limits":{{"{limit}":"1000000/min burst 1000000"}}}}"#));
    let mut kept = Kept::on(Some(&row(u64::MAX, &with(|_| ()))), with(|_| ()), &Members::default());
    // Each goes back at another moment, to what is as long.
    for round in 0..2 {
        let all = changes.into_iter().chain(limits.iter().map(String::as_str));
        for (number, change) in all.enumerate() {
            let patch = SwitchesPatch {
                until: (round == 1).then(|| EpochMs(9_999_999_999_999 - i64::try_from(number).expect("a few"))),
                ..serde_json::from_str(change).expect("a patch")
            };
            let next = kept.switches.patched(&patch).expect("in range");
            kept = kept.with(next, &patch.members);
        }
    }
    assert_eq!(kept.switches.returns.len(), 14);
    let text = serde_json::to_string(&kept).expect("plain data");
    assert!(text.len() < seckill_stock::SWITCHES_BYTES_MAX, "{}: {text}", text.len());
}
