//! Processes of several roles that share a store and a database.

use std::sync::Barrier;

use seckill_testkit::{Redis, Server};

use crate::program;

pub(crate) const API: &[&str] = &["serve", "--roles", "api"];
pub(crate) const WORKER: &[&str] = &["work"];
pub(crate) const SCHEDULER: &[&str] = &["serve", "--roles", "scheduler"];

/// Processes that share a store and a database.
pub(crate) struct Shop {
    pub(crate) redis: Redis,
    store: String,
    database: String,
    settings: Vec<(&'static str, String)>,
    pub(crate) nodes: Vec<Server>,
}

impl Shop {
    pub(crate) fn new(database: String) -> Self {
        let redis = Redis::start();
        Self::on(redis.url(), redis, database)
    }

    /// On servers of which `redis` is one.
    pub(crate) fn on(store: String, redis: Redis, database: String) -> Self {
        Self {
            redis,
            store,
            database,
            settings: Vec::new(),
            nodes: Vec::new(),
        }
    }

    /// The same, whose processes reach the store by another address: through a proxy.
    pub(crate) fn reaching_the_store_by(self, store: String) -> Self {
        Self { store, ..self }
    }

    /// The same, whose processes from here on reach the database by another address.
    pub(crate) fn reaching_the_database_by(self, database: String) -> Self {
        Self { database, ..self }
    }

    /// The same, whose processes have one more setting.
    pub(crate) fn setting(mut self, name: &'static str, value: &str) -> Self {
        self.settings.push((name, value.to_owned()));
        self
    }

    pub(crate) fn with(mut self, tasks: &[&[&str]]) -> Self {
        for task in tasks {
            let mut settings = vec![
                ("SECKILL_STORE__URL", self.store.as_str()),
                ("SECKILL_DATABASE__URL", &self.database),
                ("SECKILL_DATABASE__MIGRATE", "auto"),
            ];
            settings.extend(self.settings.iter().map(|(name, value)| (*name, value.as_str())));
            self.nodes.push(Server::start_as(&program(), task, &settings));
        }
        self
    }

    /// Everybody buys at the same moment, each at the node that his number says.
    pub(crate) fn rush(&self, activity: u64, buyers: usize, apis: usize) -> Vec<u16> {
        let start = Barrier::new(buyers);
        std::thread::scope(|scope| {
            let buy = |buyer: usize| {
                let (start, node) = (&start, &self.nodes[buyer % apis]);
                move || {
                    start.wait();
                    node.buy(activity, &format!("u{buyer}"), "k").expect("answers").status
                }
            };
            let rushing: Vec<_> = (0..buyers).map(|buyer| scope.spawn(buy(buyer))).collect();
            rushing.into_iter().map(|one| one.join().expect("no panic")).collect()
        })
    }
}
