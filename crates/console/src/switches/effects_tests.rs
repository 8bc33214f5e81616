//! Each switch both ways, and what stands before what.

use seckill_gate::SwitchesPatch;
use serde_json::json;

use super::*;

/// For good, while three tickets wait.
fn of_settings(settings: Limits) -> Circumstances<'static> {
    Circumstances {
        until: None,
        waiting: 3,
        settings,
    }
}

/// Who hears what after the change, and in the place of what.
fn heard(before: &Switches, change: &str) -> Vec<(u32, String)> {
    let patch: SwitchesPatch = serde_json::from_str(change).expect("a patch");
    let after = before.patched(&patch).expect("in range");
    let effects = effects(before, &after, &of_settings(Limits::OFF));
    effects.into_iter().map(|effect| (effect.hears, effect.who)).collect()
}

#[test]
fn each_switch_says_who_hears_its_code_both_ways() {
    let open = Switches::open(10);
    for (there, code, back) in [
        (r#"{"entry_open":false}"#, 40_006, r#"{"entry_open":true}"#),
        (r#"{"admit_ratio":0.5}"#, 50_300, r#"{"admit_ratio":1}"#),
        (r#"{"challenge":"token"}"#, 40_301, r#"{"challenge":"none"}"#),
        (r#"{"limits":{"ip":"1/s"}}"#, 40_003, r#"{"limits":{"ip":"off"}}"#),
        (r#"{"backlog_oldest_max_s":5}"#, 50_301, r#"{"backlog_oldest_max_s":0}"#),
        (
            r#"{"auto_admit":{"store_p99_ms":9}}"#,
            50_300,
            r#"{"auto_admit":"off"}"#,
        ),
    ] {
        let codes = |heard: Vec<(u32, String)>| heard.into_iter().map(|(code, _)| code).collect::<Vec<_>>();
        assert_eq!(codes(heard(&open, there)), [code], "{there}");
        let patch: SwitchesPatch = serde_json::from_str(there).expect("a patch");
        let changed = open.patched(&patch).expect("in range");
        assert_eq!(codes(heard(&changed, back)), [0], "{back}");
        assert_eq!(codes(heard(&changed, there)), [0; 0], "nothing changes");
    }
}

#[test]
fn a_shut_entrance_stands_before_all_that_is_decided_behind_it() {
    let shut = heard(
        &Switches::open(10),
        r#"{"read_only":true,"admit_ratio":0.5,"backlog_max":5}"#,
    );
    let (codes, who): (Vec<_>, Vec<_>) = shut.into_iter().unzip();
    assert_eq!(codes, [40_006, 40_006]);
    assert_eq!(who, ["every buyer", "whoever pays or cancels an order"]);
}

#[test]
fn a_backlog_says_how_many_wait_now() {
    let heard = heard(&Switches::open(10), r#"{"backlog_max":2}"#);
    assert_eq!(heard[0].0, 50_301);
    assert!(
        heard[0].1.contains("once 2 tickets") && heard[0].1.contains("(3 do now)"),
        "{heard:?}"
    );
}

#[test]
fn a_challenge_that_asks_for_less_is_told_as_such() {
    let captcha = Switches {
        challenge: Some(Challenge::Captcha),
        ..Switches::open(10)
    };
    let codes = |change| {
        heard(&captcha, change)
            .into_iter()
            .map(|(code, _)| code)
            .collect::<Vec<_>>()
    };
    assert_eq!(codes(r#"{"challenge":"token"}"#), [0]);
    assert_eq!(codes(r#"{"challenge":"none"}"#), [0]);
    assert_eq!(codes(r#"{"challenge":"pow"}"#), [40_301]);
    assert_eq!(codes(r#"{"challenge":null}"#), [0, 40_301], "it depends on the sale");
}

#[test]
fn a_limit_is_compared_with_what_holds_now_be_it_a_switch_or_a_setting_and_an_off_one_is_called_so() {
    let rate = |text: &str| text.parse().expect("a limit");
    let settings = Limits::from(PerLimit {
        ip: rate("50/s burst 100"),
        ..PerLimit::OFF
    });
    let said = |limits: [serde_json::Value; 2]| {
        let [before, after] = limits.map(|limits| {
            let patch: SwitchesPatch = serde_json::from_value(json!({ "limits": limits })).expect("a patch");
            Switches::open(10).patched(&patch).expect("in range")
        });
        let effects = effects(&before, &after, &of_settings(settings));
        let line = |effect: Effect| format!("{}: {}, instead of {}", effect.who, effect.hears, effect.instead_of);
        effects.into_iter().map(line).collect::<Vec<_>>()
    };
    let none = json!({});
    assert_eq!(
        said([none.clone(), json!({"network": "20/s burst 50"})]),
        [format!(
            "whoever comes more often from one network than 20/s burst 50: 40003, instead of {LET_IN}: this limit is off"
        )]
    );
    assert_eq!(
        said([none.clone(), json!({"ip": "20/s burst 40"})]),
        [
            "whoever comes more often from one address than 20/s burst 40: 40003, instead of the same beyond 50/s burst 100, the setting"
        ]
    );
    assert_eq!(
        said([json!({"ip": "20/s burst 40"}), none.clone()]),
        [
            "whoever comes more often from one address than 50/s burst 100, the setting: 40003, instead of the same beyond 20/s burst 40"
        ]
    );
    assert_eq!(
        said([none.clone(), json!({"ip": "off"})]),
        ["whoever comes more often from one address than 50/s burst 100, the setting: 0, instead of 40003"]
    );
    assert_eq!(
        said([json!({"network": "20/s burst 50"}), none.clone()]),
        ["whoever comes more often from one network than 20/s burst 50: 0, instead of 40003"]
    );
    for same in [json!({"network": "off"}), json!({"ip": "50/s burst 100"})] {
        assert_eq!(said([none.clone(), same]), [""; 0], "the setting says so already");
    }
}
