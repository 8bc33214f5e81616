//! What buyers and the operator ask of a server.

use std::io;
use std::net::SocketAddr;
use std::thread;

use serde_json::{Value, json};

use crate::server::{ADMIN_TOKEN, JWT_SECRET};
use crate::waiting::PAUSE;
use crate::{Answer, Server, call, signed, token};

impl Server {
    /// A token of `user` that this server takes.
    #[must_use]
    pub fn token(&self, user: &str) -> String {
        token(user, JWT_SECRET)
    }

    /// A token with this head and these claims, signed with this server's secret.
    #[must_use]
    pub fn signed(&self, head: &str, claims: &str) -> String {
        signed(head, claims, JWT_SECRET)
    }

    /// The operator's token.
    #[must_use]
    pub const fn admin_token(&self) -> &'static str {
        ADMIN_TOKEN
    }

    /// A request of a buyer.
    ///
    /// # Errors
    /// As [`call`].
    pub fn as_user(&self, user: &str, method: &str, path: &str, body: Option<&str>) -> io::Result<Answer> {
        self.as_user_with::<&str>(user, method, path, &[], body)
    }

    /// The same with header lines besides.
    ///
    /// # Errors
    /// As [`call`].
    pub fn as_user_with<L: AsRef<str>>(
        &self,
        user: &str,
        method: &str,
        path: &str,
        lines: &[L],
        body: Option<&str>,
    ) -> io::Result<Answer> {
        let bearer = format!("Authorization: Bearer {}", token(user, JWT_SECRET));
        let lines = lines.iter().map(|line| line.as_ref().to_owned());
        let lines: Vec<_> = std::iter::once(bearer).chain(lines).collect();
        call(self.public, method, path, &lines, body)
    }

    /// A purchase with an idempotency key, which is made longer than the shortest one that is taken.
    ///
    /// # Errors
    /// As [`call`].
    pub fn buy(&self, activity: u64, user: &str, key: &str) -> io::Result<Answer> {
        Self::buy_at(self.public, activity, user, key)
    }

    /// The same at a public port, whichever process it is of.
    ///
    /// # Errors
    /// As [`call`].
    pub fn buy_at(public: SocketAddr, activity: u64, user: &str, key: &str) -> io::Result<Answer> {
        let bearer = format!("Authorization: Bearer {}", token(user, JWT_SECRET));
        let headers = [bearer, format!("Idempotency-Key: key-{key}")];
        call(public, "POST", &format!("/api/seckill/{activity}"), &headers, None)
    }

    /// A purchase of a patient buyer: he asks one of `publics` after another with the same key until he hears that he is admitted, or that
    /// he is not. None where he gives up before.
    #[must_use]
    pub fn buy_in_the_end(
        publics: &[SocketAddr],
        activity: u64,
        user: &str,
        gives_up: impl Fn() -> bool,
    ) -> Option<Answer> {
        for public in publics.iter().cycle() {
            match Self::buy_at(*public, activity, user, user) {
                Ok(answer) if answer.status != 503 => return Some(answer),
                _ if gives_up() => return None,
                _ => thread::sleep(PAUSE),
            }
        }
        None
    }

    /// A request of the operator.
    ///
    /// # Panics
    /// Where no answer comes.
    #[must_use]
    pub fn as_admin(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let headers = [format!("Authorization: Bearer {ADMIN_TOKEN}")];
        let body = body.map(Value::to_string);
        call(self.admin, method, path, &headers, body.as_deref()).expect("the admin port answers")
    }

    /// A product with ten times the units and an activity of `stock` units that is open now; `more` goes into its body.
    ///
    /// # Panics
    /// Where the server refuses.
    #[must_use]
    pub fn created(&self, stock: u64, more: &Value) -> u64 {
        let product = json!({"name": "thing", "price_cents": 9900, "currency": "CNY", "stock": stock * 10});
        let product = self.as_admin("POST", "/admin/api/products", Some(&product));
        let mut activity = json!({
            "product_id": product.data()["id"],
            "title": "sale",
            "seckill_price_cents": 100,
            "stock": stock,
            "starts_at": "2020-01-01T00:00:00Z",
            "ends_at": "2099-01-01T00:00:00Z",
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            activity[name] = value.clone();
        }
        let created = self.as_admin("POST", "/admin/api/activities", Some(&activity));
        assert_eq!(created.status, 201, "{created:?}");
        created.data()["id"].as_u64().expect("an id")
    }

    /// From now on nobody is refused because the store is slow: on a busy machine it is.
    ///
    /// # Panics
    /// Where the server refuses.
    pub fn admits_however_slow(&self) {
        let off = json!({"auto_admit": "off"});
        let switched = self.as_admin("PATCH", "/admin/api/switches", Some(&off));
        assert_eq!(switched.status, 200, "{switched:?}");
    }

    /// As [`Server::created`], preheated.
    ///
    /// # Panics
    /// Where the server refuses.
    #[must_use]
    pub fn sale(&self, stock: u64, more: &Value) -> u64 {
        let id = self.created(stock, more);
        let path = format!("/admin/api/activities/{id}/preheat");
        // A scheduler may be about to do it, too; then it is to be asked again.
        let preheat = || self.as_admin("POST", &path, Some(&json!({})));
        let preheated = self.until(preheat, |answer| answer.status != 503);
        assert_eq!(preheated.status, 200, "{preheated:?}");
        id
    }
}
