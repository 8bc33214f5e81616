//! When what several shut, or lowered, goes back.

use seckill_gate::SwitchesPatch;

use super::*;

#[test]
fn what_both_shut_opens_when_the_later_of_them_says_so() {
    let shut = |until: Option<i64>| {
        let patch = SwitchesPatch {
            until: until.map(EpochMs),
            ..serde_json::from_str(r#"{"entry_open":false,"admit_ratio":0.5}"#).expect("a patch")
        };
        (Switches::open(9).patched(&patch).expect("in range"), patch.members)
    };
    for (ours, theirs, opens_at) in [
        (None, Some(5), None),
        (Some(5), None, None),
        (Some(5), Some(9), Some(9)),
        (Some(9), Some(5), Some(9)),
    ] {
        let (switches, changed) = shut(ours);
        let (theirs, _) = shut(theirs);
        let met = merged(&switches, &changed, &theirs);
        assert!(
            !met.at(EpochMs(opens_at.unwrap_or(i64::MAX) - 1)).is_open(),
            "{opens_at:?}"
        );
        if let Some(at) = opens_at {
            let then = met.at(EpochMs(at));
            assert_eq!((then.entry_open, then.admit_ratio), (true, 1.0), "{opens_at:?}");
        }
    }
}

#[test]
fn a_share_that_was_lowered_for_a_while_goes_back_to_what_others_say_then() {
    let patch = SwitchesPatch {
        until: Some(EpochMs(5)),
        ..serde_json::from_str(r#"{"admit_ratio":0.2}"#).expect("a patch")
    };
    let lowered = Switches::open(9).patched(&patch).expect("in range");
    let theirs = Switches {
        admit_ratio: 0.6,
        ..Switches::open(9)
    };
    let met = merged(&lowered, &patch.members, &theirs);
    assert_eq!([met.admit_ratio, met.at(EpochMs(5)).admit_ratio], [0.2, 0.6]);
}
