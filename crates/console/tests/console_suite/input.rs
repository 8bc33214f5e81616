//! Bad input of every kind: refused with the name of its field, and nothing is changed by it.

use http::Method;
use serde_json::{Value, json};

use crate::house::{House, activity, product, with};

/// Asks with each body, which must be refused for `field` and leave no trace.
async fn all_refused(house: &House, method: Method, path: &str, bodies: Vec<(Value, &str)>) {
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

fn texts(base: &Value, member: &'static str) -> Vec<(Value, &'static str)> {
    let bad = [
        json!(""),
        json!("  "),
        json!("a\u{0}b"),
        json!("a\nb"),
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
fn numbers(base: &Value, member: &'static str) -> Vec<(Value, &'static str)> {
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
async fn products_are_read_strictly() {
    let house = House::new();
    let mut bad = texts(&product(), "name");
    bad.extend(numbers(&product(), "price_cents"));
    bad.extend(numbers(&product(), "stock"));
    bad.push((with(product(), "stock", json!(0)), "stock"));
    bad.push((with(product(), "stock", json!(1_000_000_001)), "stock"));
    bad.push((with(product(), "price_cents", json!(9_000_000_001_u64)), "price_cents"));
    for currency in ["cny", "", "CNYX", "元", "C1Y"] {
        bad.push((with(product(), "currency", json!(currency)), "currency"));
    }
    bad.push((with(product(), "id", json!(7)), "id"));
    bad.push((json!({"name": "a"}), "price_cents"));
    all_refused(&house, Method::POST, "/admin/api/products", bad).await;
}

#[tokio::test]
async fn activities_are_read_strictly() {
    let house = House::new();
    let base = activity(house.product().await, 10);
    let mut bad = texts(&base, "title");
    for member in ["product_id", "seckill_price_cents", "stock", "per_user_limit", "shards"] {
        bad.extend(numbers(&base, member));
    }
    for (member, value) in [
        ("product_id", json!(0)),
        ("stock", json!(0)),
        ("stock", json!(1_000_000_001)),
        ("per_user_limit", json!(0)),
        ("per_user_limit", json!(11)),
        ("shards", json!(0)),
        ("shards", json!(2)),
        ("shards", json!(1_000_000)),
        ("challenge", json!("captcha")),
        ("challenge", json!(null)),
        ("draft", json!(1)),
        ("notice", json!("")),
        ("notice", json!("a\u{7}")),
        ("notice", json!("x".repeat(501))),
        ("starts_at", json!("2026-11-11T00:00:00")),
        ("starts_at", json!("2026-02-30T00:00:00Z")),
        ("starts_at", json!(1_794_355_200_000_u64)),
        ("ends_at", json!("tomorrow")),
        ("ends_at", json!("2026-11-10T23:59:59Z")),
        ("ends_at", json!("2026-11-10T23:59:58Z")),
        ("status", json!("running")),
        ("epoch", json!(3)),
    ] {
        bad.push((with(base.clone(), member, value), member));
    }
    all_refused(&house, Method::POST, "/admin/api/activities", bad).await;
}

#[tokio::test]
async fn changes_of_activities_are_read_strictly() {
    let house = House::new();
    let id = house.created(10).await;
    let base = json!({});
    let mut bad = texts(&base, "title");
    bad.extend(numbers(&base, "seckill_price_cents"));
    bad.extend(numbers(&base, "per_user_limit"));
    for (member, value) in [
        ("per_user_limit", json!(0)),
        ("per_user_limit", json!(11)),
        ("ends_at", json!("2026-11-10T23:59:59Z")),
        ("starts_at", json!(null)),
        ("challenge", json!("captcha")),
        ("notice", json!("")),
        ("version", json!(-1)),
        ("stock", json!(7)),
    ] {
        bad.push((with(base.clone(), member, value), member));
    }
    // The start after the end that stays: the window as a whole is what is wrong.
    bad.push((json!({"starts_at": "2026-11-11T01:00:00Z"}), "ends_at"));
    all_refused(&house, Method::PATCH, &format!("/admin/api/activities/{id}"), bad).await;
}

#[tokio::test]
async fn commands_are_read_strictly() {
    let house = House::new();
    let id = house.opened(10).await;
    let of = |action: &str| format!("/admin/api/activities/{id}/{action}");
    let mut bad = numbers(&json!({}), "quantity");
    bad.push((json!({"quantity": 0}), "quantity"));
    bad.push((json!({"quantity": 1, "units": 1}), "units"));
    bad.push((json!({}), "quantity"));
    all_refused(&house, Method::POST, &of("add-stock"), bad).await;
    for action in ["pause", "resume"] {
        let bad = vec![
            (json!({"at": "2026-11-11"}), "at"),
            (json!({"at": "2026-11-11T00:00:00Z"}), "at"),
            (json!({"at": 5}), "at"),
            (json!({"until": 5}), "until"),
        ];
        all_refused(&house, Method::POST, &of(action), bad).await;
    }
    for action in ["preheat", "close"] {
        all_refused(
            &house,
            Method::POST,
            &of(action),
            vec![(json!({"force": true}), "force")],
        )
        .await;
    }
    all_refused(
        &house,
        Method::POST,
        &of("reconcile"),
        vec![(json!({"fix": "yes"}), "fix")],
    )
    .await;
    all_refused(&house, Method::POST, &of("recover"), vec![(json!({"run": 1}), "run")]).await;
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
        (json!({"revision": 7}), "revision"),
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
    ];
    all_refused(&house, Method::POST, "/admin/api/blocks", bad).await;

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

#[tokio::test]
async fn bodies_are_one_json_object_without_doubled_members() {
    let house = House::new();
    for body in [
        &b"{"[..],
        b"[]",
        b"null",
        b"\"x\"",
        b"{} {}",
        b"\xef\xbb\xbf{}",
        b"\xff\xfe",
        b"{\"name\":\"\\ud800\"}",
        b"{\"name\":\"a\",\"name\":\"b\",\"price_cents\":1,\"currency\":\"CNY\",\"stock\":1}",
        b"{\"name\":NaN}",
        b"",
        b"[\"a\",1,\"CNY\",1]",
    ] {
        let request = house.ask(Method::POST, "/admin/api/products").operator();
        let reply = request
            .header("content-type", "application/json")
            .bytes(body)
            .send()
            .await;
        reply.is(400, 40000);
    }
    let large = house.ask(Method::POST, "/admin/api/products").operator();
    let large = large.json(&with(product(), "name", json!("x".repeat(70_000))));
    large.send().await.is(413, 40000);
    let deep = "[".repeat(60_000);
    let deep = house
        .ask(Method::POST, "/admin/api/products")
        .operator()
        .bytes(deep.as_bytes());
    deep.header("content-type", "application/json")
        .send()
        .await
        .is(400, 40000);
    assert_eq!(house.actions().await, [""; 0]);
}

#[tokio::test]
async fn ids_in_paths_are_plain_numbers() {
    let house = House::new();
    for id in [
        "-1",
        "+1",
        "01",
        "abc",
        "1e3",
        "1%00",
        "%31",
        "%EF%BC%91",
        "18446744073709551616",
        "1.0",
        "%7B1%7D",
        "a%0d%0ab",
    ] {
        house.get(&format!("/admin/api/activities/{id}")).await.is(400, 40000);
        let reply = house
            .post(&format!("/admin/api/activities/{id}/preheat"), json!({}))
            .await;
        assert_eq!(reply.is(400, 40000).data()["field"], "id");
    }
    for id in ["0", "999999", "9007199254740992", "18446744073709551615"] {
        for path in ["", "/audit", "/movements"] {
            house
                .get(&format!("/admin/api/activities/{id}{path}"))
                .await
                .is(404, 40400);
        }
        for action in ["preheat", "pause", "resume", "close", "reconcile", "recover"] {
            house
                .post(&format!("/admin/api/activities/{id}/{action}"), json!({}))
                .await
                .is(404, 40400);
        }
        let more = json!({"quantity": 1});
        house
            .post(&format!("/admin/api/activities/{id}/add-stock"), more)
            .await
            .is(404, 40400);
        house
            .patch(&format!("/admin/api/activities/{id}"), json!({}))
            .await
            .is(404, 40400);
        house
            .post(&format!("/admin/api/dead-letters/{id}/retry"), json!({}))
            .await
            .is(404, 40401);
        let why = json!({"reason": "x"});
        house
            .post(&format!("/admin/api/dead-letters/{id}/discard"), why)
            .await
            .is(404, 40401);
        house
            .patch(&format!("/admin/api/schedules/{id}"), json!({"enabled": true}))
            .await
            .is(404, 40401);
        let block = house.ask(Method::DELETE, &format!("/admin/api/blocks/{id}")).operator();
        block.send().await.is(404, 40401);
    }
    house
        .post("/admin/api/activities", activity(77, 1))
        .await
        .is(404, 40401);
    assert_eq!(house.actions().await, [""; 0]);
}

#[tokio::test]
async fn queries_take_what_they_name_and_cursors_only_of_their_list() {
    let house = House::new();
    let lists = [
        "products",
        "activities",
        "orders",
        "dead-letters",
        "blocks",
        "schedules",
        "audit-rows",
    ];
    for list in lists {
        house.get(&format!("/admin/api/{list}?limit=500")).await.is(200, 0);
        for query in [
            "limit=0",
            "limit=501",
            "limit=x",
            "limit=1&limit=2",
            "sort=name",
            "cursor=%27%20OR%201",
            "cursor=",
            "limit=%31%00",
        ] {
            house.get(&format!("/admin/api/{list}?{query}")).await.is(400, 40000);
        }
    }
    for query in [
        "activity_id=0",
        "activity_id=x",
        "activity_id=1%20OR%201",
        "user_id=a%20b",
        "user_id=%25",
    ] {
        house.get(&format!("/admin/api/orders?{query}")).await.is(400, 40000);
    }
}
