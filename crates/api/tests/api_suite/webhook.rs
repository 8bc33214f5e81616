//! Money that a provider reports.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::asking::Asking;
use crate::house::{House, OPENS};
use crate::plan::{PAY_WITHIN_MS, Plan, WEBHOOK_SECRET};

const PATH: &str = "/api/payments/webhook";

fn signature(id: &str, timestamp: &str, body: &str) -> String {
    let key = STANDARD
        .decode(WEBHOOK_SECRET.trim_start_matches("whsec_"))
        .expect("base64");
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key");
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

fn signed<'a>(house: &'a House, body: &str) -> Asking<'a> {
    let timestamp = (seckill_sale::Clock::now(&*house.clock).0 / 1_000).to_string();
    let signature = signature("m1", &timestamp, body);
    let headers = [
        ("webhook-id", "m1"),
        ("webhook-timestamp", &timestamp),
        ("webhook-signature", &signature),
    ];
    headers
        .into_iter()
        .fold(house.post(PATH).json(body), |asking, (name, value)| {
            asking.header(name, value)
        })
}

fn paid(order_no: &str, payment_id: &str, amount_cents: u64, currency: &str) -> String {
    format!(
        r#"{{"type":"payment.succeeded","timestamp":"x","data":{{"order_no":"{order_no}","payment_id":"{payment_id}","amount_cents":{amount_cents},"currency":"{currency}","extra":1}}}}"#
    )
}

async fn order(house: &House) -> String {
    let id = house.sale(1).await;
    house.buy(id, "a").send().await.is(202, 0);
    house.settle().await;
    let result = house.result(id, "a").send().await;
    result.data()["order_no"].as_str().expect("an order").to_owned()
}

#[tokio::test]
async fn a_signed_payment_pays_its_order_however_often_it_comes() {
    let house = House::new();
    let order_no = order(&house).await;
    for _ in 0..2 {
        let reply = signed(&house, &paid(&order_no, "p1", 100, "CNY")).send().await;
        assert_eq!(reply.is(200, 0).data()["order"]["state"], "paid");
        assert_eq!(reply.data()["refund_required"], false);
    }
    let second = signed(&house, &paid(&order_no, "p2", 100, "CNY")).send().await;
    assert_eq!(second.is(200, 0).data()["refund_required"], true);
}

#[tokio::test]
async fn late_money_is_taken_note_of_and_must_go_back() {
    let house = House::new();
    let order_no = order(&house).await;
    house.clock.advance(PAY_WITHIN_MS);
    let reply = signed(&house, &paid(&order_no, "p1", 100, "CNY")).send().await;
    assert_eq!(reply.is(200, 0).data()["refund_required"], true);
    let shown = house.get(format!("/api/orders/{order_no}")).user("a").send().await;
    assert_eq!(shown.data()["state"], "expired");
    assert_eq!(shown.data()["refund"]["state"], "required");
    assert_eq!(shown.data()["refund"]["amount_cents"], 100);
}

#[tokio::test]
async fn a_payment_that_does_not_fit_is_refused() {
    let house = House::new();
    let order_no = order(&house).await;
    signed(&house, &paid(&order_no, "p1", 99, "CNY"))
        .send()
        .await
        .is(409, 40900);
    signed(&house, &paid(&order_no, "p1", 100, "USD"))
        .send()
        .await
        .is(409, 40900);
    signed(&house, &paid("S9-9-9", "p1", 100, "CNY"))
        .send()
        .await
        .is(404, 40401);
    signed(&house, &paid("junk", "p1", 100, "CNY"))
        .send()
        .await
        .is(404, 40401);
    signed(&house, &paid(&order_no, "", 100, "CNY"))
        .send()
        .await
        .is(400, 40000);
    signed(&house, &paid(&order_no, "p1", 100, "cny"))
        .send()
        .await
        .is(400, 40000);
    signed(&house, r#"{"type":"payment.succeeded","data":{}}"#)
        .send()
        .await
        .is(400, 40000);
    signed(&house, "[]").send().await.is(400, 40000);
    let other = signed(&house, r#"{"type":"payment.created","data":{"any":"thing"}}"#)
        .send()
        .await;
    assert_eq!(other.is(200, 0).data()["ignored"], true);
    let shown = house.get(format!("/api/orders/{order_no}")).user("a").send().await;
    assert_eq!(shown.data()["state"], "pending_payment");
}

#[tokio::test]
async fn only_the_secret_s_owner_can_report_money() {
    let house = House::new();
    let body = paid(&order(&house).await, "p1", 100, "CNY");
    let now = OPENS.0 / 1_000;
    let send = async |id: &str, timestamp: &str, signature: &str| {
        let headers = [
            ("webhook-id", id),
            ("webhook-timestamp", timestamp),
            ("webhook-signature", signature),
        ];
        let asking = headers
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .fold(house.post(PATH).json(&body), |asking, (name, value)| {
                asking.header(name, value)
            });
        asking.send().await
    };
    let text = now.to_string();
    let good = signature("m1", &text, &body);
    send("", &text, &good).await.is(401, 40100);
    send("m1", "", &good).await.is(401, 40100);
    send("m1", &text, "").await.is(401, 40100);
    send("m2", &text, &good).await.is(401, 40100);
    send("m1", &(now + 1).to_string(), &good).await.is(401, 40100);
    send("m1", &text, &good.replace("v1,", "v2,")).await.is(401, 40100);
    send("m1", &text, "v1,AAAA").await.is(401, 40100);
    for off in [now - 301, now + 301, i64::MAX, i64::MIN] {
        let text = off.to_string();
        send("m1", &text, &signature("m1", &text, &body)).await.is(401, 40100);
    }
    send("m1", "soon", &signature("m1", "soon", &body)).await.is(401, 40100);
    let rotated = format!("v1,AAAA v1a,BBBB {good}");
    send("m1", &text, &rotated).await.is(200, 0);
}

#[tokio::test]
async fn there_is_no_webhook_without_a_secret() {
    let house = House::with(&Plan {
        webhook: false,
        ..Plan::default()
    });
    signed(&house, "{}").send().await.is(404, 40401);
}
