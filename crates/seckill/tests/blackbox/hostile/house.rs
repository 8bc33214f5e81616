//! A stage in each of the two modes, and a way to keep its results from being told.

use std::any::Any;

use rusqlite::Connection;
use seckill_testkit::{Postgres, Redis, Server};

use super::Stage;
use crate::program;

/// How a server runs.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    /// Everything in one process.
    OneProcess,
    /// Stock and queue in a Redis, orders in a PostgreSQL.
    Redis,
}

/// On a busy machine the store takes its time, which is no matter of these requests: they wait for it, and what they hear first counts.
const PATIENT: (&str, &str) = ("SECKILL_STORE__ANSWER_WITHIN", "1m");

/// A server, and those that it stands on.
pub(super) struct Served {
    // It ends before what it stands on.
    pub(super) server: Server,
    redis: Option<Redis>,
    database: Option<Postgres>,
}

impl Mode {
    /// Starts a server with these settings.
    pub(super) fn serve(self, settings: &[(&str, &str)]) -> Served {
        let settings: Vec<_> = [PATIENT].iter().chain(settings).copied().collect();
        let settings = settings.as_slice();
        match self {
            Self::OneProcess => Served {
                server: Server::start_with(&program(), settings),
                redis: None,
                database: None,
            },
            Self::Redis => Served::on(Postgres::fresh(), settings),
        }
    }

    /// The same with a stage.
    pub(super) fn house(self, settings: &[(&str, &str)]) -> House {
        House::of(self.serve(settings))
    }
}

impl Served {
    fn on(database: Postgres, settings: &[(&str, &str)]) -> Self {
        let redis = Redis::start();
        let (store, orders) = (redis.url(), database.url());
        let servers = [
            ("SECKILL_STORE__URL", store.as_str()),
            ("SECKILL_DATABASE__URL", &orders),
            ("SECKILL_DATABASE__MIGRATE", "auto"),
        ];
        let settings: Vec<_> = servers.iter().chain(settings).copied().collect();
        Self {
            server: Server::start_with(&program(), &settings),
            redis: Some(redis),
            database: Some(database),
        }
    }
}

/// A stage, and the servers that it stands on.
pub(super) struct House {
    // It ends before what it stands on.
    pub(super) stage: Stage,
    pub(super) redis: Option<Redis>,
    pub(super) database: Option<Postgres>,
}

impl House {
    fn of(served: Served) -> Self {
        Self {
            stage: Stage::set(served.server),
            redis: served.redis,
            database: served.database,
        }
    }

    /// One on Redis, with orders in this database.
    pub(super) fn on(database: Postgres) -> Self {
        Self::of(Served::on(database, &[PATIENT]))
    }

    pub(super) fn server(&self) -> &Server {
        &self.stage.server
    }

    /// Nothing of the sale changes by an attack, and it goes on selling.
    pub(super) fn is_unmoved_by(&self, attack: impl FnOnce()) {
        let before = self.stage.dump();
        attack();
        assert_eq!(self.stage.dump(), before);
        self.stage.still_sells();
    }

    /// Until what this gives is dropped no order is written, so that tickets stay without a result.
    pub(super) fn withhold(&self) -> Box<dyn Any> {
        if let Some(database) = &self.database {
            return Box::new(database.hold("BEGIN; LOCK TABLE orders IN EXCLUSIVE MODE"));
        }
        let database = Connection::open(self.server().data().join("seckill.db")).expect("the database");
        database
            .busy_timeout(std::time::Duration::from_secs(20))
            .expect("a setting");
        database.execute_batch("BEGIN IMMEDIATE").expect("locked");
        Box::new(database)
    }

    /// Memory that the server's process has, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server().pid())).expect("it lives");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        kib.expect("a size") * 1024
    }

    /// See [`metric`].
    pub(super) fn metric(&self, name: &str) -> f64 {
        metric(self.server(), name)
    }
}

/// A line of a server's page of metrics, by its name and labels; no number where there is none.
pub(super) fn metric(server: &Server, name: &str) -> f64 {
    let page = seckill_testkit::text(server.admin, "/metrics").expect("answers");
    let value = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.and_then(|value| value.parse().ok()).unwrap_or(f64::NAN)
}
