//! The three that are compared, and their runs.

use std::sync::Arc;
use std::time::Duration;

use crate::Result;
use crate::article::{ArticleConfig, Round, StoreRun};
use crate::figures::RunFigures;
use crate::fleet::FleetConfig;
use crate::jobs::Jobs;
use crate::load::{self, CONNECTIONS_MAX};
use crate::naive;
use crate::outcome::LoadReport;
use crate::redis_servers::RedisServers;
use crate::runs::{Client, figures};
use crate::served::{Kind, Served};
use crate::server::{TOKEN_TTL_S, random_secret};
use crate::subject::{Subject, SubjectConfig};
use crate::token::{Signer, UserIds};

/// How long an audit may take.
const AUDIT_LIMIT: Duration = Duration::from_secs(120);

/// What the rounds share.
pub(super) struct Bench {
    client: Client,
    hello: Served,
    naive: Served,
    naive_signer: Signer,
    product: Subject,
    servers: RedisServers,
    durability: String,
    users: UserIds,
    violations: Vec<String>,
}

impl Bench {
    pub(super) fn start(config: &ArticleConfig) -> Result<Self> {
        let FleetConfig { executable, store, .. } = &config.fleet;
        let mut servers = RedisServers::connect(store)?;
        let durability = servers.durability()?;
        let secret = random_secret();
        let fleet = FleetConfig {
            workers: 0,
            ..config.fleet.clone()
        };
        // Nobody settles, so everything that is bought in all rounds waits.
        let backlog = config.requests * (config.rounds + 2);
        let more = [
            ("SECKILL_QUEUE__BACKLOG_MAX", backlog.to_string()),
            ("SECKILL_SERVER__CONNECTIONS_PER_IP", CONNECTIONS_MAX.to_string()),
        ];
        let product = SubjectConfig::Fleet(fleet).with(more.map(|(name, value)| (name.to_owned(), value)));
        Ok(Self {
            client: Client {
                connections: config.connections,
                threads: config.threads,
            },
            hello: Served::start(executable, Kind::HELLO, &[])?,
            naive: Served::start(executable, Kind::NAIVE, &naive::settings(store, &secret))?,
            naive_signer: Signer::expiring_in(secret.as_bytes(), TOKEN_TTL_S),
            product: Subject::start(&product)?,
            servers,
            durability,
            users: UserIds::random(),
            violations: Vec::new(),
        })
    }

    /// One run of each; the number says who goes first.
    pub(super) fn round(&mut self, requests: usize, number: usize) -> Result<Round> {
        let (mut bare, mut naive, mut product) = (None, None, None);
        for turn in 0..3 {
            match (number + turn) % 3 {
                0 => bare = Some(self.run_bare(requests)?),
                1 => naive = Some(self.run_naive(requests)?),
                _ => product = Some(self.run_product(requests)?),
            }
        }
        let all = bare.zip(naive).zip(product);
        let ((bare, naive), product) = all.expect("three turns are one of each");
        Ok(Round { bare, naive, product })
    }

    fn run_bare(&mut self, requests: usize) -> Result<RunFigures> {
        let address = self.hello.address();
        let jobs = Jobs::purchases(address, 1, requests, &self.naive_signer, &mut self.users);
        self.client
            .run_bare(&self.hello, &Arc::new(jobs), requests, &mut self.violations)
    }

    fn run_naive(&mut self, requests: usize) -> Result<StoreRun> {
        // As a buyer's client writes it, and so that no earlier run's keys are met.
        let sale = u64::from(rand::random::<u32>());
        naive::open_sale(&mut self.servers, sale, requests)?;
        let address = self.naive.address();
        let jobs = Arc::new(Jobs::purchases(
            address,
            sale,
            requests,
            &self.naive_signer,
            &mut self.users,
        ));
        let (asked_before, before) = (self.servers.work()?, self.naive.usage()?);
        let load = load::run(&self.client.load(&jobs, address, requests))?;
        let (work, after) = (self.servers.work_since(asked_before)?, self.naive.usage()?);
        self.check("the articles' algorithm", &load, requests);
        let faults = naive::close_sale(&mut self.servers, sale, requests as u64, load.accepted)?;
        self.violations.extend(faults);
        Ok(StoreRun {
            run: figures(&load, before, after),
            store_cpu_us: work.cpu_s * 1e6 / requests as f64,
        })
    }

    fn run_product(&mut self, requests: usize) -> Result<StoreRun> {
        let activity_id = self.product.open_sale("comparison", requests as u64)?;
        let target = self.product.target().clone();
        let jobs = Arc::new(Jobs::purchases(
            target.public,
            activity_id,
            requests,
            &target.signer,
            &mut self.users,
        ));
        let mut load = self.client.load(&jobs, target.public, requests);
        load.others = target.others.clone();
        let (asked_before, before) = (self.servers.work()?, self.product.usage()?);
        let load = load::run(&load)?;
        let (work, after) = (self.servers.work_since(asked_before)?, self.product.usage()?);
        self.check("the product", &load, requests);
        let audit = target.admin.wait_balanced(activity_id, AUDIT_LIMIT)?;
        self.violations.extend(audit.faults());
        if audit.accepted != load.accepted || audit.queued != load.accepted {
            self.violations.push(format!(
                "{} purchases were accepted, the audit knows {}, of which {} are queued",
                load.accepted, audit.accepted, audit.queued
            ));
        }
        Ok(StoreRun {
            run: figures(&load, before, after),
            store_cpu_us: work.cpu_s * 1e6 / requests as f64,
        })
    }

    fn check(&mut self, who: &str, load: &LoadReport, requests: usize) {
        if load.with_status(202) != requests as u64 {
            self.violations
                .push(format!("{who} answered {:?} {:?}", load.outcomes, load.unanswered));
        }
    }

    /// Ends all three. Gives how the store keeps what it has, and what was wrong.
    pub(super) fn stop(self) -> Result<(String, Vec<String>)> {
        self.hello.stop()?;
        self.naive.stop()?;
        self.product.stop()?;
        Ok((self.durability, self.violations))
    }
}
