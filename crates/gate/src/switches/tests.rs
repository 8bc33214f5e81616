//! Changes of switches, how they are read and written, and the share that is let in.

use super::*;

fn patched(json: &str) -> Result<Switches, String> {
    let patch: SwitchesPatch = serde_json::from_str(json).map_err(|error| error.to_string())?;
    Switches::open(200_000)
        .patched(&patch)
        .map_err(|error| error.to_string())
}

#[test]
fn patch_changes_only_what_it_names() {
    let open = Switches {
        revision: 1,
        ..Switches::open(200_000)
    };
    let unchanged = patched("{}");
    assert_eq!(unchanged.as_ref(), Ok(&open));
    assert_eq!(
        patched(r#"{"entry_open":false}"#),
        Ok(Switches {
            entry_open: false,
            ..open.clone()
        })
    );
    assert_eq!(
        patched(r#"{"admit_ratio":0}"#),
        Ok(Switches {
            admit_ratio: 0.0,
            ..open.clone()
        })
    );
    let user = Some("5/s burst 9".parse().expect("a limit"));
    let limits = LimitSwitches {
        user,
        ..LimitSwitches::default()
    };
    assert_eq!(
        patched(r#"{"limits":{"user":"5/s burst 9"}}"#),
        Ok(Switches { limits, ..open.clone() })
    );
    assert_eq!(
        patched(r#"{"challenge":"token"}"#),
        Ok(Switches {
            challenge: Some(Challenge::Token),
            ..open
        })
    );
}

#[test]
fn null_takes_an_override_back_and_nothing_else() {
    let patch = |json: &str| serde_json::from_str::<SwitchesPatch>(json);
    let before = patched(r#"{"challenge":"token","limits":{"ip":"off"}}"#).expect("fine");
    let change = patch(r#"{"challenge":null,"limits":{"ip":null}}"#).expect("fine");
    let after = before.patched(&change).expect("fine");
    assert_eq!(
        after,
        Switches {
            revision: 2,
            ..Switches::open(200_000)
        }
    );
    for member in [
        "entry_open",
        "admit_ratio",
        "read_only",
        "backlog_max",
        "backlog_oldest_max_s",
        "auto_admit",
        "limits",
        "revision",
        "expires_at",
    ] {
        let json = format!(r#"{{"{member}":null}}"#);
        assert!(patch(&json).is_err(), "{json}");
    }
}

#[test]
fn wrong_patches_are_refused() {
    let bad = [
        r#"{"x":1}"#,
        r#"{"admit_ratio":1.01}"#,
        r#"{"admit_ratio":-0.1}"#,
        r#"{"admit_ratio":"1"}"#,
    ];
    let more = [
        r#"{"backlog_max":0}"#,
        r#"{"backlog_max":-1}"#,
        r#"{"backlog_max":1.5}"#,
        r#"{"limits":{"ip":"fast"}}"#,
    ];
    let most = [
        r#"{"limits":{"read":"off"}}"#,
        r#"{"challenge":"riddle"}"#,
        r#"{"revision":-1}"#,
        r#"{"backlog_max":10000001}"#,
    ];
    let newer = [
        r#"{"backlog_resume":0}"#,
        r#"{"backlog_resume":200001}"#,
        r#"{"backlog_oldest_max_s":86401}"#,
        r#"{"auto_admit":"on"}"#,
        r#"{"auto_admit":{}}"#,
        r#"{"auto_admit":{"store_p99_ms":0}}"#,
        r#"{"auto_admit":{"store_p99_ms":9,"step":0}}"#,
        r#"{"auto_admit":{"store_p99_ms":9,"x":1}}"#,
    ];
    for json in bad.into_iter().chain(more).chain(most).chain(newer).chain([
        r#"{"entry_open":true,"entry_open":true}"#,
        "[]",
        r#"{"limits":[]}"#,
        "null",
    ]) {
        assert!(patched(json).is_err(), "{json}");
    }
}

#[test]
fn switches_read_back_as_written() {
    let switches = patched(r#"{"admit_ratio":0.25,"limits":{"ip":"off","device":"1/min burst 2"}}"#).expect("fine");
    let json = serde_json::to_string(&switches).expect("plain data");
    assert_eq!(serde_json::from_str::<Switches>(&json).expect("as written"), switches);
}

#[test]
fn sieve_lets_the_share_through_evenly() {
    for (ratio, expect) in [(0.0, 0), (0.01, 10), (0.5, 500), (0.9, 900), (1.0, 1000)] {
        let sieve = Sieve::default();
        let passed = (0..1000).filter(|_| sieve.check(ratio).is_ok()).count();
        assert!(passed.abs_diff(expect) <= 2, "{ratio}: {passed}");
    }
}

/// `json` for good.
pub(super) fn for_good(switches: &Switches, json: &str) -> Switches {
    let patch: SwitchesPatch = serde_json::from_str(json).expect("a patch");
    switches.patched(&patch).expect("in range")
}

#[test]
fn switches_of_an_older_version_are_read_and_unset_members_are_not_written() {
    let old = r#"{"entry_open":true,"admit_ratio":1.0,"read_only":false,"backlog_max":9,"challenge":null,"limits":{"ip":null,"user":null,"device":null},"revision":0}"#;
    assert_eq!(serde_json::from_str::<Switches>(old).expect("older"), Switches::open(9));
    assert_eq!(serde_json::to_string(&Switches::open(9)).expect("plain data"), old);
}

#[test]
fn limits_are_written_member_by_member_as_ever() {
    let shown = |switches: &Switches| {
        let json = serde_json::to_string(switches).expect("plain data");
        json.split_once(r#""limits":"#).expect("limits").1.to_owned()
    };
    let set = |limits: &str| for_good(&Switches::open(9), &format!(r#"{{"limits":{limits}}}"#));
    let all = r#"{"ip":"off","network":"1/s burst 1","user":"2/s burst 2","device":"3/s burst 3","activity":"4/s burst 4","node":"5/s burst 5"}"#;
    assert_eq!(shown(&set(all)), format!(r#"{all},"revision":1}}"#));
    let some = r#"{"ip":null,"user":"2/s burst 2","device":null,"node":"5/s burst 5"}"#;
    assert_eq!(
        shown(&set(r#"{"node":"5/s burst 5","user":"2/s burst 2"}"#)),
        format!(r#"{some},"revision":1}}"#)
    );
    let until = SwitchesPatch {
        until: Some(seckill_sale::EpochMs(7)),
        ..serde_json::from_str(r#"{"limits":{"user":null,"ip":"off"}}"#).expect("a patch")
    };
    let back = set(r#"{"user":"2/s burst 2"}"#).patched(&until).expect("in range");
    let members = r#"{"limits":{"ip":null,"user":"2/s burst 2"}}"#;
    assert!(
        shown(&back).contains(&format!(r#""returns":[{{"at":7,"members":{members}}}]"#)),
        "{}",
        shown(&back)
    );
    let json = serde_json::to_string(&back).expect("plain data");
    assert_eq!(serde_json::from_str::<Switches>(&json).expect("as written"), back);
}

#[test]
fn admissions_begin_again_below_80_percent_unless_told_otherwise_and_never_above_the_most() {
    for (max, resume) in [(1, 1), (2, 1), (5, 4), (200_000, 160_000)] {
        assert_eq!(Switches::open(max).backlog_resume(), resume, "{max}");
    }
    let set = for_good(&Switches::open(10), r#"{"backlog_resume":7}"#);
    assert_eq!(set.backlog_resume(), 7);
    let lower = for_good(&set, r#"{"backlog_max":5}"#);
    assert_eq!(lower.backlog_resume(), 5);
    assert_eq!(for_good(&lower, r#"{"backlog_resume":null}"#).backlog_resume(), 4);
}
