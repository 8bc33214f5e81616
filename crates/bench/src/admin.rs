//! A small client of the admin API. It prepares sales and audits them.

mod audits;
mod commands;
mod products;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Answer, call, get};
use crate::metrics::Metrics;
use crate::process::LOOK_EVERY;
use crate::{Error, Result};

pub(crate) use commands::{Command, Told};

/// How long a server may refuse to preheat because something else is under way.
const PREHEAT_LIMIT: Duration = Duration::from_secs(30);

/// The admin port of a server.
#[derive(Clone)]
pub struct Admin {
    address: SocketAddr,
    token: String,
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Admin")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Admin {
    /// A client; it connects with every call.
    pub fn new(address: SocketAddr, token: &str) -> Self {
        Self {
            address,
            token: token.to_owned(),
        }
    }

    fn write(&self, path: &str, body: &Value) -> Result<Answer> {
        call(self.address, "POST", path, Some(&self.token), Some(body))
    }

    /// Whether `/readyz` says yes. An unreachable server isn't ready.
    pub fn is_ready(&self) -> bool {
        get(self.address, "/readyz", None).is_ok_and(|answer| answer.status == 200)
    }

    /// An activity of one unit a buyer that runs since a second ago, for a day; its id.
    ///
    /// # Errors
    /// [`Error::Answer`] where the server refuses.
    pub fn create_activity(&self, product_id: u64, title: &str, stock: u64) -> Result<u64> {
        let now = jiff::Timestamp::now();
        let at = |offset_s: i64| {
            jiff::Timestamp::from_millisecond(now.as_millisecond() + offset_s * 1000).map(|at| at.to_string())
        };
        let times = at(-1).and_then(|start| Ok((start, at(24 * 3600)?)));
        let (starts_at, ends_at) = times.map_err(|error| Error::Usage(format!("the clock is off: {error}")))?;
        let body = json!({
            "product_id": product_id, "title": title, "seckill_price_cents": 100, "stock": stock,
            "starts_at": starts_at, "ends_at": ends_at, "per_user_limit": 1, "shards": 1, "challenge": "none",
        });
        let data = self
            .write("/admin/api/activities", &body)?
            .expect(201, "create an activity")?;
        number(&data["id"], "create an activity")
    }

    /// Loads the activity's units into the store. Asks again where it is refused for a moment: the product's own scheduler may be at it.
    ///
    /// # Errors
    /// [`Error::Answer`] where the server refuses.
    pub fn preheat(&self, activity_id: u64) -> Result<()> {
        let end = Instant::now() + PREHEAT_LIMIT;
        loop {
            let answer = self.write(&format!("/admin/api/activities/{activity_id}/preheat"), &json!({}))?;
            if answer.status != 503 || end <= Instant::now() {
                return answer.expect(200, "preheat").map(drop);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Product, activity, preheat: a sale of `stock` units that is open now; the activity's id.
    ///
    /// # Errors
    /// [`Error::Answer`] where the server refuses.
    pub fn open_sale(&self, title: &str, stock: u64) -> Result<u64> {
        let product_id = self.create_product(title, stock)?;
        let activity_id = self.create_activity(product_id, title, stock)?;
        self.preheat(activity_id)?;
        Ok(activity_id)
    }

    /// Ends the activity for good.
    ///
    /// # Errors
    /// [`Error::Answer`] where the server refuses.
    pub fn close(&self, activity_id: u64) -> Result<()> {
        self.write(&format!("/admin/api/activities/{activity_id}/close"), &json!({}))?
            .expect(200, "close")
            .map(drop)
    }

    /// Waits until the queue of all sales is empty, without an audit.
    ///
    /// # Errors
    /// [`Error::TooLate`] when `limit` passes first.
    pub fn wait_drained(&self, limit: Duration) -> Result<()> {
        let end = Instant::now() + limit;
        while self
            .metrics()?
            .sum("seckill_queue_depth")
            .is_some_and(|depth| depth != 0.0)
        {
            if end <= Instant::now() {
                return Err(Error::TooLate {
                    what: "the queue was not empty".to_owned(),
                    limit_s: limit.as_secs(),
                });
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// The text of `/metrics`.
    ///
    /// # Errors
    /// [`Error::Io`] when the server can't be reached.
    pub fn metrics(&self) -> Result<Metrics> {
        let answer = get(self.address, "/metrics", None)?;
        Ok(Metrics::of(String::from_utf8_lossy(&answer.body).into_owned()))
    }
}

fn number(value: &Value, what: &str) -> Result<u64> {
    value.as_u64().ok_or_else(|| Error::Malformed { what: what.to_owned() })
}

#[cfg(test)]
#[path = "admin_tests.rs"]
mod tests;
