//! What waits for its turn tightens, and what has gone back is in force.

use seckill_gate::{Limit, LimitSwitches};

use super::*;

fn patch(json: &str) -> SwitchesPatch {
    serde_json::from_str(json).expect("a patch")
}

fn tightened_by(patches: &[&str]) -> Switches {
    tightened_over(Switches::open(9), patches)
}

fn tightened_over(settled: Switches, patches: &[&str]) -> Switches {
    let waiting = patches.iter().map(|json| (0, patch(json))).collect();
    let in_force = InForce {
        waiting,
        ..InForce::new(settled)
    };
    let limit = |text: &str| text.parse().expect("a limit");
    let (ip, user) = (limit("50/s burst 100"), limit("1/s burst 3"));
    let (device, read) = (Limit::Off, Limit::Off);
    in_force.tightened(Limits { ip, user, device, read }, EpochMs(1_000))
}

#[test]
fn patches_that_wait_tighten_and_never_loosen() {
    let all = [
        r#"{"admit_ratio":0.5,"limits":{"ip":"1/s","user":"2/s burst 3"}}"#,
        r#"{"admit_ratio":0.7,"entry_open":true,"backlog_max":10}"#,
        r#"{"entry_open":false,"backlog_max":5,"challenge":"token"}"#,
        r#"{"read_only":true,"challenge":"none","entry_open":true,"backlog_max":8,"limits":{"ip":"off","device":"9/s"}}"#,
    ];
    let expect = Switches {
        entry_open: false,
        read_only: true,
        admit_ratio: 0.5,
        backlog_max: 5,
        challenge: Some(Challenge::Token),
        limits: LimitSwitches {
            ip: Some("1/s".parse().expect("a limit")),
            user: None,
            device: Some("9/s".parse().expect("a limit")),
        },
        ..Switches::open(9)
    };
    let revisions = tightened_by(&all);
    assert_eq!(
        Switches {
            revision: 0,
            ..revisions
        },
        expect
    );
}

#[test]
fn what_went_back_is_in_force_and_a_wish_that_it_stays_holds_while_it_waits() {
    let shut = SwitchesPatch {
        until: Some(EpochMs(1_000)),
        ..patch(r#"{"entry_open":false}"#)
    };
    let settled = Switches::open(9).patched(&shut).expect("in range");
    assert!(tightened_over(settled, &[]).entry_open);
    let later = SwitchesPatch {
        until: Some(EpochMs(2_000)),
        ..shut
    };
    let settled = Switches::open(9).patched(&later).expect("in range");
    let stays = tightened_over(settled, &[r#"{"entry_open":false}"#]);
    assert!(!stays.at(EpochMs(2_000)).entry_open);
}
