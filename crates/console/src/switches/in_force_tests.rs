//! What waits for its turn tightens, and what has gone back is in force.

use seckill_gate::{AutoAdmit, Limit, LimitSwitches, PerLimit};

use super::*;

fn patch(json: &str) -> SwitchesPatch {
    serde_json::from_str(json).expect("a patch")
}

fn tightened_by(patches: &[&str]) -> Switches {
    tightened_where(&[Challenge::None, Challenge::Token], patches)
}

fn tightened_where(used: &[Challenge], patches: &[&str]) -> Switches {
    tightened_of(Switches::open(9), used, patches)
}

fn tightened_over(settled: Switches, patches: &[&str]) -> Switches {
    tightened_of(settled, &[Challenge::None], patches)
}

fn tightened_of(settled: Switches, used: &[Challenge], patches: &[&str]) -> Switches {
    let waiting = patches.iter().map(|json| (0, patch(json))).collect();
    let in_force = InForce {
        waiting,
        ..InForce::new(settled)
    };
    let limit = |text: &str| text.parse().expect("a limit");
    let (ip, user) = (limit("50/s burst 100"), limit("1/s burst 3"));
    let device = Limit::Off;
    let buy = PerLimit {
        ip,
        user,
        device,
        ..PerLimit::OFF
    };
    in_force.tightened(buy.into(), used, EpochMs(1_000))
}

#[test]
fn a_row_is_news_where_revision_or_text_differs_whichever_way_or_what_is_in_force_was_anothers() {
    let row = |revision, json: &str| StoredSwitches {
        revision,
        json: json.to_owned(),
    };
    let mut in_force = InForce::new(Switches::open(9));
    assert!(in_force.is_news(&row(0, "a")), "nothing was read yet");
    (in_force.row, in_force.are_of_row) = (Some(row(5, "a")), true);
    for (revision, json, is_news) in [
        (5, "a", false),
        (6, "a", true),
        (4, "a", true),
        (0, "a", true),
        (5, "b", true),
    ] {
        assert_eq!(in_force.is_news(&row(revision, json)), is_news, "{revision} {json}");
    }
    in_force.are_of_row = false;
    assert!(in_force.is_news(&row(5, "a")), "taken back");
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
            ..LimitSwitches::default()
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
fn what_holds_back_by_itself_tightens_while_it_waits_and_never_loosens() {
    let shown = |patches: &[&str]| {
        let settled = Switches {
            backlog_max: 100,
            backlog_oldest_max_s: 0,
            auto_admit: AutoAdmit::Off,
            ..Switches::open(9)
        };
        let now = tightened_over(settled, patches);
        (now.backlog_resume(), now.backlog_oldest_max_s, now.auto_admit)
    };
    let on = |store_p99_ms, step| AutoAdmit::On { store_p99_ms, step };
    assert_eq!(shown(&[]), (80, 0, AutoAdmit::Off));
    let tight = r#"{"backlog_resume":7,"backlog_oldest_max_s":5,"auto_admit":{"store_p99_ms":50,"step":0.5}}"#;
    assert_eq!(shown(&[tight]), (7, 5, on(50, 0.5)));
    let loose = r#"{"backlog_resume":90,"backlog_oldest_max_s":60,"auto_admit":{"store_p99_ms":90,"step":0.1}}"#;
    assert_eq!(shown(&[tight, loose]), (7, 5, on(50, 0.1)));
    let off = r#"{"backlog_resume":null,"backlog_oldest_max_s":0,"auto_admit":"off"}"#;
    assert_eq!(shown(&[tight, off]), (7, 5, on(50, 0.5)));
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

#[test]
fn a_challenge_is_in_force_at_once_where_no_sale_asks_for_another_or_for_more() {
    use Challenge::{Captcha, None, Pow, Token};
    let patch = |challenge: &str| format!(r#"{{"challenge":{challenge}}}"#);
    for (used, wanted, in_force) in [
        (&[None][..], &[r#""token""#][..], Some(Token)),
        (&[None, Captcha], &[r#""token""#], Option::None),
        (&[None, Captcha], &[r#""captcha""#], Some(Captcha)),
        (&[None, Captcha], &[r#""pow""#], Option::None),
        (
            &[None],
            &[r#""token""#, r#""pow""#, r#""captcha""#, r#""token""#, "null"],
            Some(Pow),
        ),
        (&[Token], &[r#""none""#], Option::None),
    ] {
        let patches: Vec<_> = wanted.iter().map(|challenge| patch(challenge)).collect();
        let patches: Vec<_> = patches.iter().map(String::as_str).collect();
        assert_eq!(
            tightened_where(used, &patches).challenge,
            in_force,
            "{wanted:?} over {used:?}"
        );
    }
}
