//! What anybody may see.

use std::sync::Arc;

use http::StatusCode;
use seckill_sale::{Activity, Code, Status};

use crate::house::{ENDS, House, OPENS};

#[tokio::test]
async fn an_activity_shows_all_that_a_page_needs() {
    let house = House::new();
    let id = house
        .sale_with(5, |sale| sale.notice = Some("one each".to_owned()))
        .await;
    let reply = house.get(format!("/api/activities/{id}")).send().await;
    let data = reply.is(200, 0).data();
    for (member, expect) in [
        ("id", serde_json::json!(id.get())),
        ("title", "a sale".into()),
        ("product_name", "<b>kettle</b>".into()),
        ("phase", "open".into()),
        ("starts_at", "2023-11-14T22:13:20.000Z".into()),
        ("starts_at_ms", OPENS.0.into()),
        ("ends_at_ms", ENDS.0.into()),
        ("server_time", OPENS.0.into()),
        ("price_cents", 9_900.into()),
        ("seckill_price_cents", 100.into()),
        ("currency", "CNY".into()),
        ("stock_total", 5.into()),
        ("stock_left", 5.into()),
        ("per_user_limit", 1.into()),
        ("challenge", "none".into()),
        ("pay_within_s", 900.into()),
        ("reopens", false.into()),
        ("resumes_at", serde_json::Value::Null),
        ("notice", "one each".into()),
    ] {
        assert_eq!(data[member], expect, "{member}");
    }
    assert_eq!(reply.header("cache-control"), "public, max-age=1");
    assert_eq!(reply.header("vary"), "accept-language");
}

#[tokio::test]
async fn the_phase_shows_at_once_and_the_units_within_a_second() {
    let house = House::new();
    let id = house.sale(2).await;
    let path = format!("/api/activities/{id}");
    let shown = async || house.get(path.clone()).send().await.data().clone();
    house.clock.set(OPENS.plus(-1));
    assert_eq!(shown().await["phase"], "upcoming");
    house.clock.set(OPENS);
    assert_eq!(shown().await["phase"], "open");
    house.buy(id, "a").send().await.is(202, 0);
    house.clock.advance(1_000);
    assert_eq!(shown().await["stock_left"], 1);
    house.buy(id, "b").send().await.is(202, 0);
    assert_eq!(shown().await["phase"], "sold_out");
    assert_eq!(shown().await["stock_left"], 0);
    house.set_status(id, Status::Paused).await;
    assert_eq!(shown().await["phase"], "paused");
    house.set_status(id, Status::Running).await;
    house.switch(|switches| switches.entry_open = false);
    assert_eq!(shown().await["phase"], "paused");
    house.clock.set(ENDS);
    assert_eq!(shown().await["phase"], "ended");
}

#[tokio::test]
async fn a_row_of_the_same_version_in_a_ledger_that_was_restored_shows_at_once() {
    let house = House::new();
    let id = house.sale(2).await;
    let path = format!("/api/activities/{id}");
    let title = async || house.get(path.clone()).send().await.data()["title"].clone();
    assert_eq!(title().await, "a sale");
    let known = house.gate.catalogue().find(id).expect("known");
    house.gate.catalogue().replace([Arc::new(Activity {
        title: "another sale".to_owned(),
        ..Activity::clone(&known)
    })]);
    assert_eq!(title().await, "another sale");
}

#[tokio::test]
async fn an_entity_tag_outlives_the_time_but_no_change() {
    let house = House::new();
    let id = house.sale(2).await;
    for path in [format!("/api/activities/{id}"), "/api/activities".to_owned()] {
        let etag = house.get(path.clone()).send().await.header("etag").to_owned();
        assert!(etag.starts_with("W/\""));
        house.clock.advance(5_000);
        let same = house.get(path.clone()).header("if-none-match", &etag).send().await;
        assert_eq!(same.status, StatusCode::NOT_MODIFIED);
        assert!(same.body.is_empty());
        assert_eq!(same.header("etag"), etag);
        assert_eq!(same.header("cache-control"), "public, max-age=1");
        assert_eq!(
            same.header("server-time"),
            seckill_sale::Clock::now(&*house.clock).to_string()
        );
        assert_eq!(same.header("x-request-id").len(), 16);
        house
            .get(path.clone())
            .header("if-none-match", "\"other\"")
            .send()
            .await
            .is(200, 0);
        house.buy(id, &path.replace('/', "-")).send().await.is(202, 0);
        house.clock.advance(1_000);
        house
            .get(path.clone())
            .header("if-none-match", &etag)
            .send()
            .await
            .is(200, 0);
    }
}

#[tokio::test]
async fn the_list_has_everything_but_drafts() {
    let house = House::new();
    let ended = house.sale_with(1, |sale| sale.window.ends_at = OPENS.plus(1)).await;
    let open = house.sale(1).await;
    let draft = house.unheated_sale(1, |sale| sale.draft = true).await;
    house.clock.advance(1_000);
    let reply = house.get("/api/activities").send().await;
    let listed = reply.is(200, 0).data()["activities"]
        .as_array()
        .expect("a list")
        .clone();
    let ids: Vec<_> = listed.iter().map(|activity| activity["id"].as_u64()).collect();
    assert_eq!(ids, [Some(open.get()), Some(ended.get())]);
    assert_eq!(reply.data()["server_time"], OPENS.0 + 1_000);
    house
        .get(format!("/api/activities/{draft}"))
        .send()
        .await
        .is(404, 40400);
}

#[tokio::test]
async fn an_activity_that_is_not_preheated_shows_its_whole_stock() {
    let house = House::new();
    let id = house.unheated_sale(7, |_| {}).await;
    let reply = house.get(format!("/api/activities/{id}")).send().await;
    assert_eq!(reply.is(200, 0).data()["stock_left"], 7);
}

#[tokio::test]
async fn every_code_is_listed_in_both_languages() {
    let house = House::new();
    let reply = house.get("/api/codes").send().await;
    let listed = reply.is(200, 0).data()["codes"].as_array().expect("a list").clone();
    assert_eq!(listed.len(), Code::ALL.len());
    for code in &listed {
        assert!(code["en"].as_str().expect("text").is_ascii());
        assert!(!code["zh"].as_str().expect("text").is_ascii());
    }
    let blocked = listed.iter().find(|code| code["code"] == 40300).expect("listed");
    let [zh, en] = seckill_sale::NOT_ELIGIBLE;
    assert_eq!(
        blocked["reasons"]["not_eligible"],
        serde_json::json!({"zh": zh, "en": en})
    );
}

#[tokio::test]
async fn pages_are_self_contained_and_say_so() {
    let house = House::new();
    for path in ["/", "/docs", "/docs.js", "/docs.css"] {
        let reply = house.get(path).send().await;
        assert_eq!(reply.status, 200, "{path}");
        assert!(
            reply
                .header("content-security-policy")
                .starts_with("default-src 'self'")
        );
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        let text = String::from_utf8_lossy(&reply.body);
        for foreign in ["https://", "//cdn", "<script>", "style=\"", "innerHTML"] {
            assert!(!text.contains(foreign), "{path} {foreign}");
        }
    }
    let document = house.get("/openapi.json").send().await;
    assert_eq!(document.json["openapi"], "3.1.0");
}
