//! Requests that a shop's backend signs, and sales that are for some only.

use http::Method;
use seckill_sale::{ActivityId, Clock as _, NOT_ELIGIBLE};

use crate::asking::Asking;
use crate::house::House;
use crate::plan::{Plan, SHOP_SECRET};

/// The moment, nonce and user of a signature.
#[derive(Clone)]
pub(crate) struct Signing {
    pub(crate) at_ms: i64,
    nonce: String,
    user: &'static str,
}

impl Signing {
    pub(crate) fn of(house: &House, user: &'static str, nonce: u32) -> Self {
        Self {
            at_ms: house.clock.now().0,
            nonce: format!("nonce-of-sixteen-{nonce}"),
            user,
        }
    }

    fn sign(&self, method: &str, target: &str, body: &str) -> String {
        use hmac::{Hmac, KeyInit as _, Mac as _};
        use sha2::{Digest as _, Sha256};
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let digest = hex(&Sha256::digest(body));
        let Self { at_ms, nonce, user } = self;
        let text = format!("{method}\n{target}\n{at_ms}\n{nonce}\n{user}\n{digest}");
        let mut mac = Hmac::<Sha256>::new_from_slice(SHOP_SECRET).expect("any length");
        mac.update(text.as_bytes());
        hex(&mac.finalize().into_bytes())
    }

    /// A request with this signature, whatever it was made for.
    pub(crate) fn ask<'a>(
        &self,
        house: &'a House,
        method: Method,
        path: &str,
        body: &str,
        signature: &str,
    ) -> Asking<'a> {
        let asking = house
            .ask(method, path)
            .header("x-client-id", "shop-1")
            .header("x-user-id", self.user)
            .header("x-timestamp", self.at_ms.to_string())
            .header("x-nonce", &self.nonce)
            .header("x-signature", signature);
        if body.is_empty() { asking } else { asking.json(body) }
    }

    pub(crate) fn asked<'a>(&self, house: &'a House, method: Method, path: &str, body: &str) -> Asking<'a> {
        let signature = self.sign(method.as_str(), path, body);
        self.ask(house, method, path, body, &signature)
    }
}

pub(crate) fn buy_path(id: ActivityId) -> String {
    format!("/api/seckill/{id}")
}

