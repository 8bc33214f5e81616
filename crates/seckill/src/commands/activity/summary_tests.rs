//! What is told of an activity.

use serde_json::json;

use super::*;

fn activity() -> Value {
    json!({
        "id": 7, "title": "Launch", "phase": "upcoming", "stock_total": 10, "stock_left": 10, "per_user_limit": 1,
        "starts_at": "2026-01-01T00:00:00.000Z", "ends_at": "2026-01-02T00:00:00.000Z",
        "seckill_price_cents": 9905, "price_cents": 12_000, "currency": "CNY", "preheated": false, "created": false, "challenge": "none",
    })
}

#[test]
fn summary_says_what_counts() {
    let said = lines(&ActivityCommand::Show { id: 7 }, &activity()).join("\n");
    for part in [
        "activity 7: Launch",
        "phase     upcoming",
        "window    2026-01-01T00:00:00.000Z to 2026-01-02T00:00:00.000Z",
        "units     10 left of 10, 1 at most per buyer",
        "price     9905 in minor units of CNY, usually 12000",
        "preheated no; by itself from 10m before the start on",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("buyers"), "{said}");
}

#[test]
fn drafts_conditions_and_pauses_are_told() {
    let mut activity = activity();
    activity["status"] = "draft".into();
    activity["eligibility"] = json!({"min_level": 3, "list": 2});
    let said = |activity: &Value| lines(&ActivityCommand::Show { id: 7 }, activity).join("\n");
    for part in [
        "phase     draft; buyers do not see it: `seckill activity publish 7`",
        "buyers    those on its list, from level 3 on",
    ] {
        assert!(said(&activity).contains(part), "{part}: {}", said(&activity));
    }
    activity["status"] = "paused".into();
    activity["phase"] = "paused".into();
    let part =
        "by itself from 10m before the start on (schedule.preheat_before), paused or not, or now: `seckill preheat 7`";
    assert!(said(&activity).contains(part), "{}", said(&activity));
}

#[test]
fn what_may_not_have_been_meant_is_told() {
    let mut activity = activity();
    activity["warnings"] = json!(["it is over"]);
    let said = lines(&ActivityCommand::Show { id: 7 }, &activity);
    assert!(said.contains(&"warning   it is over".to_owned()), "{said:?}");
}

#[test]
fn preheating_what_is_preheated_says_so() {
    let said = |created: bool| {
        let mut activity = activity();
        activity["created"] = created.into();
        lines(&ActivityCommand::Preheat { id: 7 }, &activity).swap_remove(0)
    };
    assert_eq!(said(false), "already preheated; nothing changed");
    assert_eq!(said(true), "preheated: its units are in place");
}

#[test]
fn a_pause_that_outlasts_the_sale_is_told() {
    let mut activity = activity();
    let mut warns = |resumes_at: &str| {
        activity["resumes_at"] = resumes_at.into();
        let said = lines(&ActivityCommand::Show { id: 7 }, &activity).join("\n");
        said.contains("warning   it resumes when it is over")
    };
    assert!(!warns("2026-01-01T23:59:59.999Z"));
    assert!(warns("2026-01-02T00:00:00.000Z"));
    assert!(warns("2036-11-11T00:00:00.000Z"));
}
