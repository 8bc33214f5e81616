//! Bad input of every kind: refused with the name of its field, and nothing is changed by it.

use http::Method;
use serde_json::{Value, json};

use crate::house::{House, with};

/// Asks with each body, which must be refused for `field` and leave no trace.
pub(crate) async fn all_refused(house: &House, method: Method, path: &str, bodies: Vec<(Value, &str)>) {
    let before = house.actions().await;
    for (body, field) in bodies {
        let reply = house.ask(method.clone(), path).operator().json(&body).send().await;
        assert_eq!(
            reply.is(400, 40000).data()["field"],
            field,
            "{method} {path} {body}: {reply:?}"
        );
        let detail = reply.json["detail"].as_str().expect("a detail");
        assert!(detail.contains(field), "{detail}");
    }
    assert_eq!(house.actions().await, before);
}

pub(crate) fn texts(base: &Value, member: &'static str) -> Vec<(Value, &'static str)> {
    let bad = [
        json!(""),
        json!("  "),
        json!("a\u{0}b"),
        json!("a\nb"),
        json!("a\u{202e}b"),
        json!("x".repeat(121)),
        json!(1),
        json!(null),
        json!([]),
    ];
    bad.into_iter()
        .map(|bad| (with(base.clone(), member, bad), member))
        .collect()
}

/// What no number of units or money is.
pub(crate) fn numbers(base: &Value, member: &'static str) -> Vec<(Value, &'static str)> {
    let bad = [
        json!(-1),
        json!(1.0),
        json!(1.5),
        json!(0.001),
        json!("1"),
        json!(true),
        json!(null),
        json!(1e3),
        json!(9_223_372_036_854_775_808_u64),
        json!(18_446_744_073_709_551_615_u64),
        json!(1e20),
        json!({}),
    ];
    bad.into_iter()
        .map(|bad| (with(base.clone(), member, bad), member))
        .collect()
}

#[tokio::test]
async fn switches_blocks_and_schedules_are_read_strictly() {
    let house = House::new();
    let bad = vec![
        (json!({"admit_ratio": 1.5}), "admit_ratio"),
        (json!({"admit_ratio": -0.1}), "admit_ratio"),
        (json!({"admit_ratio": "1"}), "admit_ratio"),
        (json!({"backlog_max": 0}), "backlog_max"),
        (json!({"backlog_max": 1.5}), "backlog_max"),
        (json!({"entry_open": null}), "entry_open"),
        (json!({"entry_open": 1}), "entry_open"),
        (json!({"revision": -7}), "revision"),
        (json!({"dry_run": 1}), "dry_run"),
        (json!({"auto_admit": "on"}), "auto_admit"),
        (json!({"limits": {"ip": "fast"}}), "limits.ip"),
        (json!({"limits": {"ip": 50}}), "limits.ip"),
        (json!({"limits": []}), "limits"),
    ];
    all_refused(&house, Method::PATCH, "/admin/api/switches", bad).await;

    let block = json!({"kind": "ip", "value": "10.0.0.1"});
    let bad = vec![
        (with(block.clone(), "kind", json!("name")), "kind"),
        (with(block.clone(), "value", json!("10.0.0.256")), "value"),
        (with(block.clone(), "value", json!("10.0.0.0/33")), "value"),
        (json!({"kind": "user", "value": "a b"}), "value"),
        (json!({"kind": "device", "value": ""}), "value"),
        (with(block.clone(), "reason", json!("")), "reason"),
        (
            with(block.clone(), "expires_at", json!("2026-11-11T00:00:00Z")),
            "expires_at",
        ),
        (json!({"kind": "ip"}), "value"),
        (with(block.clone(), "force", json!(1)), "force"),
    ];
    // So wide a network is a slip of the pen, unless it is said to be meant.
    let wide = [
        "0.0.0.0/0",
        "::/0",
        "::ffff:0.0.0.0/96",
        "128.0.0.0/1",
        "8.0.0.0/7",
        "2000::/3",
        "2001::/18",
    ];
    let bad = bad
        .into_iter()
        .chain(wide.map(|value| (json!({"kind": "ip", "value": value}), "value")));
    all_refused(&house, Method::POST, "/admin/api/blocks", bad.collect()).await;
    let meant = json!({"kind": "ip", "value": "0.0.0.0/0", "force": true});
    house.post("/admin/api/blocks", meant).await.is(201, 0);

    let schedule = json!({
        "cron": "0 20 * * *", "time_zone": "Asia/Shanghai", "duration_s": 600, "product_id": house.product().await,
        "title": "每晚八点", "seckill_price_cents": 100, "stock": 10,
    });
    let mut bad = texts(&schedule, "title");
    bad.extend(numbers(&schedule, "stock"));
    for (member, value) in [
        ("cron", json!("every day")),
        ("cron", json!("* * * * * *")),
        ("cron", json!("0 0 30 2 *")),
        ("cron", json!("x".repeat(200))),
        ("time_zone", json!("Mars/Olympus")),
        ("duration_s", json!(0)),
        ("duration_s", json!(366 * 24 * 3600 + 1)),
        ("lead_s", json!(-1)),
        ("per_user_limit", json!(11)),
        ("shards", json!(2)),
        ("starts_at", json!("2026-11-11T00:00:00Z")),
    ] {
        bad.push((with(schedule.clone(), member, value), member));
    }
    all_refused(&house, Method::POST, "/admin/api/schedules", bad).await;
}