#[tokio::test]
async fn a_signed_request_is_its_users_on_every_route() {
    let house = House::new();
    let id = house.sale(3).await;
    let sign = |nonce| Signing::of(&house, "alice", nonce);
    let bought = sign(1).asked(&house, Method::POST, &buy_path(id), "").send().await;
    let ticket = bought.is(202, 0).data()["ticket"].clone();
    sign(2)
        .asked(&house, Method::POST, &buy_path(id), r#"{"quantity":1}"#)
        .send()
        .await
        .is(409, 40004);
    let path = format!("/api/seckill/result/{id}?x=1");
    let result = sign(3).asked(&house, Method::GET, &path, "").send().await;
    assert_eq!(result.is(200, 0).data()["ticket"], ticket);
    house.result(id, "alice").send().await.is(200, 0);
    house.settle().await;
    let orders = sign(4).asked(&house, Method::GET, "/api/orders", "").send().await;
    let order = orders.is(200, 0).data()["orders"][0]["order_no"]
        .as_str()
        .expect("an order")
        .to_owned();
    let path = format!("/api/orders/{order}/pay");
    sign(5).asked(&house, Method::POST, &path, "").send().await.is(200, 0);
    let path = format!("/api/seckill/{id}/token");
    sign(6).asked(&house, Method::POST, &path, "").send().await.is(200, 0);
    assert_eq!(house.left(id), 2);
}

#[tokio::test]
async fn a_signed_request_counts_once() {
    let house = House::new();
    let id = house.sale(3).await;
    let signing = Signing::of(&house, "alice", 1);
    let send = |signing: &Signing| signing.asked(&house, Method::POST, &buy_path(id), "").send();
    send(&signing).await.is(202, 0);
    send(&signing).await.is(401, 40100);
    let for_another = Signing {
        user: "bob",
        ..signing.clone()
    };
    send(&for_another).await.is(401, 40100);
    assert_eq!(house.left(id), 2);
}

#[tokio::test]
async fn what_was_not_signed_as_it_comes_is_nobodys_and_changes_nothing() {
    let house = House::new();
    let id = house.sale(3).await;
    let (path, body) = (buy_path(id), r#"{"quantity":1}"#);
    let mut nonce = 0;
    let mut sign = || {
        nonce += 1;
        Signing::of(&house, "alice", nonce)
    };
    for (method, target, signed_body) in [
        ("PUT", path.as_str(), body),
        ("POST", "/api/seckill/99", body),
        ("POST", &format!("{path}?a=b"), body),
        ("POST", &path, r#"{"quantity":2}"#),
        ("POST", &path, ""),
    ] {
        let signing = sign();
        let signature = signing.sign(method, target, signed_body);
        let asking = signing.ask(&house, Method::POST, &path, body, &signature);
        asking.send().await.is(401, 40100);
    }
    for off in [-30_001, 30_001] {
        let mut signing = sign();
        signing.at_ms += off;
        signing
            .asked(&house, Method::POST, &path, body)
            .send()
            .await
            .is(401, 40100);
    }
    let mut short = sign();
    short.nonce.truncate(15);
    short
        .asked(&house, Method::POST, &path, body)
        .send()
        .await
        .is(401, 40100);
    let twice = sign()
        .asked(&house, Method::POST, &path, body)
        .header("x-user-id", "alice");
    twice.send().await.is(401, 40100);
    let token = sign().ask(&house, Method::POST, &path, body, "00").user("alice");
    token.send().await.is(401, 40100);
    assert_eq!(house.left(id), 3);
    sign().asked(&house, Method::POST, &path, body).send().await.is(202, 0);
}

#[tokio::test]
async fn a_bad_body_is_told_to_a_client_as_to_anybody() {
    let house = House::new();
    let id = house.sale(3).await;
    let send = |nonce, body: &str| {
        Signing::of(&house, "alice", nonce)
            .asked(&house, Method::POST, &buy_path(id), body)
            .send()
    };
    send(1, r#"{"quantity":0}"#).await.is(400, 40000);
    send(2, &format!(r#"{{"token":"{}"}}"#, "x".repeat(5_000)))
        .await
        .is(413, 40000);
    assert_eq!(house.left(id), 3);
}

#[tokio::test]
async fn the_address_of_a_client_is_not_counted_and_its_users_are() {
    let once = "1/min burst 1".parse().expect("a limit");
    let house = House::with(&Plan {
        limits: seckill_gate::Limits::from(seckill_gate::PerLimit {
            ip: once,
            user: once,
            ..seckill_gate::PerLimit::OFF
        }),
        ..Plan::default()
    });
    let id = house.sale(9).await;
    let send = |user, nonce| {
        Signing::of(&house, user, nonce)
            .asked(&house, Method::POST, &buy_path(id), "")
            .send()
    };
    for (nonce, user) in (1..).zip(["a", "b", "c"]) {
        send(user, nonce).await.is(202, 0);
    }
    let again = send("a", 10).await;
    assert_eq!(again.is(429, 40003).data()["scope"], "user");
    // Whoever can't sign is counted by his address.
    let forged = |nonce| {
        Signing::of(&house, "d", nonce)
            .ask(&house, Method::POST, &buy_path(id), "", "00")
            .send()
    };
    forged(11).await.is(401, 40100);
    assert_eq!(forged(12).await.is(429, 40003).data()["scope"], "ip");
}

#[tokio::test]
async fn who_the_sale_is_not_for_hears_so_and_the_page_says_that_it_is_for_some() {
    let house = House::new();
    let id = house.sale_with(3, |sale| sale.min_level = Some(3)).await;
    let refused = house.buy(id, "a").send().await;
    assert_eq!(refused.is(403, 40300).data()["reason"], "not_eligible");
    for (language, sentence) in [("zh-CN", NOT_ELIGIBLE[0]), ("en", NOT_ELIGIBLE[1])] {
        let told = house.buy(id, "a").header("accept-language", language).send().await;
        let said = ["message", "title", "detail"].map(|member| told.json[member].clone());
        assert_eq!(said, [sentence; 3], "nobody has blocked him");
    }
    let token = house.post(format!("/api/seckill/{id}/token")).user("a").send().await;
    assert_eq!(token.is(403, 40300).data()["reason"], "not_eligible");
    let page = house.get(format!("/api/activities/{id}")).send().await;
    assert_eq!(page.is(200, 0).data()["eligibility"], "level");
    assert_eq!(house.left(id), 3);
}

#[tokio::test]
async fn a_user_header_says_nothing_without_a_gateway() {
    let house = House::new();
    let id = house.sale(3).await;
    let named = |host| house.post(buy_path(id)).from(host).header("x-user-id", "alice").send();
    named(1).await.is(401, 40100);
    named(9).await.is(401, 40100);
    let other = house.buy(id, "alice").header("x-user-id", "bob").send().await;
    other.is(202, 0);
    house.result(id, "alice").send().await.is(200, 0);
    house.result(id, "bob").send().await.is(404, 40401);
}

#[tokio::test]
async fn a_gateway_names_one_user_and_once() {
    let house = House::with(&Plan {
        gateway: true,
        ..Plan::default()
    });
    let id = house.sale(3).await;
    let from_gateway = || house.post(buy_path(id)).from(9);
    let doubled = from_gateway().header("x-user-id", "alice").header("x-user-id", "alice");
    doubled.send().await.is(401, 40100);
    from_gateway().header("x-user-id", "a b").send().await.is(401, 40100);
    from_gateway().user("alice").send().await.is(401, 40100);
    let legacy = house.post("/seckill").from(9);
    let body = format!(r#"{{"activity_id":{id},"user_id":"alice"}}"#);
    let doubled = legacy
        .header("x-user-id", "alice")
        .header("x-user-id", "alice")
        .json(body);
    doubled.send().await.is(401, 40100);
    assert_eq!(house.left(id), 3);
    from_gateway().header("x-user-id", "alice").send().await.is(202, 0);
}
