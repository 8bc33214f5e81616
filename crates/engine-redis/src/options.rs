//! How the engine is run.

use std::time::Duration;

use seckill_sale::WaitsMax;

use crate::durability::Durability;

/// How the engine is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the store is: `redis://user:password@host:port/db`, `redis-sentinel://user:password@host:port,host:port/master`, or
    /// `redis-cluster://user:password@host:port,host:port`; with `rediss` in place of `redis` every connection is encrypted.
    pub address: String,
    /// Who signed the servers' certificates, as PEM; none: whom the system trusts.
    pub authority: Option<Vec<u8>>,
    /// Name of this process among the queue's consumers; no two that run have the same. One that starts again under its name gets
    /// back at once what it had taken.
    pub consumer: String,
    /// Longest wait for a connection.
    pub connect_within: Duration,
    /// Longest wait for an answer; then its outcome is unknown and the link counts as down.
    pub answer_within: Duration,
    /// When an admission counts as durable.
    pub durability: Durability,
    /// How often sales that others change are read again.
    pub refresh_every: Duration,
    /// Tickets that may wait, over all sales, until [`seckill_stock::Stock::set_backlog_max`] says otherwise.
    pub backlog_max: u64,
    /// How long tickets may wait: for the verdict of the worker that took them, and for another attempt.
    pub waits: WaitsMax,
}

impl Options {
    /// Defaults for a server at `address`; `consumer` is this process.
    #[must_use]
    pub const fn new(address: String, consumer: String) -> Self {
        Self {
            address,
            authority: None,
            consumer,
            connect_within: Duration::from_secs(1),
            answer_within: Duration::from_millis(500),
            durability: Durability::Server,
            refresh_every: Duration::from_millis(250),
            backlog_max: 200_000,
            waits: WaitsMax {
                lease_ms: 30_000,
                retry_ms: 60_000,
            },
        }
    }
}
