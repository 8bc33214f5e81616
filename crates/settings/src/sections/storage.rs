//! Store, queue and database.

use std::path::Path;
use std::time::Duration;

use crate::reader::Reader;
use crate::sections::Durability;
use crate::services::{DatabaseText, DatabaseUrl, StoreUrl};

const URL: &str = "store.url";
const DURABILITY: &str = "store.durability";

/// Where stock and queue live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// In this process or on a server. Whether the kind is built in is for the binary to say.
    pub url: StoreUrl,
    /// Claims that may wait for the store at once.
    pub pending_max: usize,
    /// How long a claim may wait for the store while more wait than a batch carries.
    pub wait_max: Duration,
    /// How long the store may take over a claim.
    pub answer_within: Duration,
    /// When an admission counts as durable.
    pub durability: Durability,
}

impl Store {
    pub(super) fn narrow(reader: &Reader<'_>) -> Self {
        let store = Self {
            url: reader.get(URL),
            pending_max: reader.get("store.pending_max"),
            wait_max: reader.get("store.wait_max"),
            answer_within: reader.get("store.answer_within"),
            durability: reader.get(DURABILITY),
        };
        let why = match &store.url {
            StoreUrl::Embedded => Some(
                "the embedded store has no replicas; every answer waits for its own disk already: leave it \"server\"",
            ),
            StoreUrl::Remote(url) if url.scheme() == "redis-cluster" => {
                Some("on a cluster no copies are waited for: leave it \"server\"")
            }
            StoreUrl::Remote(_) => None,
        };
        if let Some(why) = why.filter(|_| store.durability != Durability::Server) {
            reader.conflict(DURABILITY, URL, why);
        }
        store
    }
}

/// Where orders live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// A file or a server. Whether the kind is built in is for the binary to say.
    pub url: DatabaseUrl,
    /// Whether the server brings the tables to its version by itself.
    pub migrate_at_start: bool,
    /// Orders in one transaction.
    pub batch_size_max: usize,
}

impl Database {
    pub(super) fn narrow(reader: &Reader<'_>, data_dir: &Path) -> Self {
        let url = reader.get::<DatabaseText>("database.url").narrow(data_dir);
        let migrate_at_start = match reader.get::<String>("database.migrate").as_str() {
            "auto" => true,
            "never" => false,
            _ => matches!(url, DatabaseUrl::Sqlite(_)),
        };
        Self {
            url,
            migrate_at_start,
            batch_size_max: reader.get("database.batch_size_max"),
        }
    }
}

/// The way from ticket to order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Tickets that may wait for their order.
    pub backlog_max: u64,
    /// Deliveries of one ticket before it becomes a dead letter.
    pub attempts_max: u32,
    /// Workers in this process.
    pub workers: usize,
    /// Tickets a worker takes at once.
    pub batch_size_max: usize,
    /// First wait before a failed batch is tried again.
    pub retry_wait_first: Duration,
    /// Longest wait between two tries.
    pub retry_wait_max: Duration,
}

impl Queue {
    pub(super) fn narrow(reader: &Reader<'_>) -> Self {
        let queue = Self {
            backlog_max: reader.get("queue.backlog_max"),
            attempts_max: reader.get("queue.attempts_max"),
            workers: reader.get("queue.workers"),
            batch_size_max: reader.get("queue.batch_size_max"),
            retry_wait_first: reader.get("queue.retry_wait_first"),
            retry_wait_max: reader.get("queue.retry_wait_max"),
        };
        if queue.retry_wait_first > queue.retry_wait_max {
            reader.conflict(
                "queue.retry_wait_first",
                "queue.retry_wait_max",
                "the first wait is longer than the longest",
            );
        }
        queue
    }
}
