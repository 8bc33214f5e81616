//! A sale with one winner, and the bytes of requests to it.

use seckill_testkit::Server;
use serde_json::{Value, json};

/// A server with a sale of five units, one of which is sold.
pub(crate) struct Stage {
    pub(crate) server: Server,
    pub(crate) activity: u64,
    /// The order of the winner.
    pub(crate) order: String,
}

/// Who has bought.
pub(crate) const WINNER: &str = "winner";
/// Who has not.
pub(crate) const STRANGER: &str = "stranger";

impl Stage {
    pub(crate) fn set(server: Server) -> Self {
        server.admits_however_slow();
        let activity = server.sale(5, &json!({}));
        assert_eq!(server.buy(activity, WINNER, "k").expect("answers").status, 202);
        let path = format!("/api/seckill/result/{activity}");
        let ask = || server.as_user(WINNER, "GET", &path, None).expect("answers");
        let result = server.until(ask, |result| result.code() == 1);
        let order = result.data()["order_no"].as_str().expect("a number").to_owned();
        let _books = server.settled(activity);
        Self {
            server,
            activity,
            order,
        }
    }

    /// Everything of the sale that somebody can see. What counts seconds is left out.
    pub(crate) fn dump(&self) -> Value {
        let id = self.activity;
        let admin = |path: String| self.server.as_admin("GET", &path, None).data().clone();
        let user = |user: &str, path: &str| {
            let answer = self.server.as_user(user, "GET", path, None).expect("answers");
            json!([
                answer.status,
                answer.code(),
                answer.data()["order_no"],
                answer.data()["orders"]
            ])
        };
        let result = format!("/api/seckill/result/{id}");
        json!({
            "books": self.server.settled(id),
            "sale": admin(format!("/admin/api/activities/{id}"))["status"],
            "movements": admin(format!("/admin/api/activities/{id}/movements")),
            "orders": admin(format!("/admin/api/orders?activity_id={id}")),
            "acts": admin("/admin/api/audit-rows?limit=100".to_owned())["audit_rows"].as_array().map(Vec::len),
            "switches": admin("/admin/api/switches".to_owned()),
            "results": ([WINNER, STRANGER].map(|name| user(name, &result))),
            "orders of users": ([WINNER, STRANGER].map(|name| user(name, "/api/orders"))),
        })
    }

    /// An honest buyer gets one of the four units that are left.
    pub(crate) fn still_sells(&self) {
        let bought = self.server.buy(self.activity, "honest", "k").expect("answers");
        assert_eq!(bought.status, 202, "{bought:?}");
        let books = self.server.settled(self.activity);
        assert_eq!(
            (&books["balanced"], &books["stock_left"]),
            (&json!(true), &json!(3)),
            "{books}"
        );
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.server.token(STRANGER))
    }

    /// A purchase of the stranger with these header lines and this body.
    pub(crate) fn buy(&self, lines: &[&str], body: impl AsRef<[u8]>) -> Vec<u8> {
        let bearer = self.bearer();
        let lines: Vec<_> = [bearer.as_str()].into_iter().chain(lines.iter().copied()).collect();
        request("POST", &format!("/api/seckill/{}", self.activity), &lines, body)
    }

    /// The same with a body that says to be JSON.
    pub(crate) fn buy_json(&self, body: impl AsRef<[u8]>) -> Vec<u8> {
        self.buy(&["Content-Type: application/json"], body)
    }

    /// A request of the stranger.
    pub(crate) fn ask(&self, method: &str, path: &str, lines: &[&str]) -> Vec<u8> {
        let bearer = self.bearer();
        let lines: Vec<_> = [bearer.as_str()].into_iter().chain(lines.iter().copied()).collect();
        request(method, path, &lines, "")
    }

    pub(crate) fn buy_path(&self) -> String {
        format!("/api/seckill/{}", self.activity)
    }

    pub(crate) fn result_path(&self) -> String {
        format!("/api/seckill/result/{}", self.activity)
    }
}

/// The bytes of a request; a body that is not empty gets its length.
pub(crate) fn request(method: &str, path: &str, lines: &[&str], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes = format!("{method} {path} HTTP/1.1\r\nHost: test\r\n").into_bytes();
    for line in lines {
        bytes.extend_from_slice(line.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    if !body.is_empty() {
        bytes.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

/// Honest buyers, one after another, each on a connection of his own.
pub(crate) fn all_buy(server: &Server, activity: u64, buyers: std::ops::Range<usize>) {
    for buyer in buyers {
        let bought = server.buy(activity, &format!("honest-{buyer}"), "k").expect("answers");
        assert_eq!(bought.status, 202, "{bought:?}");
    }
}
