//! Unpaid orders that all come due at one moment: how long until the last has expired, and where its units are.
//!
//! Deadlines count from the writing of an order, so those of many orders lie seconds apart. The server is therefore stopped where it is
//! (SIGSTOP) once all orders are written, and goes on when the last of them is due: it finds them all due at once, as after an outage.

mod units;
mod watched;

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::audit::Audit;
use crate::chunks::{Sender, wrong};
use crate::jobs::Jobs;
use crate::server::{Server, ServerConfig};
use crate::token::UserIds;
use crate::{Error, Result};

pub use units::UnitsTo;
use units::misplaced;
use watched::{Watched, watch};

/// The last order should have expired this soon.
pub const EXPIRED_AFTER_S_MAX: f64 = 60.0;
/// How long the settlement of one chunk may take.
const SETTLE_LIMIT: Duration = Duration::from_secs(120);
/// Orders that even a slow machine sells and writes in a second.
const SLOW_ORDERS_PER_S: usize = 2_500;
/// More than a deadline's grain.
const DUE_MARGIN: Duration = Duration::from_millis(5);

/// An expiry to measure.
#[derive(Debug, Clone)]
pub struct ExpiryConfig {
    /// The server.
    pub server: ServerConfig,
    /// Orders that expire.
    pub orders: usize,
    /// Where their units are sent.
    pub units_to: UnitsTo,
    /// How long an order waits for its payment: long enough for all to be written before the first is due.
    pub pay_within: Duration,
    /// Connections of the client.
    pub connections: usize,
}

impl ExpiryConfig {
    /// Over 64 connections, with ten seconds for the payment and one more for every 2,500 orders.
    pub fn usual(executable: impl Into<PathBuf>, orders: usize, units_to: UnitsTo) -> Self {
        Self {
            server: ServerConfig::of(executable),
            orders,
            units_to,
            pay_within: Duration::from_secs(10 + (orders / SLOW_ORDERS_PER_S) as u64),
            connections: 64,
        }
    }
}

/// An expiry and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct ExpiryReport {
    /// Orders that came due.
    pub orders: usize,
    /// Where their units were sent.
    pub units_to: UnitsTo,
    /// How long an order waited for its payment.
    pub pay_within_s: f64,
    /// From the moment at which all were due and the server went on, until an audit has told that all are expired.
    pub expired_after_s: f64,
    /// Resident memory before the first was due.
    pub rss_before_bytes: u64,
    /// The largest resident memory while they expired.
    pub rss_peak_bytes: u64,
    /// Units of the product that no activity holds, afterwards.
    pub product_stock: u64,
    /// The conservation equation afterwards.
    pub audit: Audit,
    /// What must hold and doesn't.
    pub violations: Vec<String>,
    /// Figures that should be reached and aren't.
    pub missed: Vec<String>,
}

/// Sells, lets the time for payments pass, and watches the orders expire. Blocks.
///
/// # Errors
/// [`Error::Usage`] without orders, [`Error::TooLate`] when orders were due before all were written or don't expire in ten minutes, else
/// when the server can't be started, prepared or read.
pub fn run(config: &ExpiryConfig) -> Result<ExpiryReport> {
    if config.orders == 0 {
        return Err(Error::Usage("an expiry takes orders".into()));
    }
    let mut server = config.server.clone();
    let pay_within_ms = config.pay_within.as_millis();
    let set = |name: &str, value: String| (format!("SECKILL_{name}"), value);
    server.environment.extend([
        set("ORDERS__PAY_WITHIN", format!("{pay_within_ms}ms")),
        set("UNITS__ON_CANCEL", config.units_to.word().to_owned()),
    ]);
    let server = Server::start(&server)?;
    let admin = &server.target().admin;
    let units = config.orders as u64;
    let product_id = admin.create_product("expiry", units)?;
    let activity_id = admin.create_activity(product_id, "expiry", units)?;
    admin.preheat(activity_id)?;
    let mut violations = Vec::new();
    let before = sell(config, &server, activity_id, &mut violations)?;
    if before.orders_cancelled != 0 {
        return Err(Error::TooLate {
            what: "not all orders were written".to_owned(),
            limit_s: config.pay_within.as_secs(),
        });
    }
    let used = server.usage()?;
    server.hold_for(config.pay_within + DUE_MARGIN);
    let Watched {
        audit,
        took,
        rss_peak_bytes,
    } = watch(&server, used, activity_id, units)?;
    let product_stock = admin.product_stock(product_id)?;
    violations.extend(audit.faults());
    violations.extend(misplaced(config.units_to, units, &audit, product_stock));
    server.stop()?;
    let expired_after_s = took.as_secs_f64();
    Ok(ExpiryReport {
        orders: config.orders,
        units_to: config.units_to,
        pay_within_s: config.pay_within.as_secs_f64(),
        expired_after_s,
        rss_before_bytes: used.rss_bytes,
        rss_peak_bytes,
        product_stock,
        audit,
        violations,
        missed: missed(expired_after_s).into_iter().collect(),
    })
}

/// An order for everybody; the audit when all are written.
fn sell(config: &ExpiryConfig, server: &Server, activity_id: u64, violations: &mut Vec<String>) -> Result<Audit> {
    let target = server.target();
    let (mut users, connections) = (UserIds::random(), config.connections);
    let write = |count| Jobs::purchases(target.public, activity_id, count, &target.signer, &mut users);
    Sender { target, connections }.send(config.orders, write, |_, load| {
        violations.extend(wrong(load, &[202]));
        target.admin.wait_drained(SETTLE_LIMIT)
    })?;
    target.admin.wait_settled(activity_id, SETTLE_LIMIT)
}

fn missed(expired_after_s: f64) -> Option<String> {
    (EXPIRED_AFTER_S_MAX < expired_after_s)
        .then(|| format!("expired after {expired_after_s:.1} s, {EXPIRED_AFTER_S_MAX:.0} wanted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_is_soon_enough() {
        assert_eq!(missed(60.0), None);
        assert_eq!(missed(61.0).unwrap(), "expired after 61.0 s, 60 wanted");
    }
}
