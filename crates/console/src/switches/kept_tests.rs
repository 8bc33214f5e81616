//! How kept switches meet what the ledger says, and which may be kept.

use seckill_gate::SwitchesPatch;
use seckill_sale::EpochMs;

use super::*;

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

fn row(revision: u64, switches: &Switches) -> StoredSwitches {
    StoredSwitches {
        revision,
        json: serde_json::to_string(switches).expect("plain data"),
    }
}

#[test]
fn kept_switches_win_on_the_row_they_stand_on_and_on_any_other_the_stricter_does() {
    let shut = with(|switches| (switches.entry_open, switches.backlog_max) = (false, 5));
    let (theirs, others) = (with(|_| ()), with(|switches| switches.admit_ratio = 0.5));
    let kept = Kept::on(Some(&row(3, &theirs)), shut.clone());
    assert_eq!(kept.over(&theirs, &row(3, &theirs)), shut);
    let met = with(|switches| (switches.entry_open, switches.admit_ratio) = (false, 0.5));
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
    let now = serde_json::to_string(&Kept::on(Some(&row(3, &others)), shut.clone())).expect("plain data");
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
    let kept = Kept::on(Some(&row(3, &before)), switches);
    let met = kept.over(&later, &row(4, &later));
    assert!(!met.entry_open);
    assert!(met.at(EpochMs(9)).entry_open);
}
