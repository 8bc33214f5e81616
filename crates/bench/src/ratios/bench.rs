//! The servers of one comparison, and its runs.

use std::sync::Arc;
use std::time::Duration;

use crate::Result;
use crate::comparison::{Beneath, Comparison};
use crate::disk::{self, DiskProbe};
use crate::figures::{Pair, RunFigures};
use crate::load;
use crate::ratios::RatioConfig;
use crate::ratios::crowd::Prepared;
use crate::redis_servers::RedisServers;
use crate::runs::{Client, figures};
use crate::served::{Kind, Served};
use crate::store_figures::StoreFigures;
use crate::subject::{Subject, SubjectConfig};
use crate::token::UserIds;

/// How long the settlement of one run may take.
pub(super) const SETTLE_LIMIT: Duration = Duration::from_secs(120);
/// How long an idle product is watched, so that its own commands are not counted as its buyers'.
const IDLE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy)]
pub(super) enum Order {
    BareFirst,
    ProductFirst,
}

/// What the runs of one comparison share.
pub(super) struct Bench<'a> {
    pub(super) comparison: Comparison,
    pub(super) config: &'a RatioConfig,
    pub(super) client: Client,
    hello: Served,
    pub(super) product: Subject,
    beneath: Below,
    pub(super) users: UserIds,
    pub(super) prepared: Option<Prepared>,
    pub(super) violations: Vec<String>,
}

/// What the product's store stands on.
enum Below {
    Disk(DiskProbe),
    Servers(RedisServers, StoreFigures),
}

impl<'a> Bench<'a> {
    /// Starts both servers.
    pub(super) fn start(comparison: Comparison, config: &'a RatioConfig) -> Result<Self> {
        let hello = Served::start(config.product.executable(), Kind::HELLO, &[])?;
        let product = Subject::start(&config.product)?;
        let beneath = match (&product, &config.product) {
            (Subject::Alone(server), _) => Below::Disk(disk::probe(server.folder())?),
            (Subject::Fleet(_), SubjectConfig::Fleet(fleet)) => {
                let mut servers = RedisServers::connect(&fleet.store)?;
                let figures = StoreFigures::new(servers.durability()?, 0.0);
                Below::Servers(servers, figures)
            }
            (Subject::Fleet(_), SubjectConfig::Alone(_)) => unreachable!("a fleet comes from a fleet's settings"),
        };
        Ok(Self {
            comparison,
            config,
            client: Client {
                connections: config.connections,
                threads: config.threads,
            },
            hello,
            product,
            beneath,
            users: UserIds::random(),
            prepared: None,
            violations: Vec::new(),
        })
    }

    /// From now on runs count; what an idle product asks its store is looked at first.
    pub(super) fn begin(&mut self) -> Result<()> {
        if let Below::Servers(servers, figures) = &mut self.beneath {
            // Whoever writes orders that are left from earlier is not idle.
            self.product.target().admin.wait_drained(SETTLE_LIMIT)?;
            let before = servers.work()?;
            std::thread::sleep(IDLE);
            let commands = servers.work_since(before)?.commands;
            *figures = StoreFigures::new(figures.durability.clone(), commands as f64 / IDLE.as_secs_f64());
        }
        Ok(())
    }

    pub(super) fn pair(&mut self, requests: usize, order: Order) -> Result<Pair> {
        Ok(match order {
            Order::BareFirst => {
                let bare = self.run_bare(requests)?;
                Pair {
                    bare,
                    product: self.run_product(requests)?,
                }
            }
            Order::ProductFirst => {
                let product = self.run_product(requests)?;
                Pair {
                    bare: self.run_bare(requests)?,
                    product,
                }
            }
        })
    }

    fn run_bare(&mut self, requests: usize) -> Result<RunFigures> {
        let address = self.hello.address();
        let activity_id = self.prepared.as_ref().map_or(1, |prepared| prepared.activity_id);
        let jobs = Arc::new(self.jobs(address, activity_id, requests));
        self.client.run_bare(&self.hello, &jobs, requests, &mut self.violations)
    }

    fn run_product(&mut self, requests: usize) -> Result<RunFigures> {
        let activity_id = match &self.prepared {
            Some(prepared) => prepared.activity_id,
            None => self.product.open_sale("comparison", requests as u64)?,
        };
        let target = self.product.target().clone();
        let jobs = Arc::new(self.jobs(target.public, activity_id, requests));
        let asked_before = match &mut self.beneath {
            Below::Servers(servers, _) => Some(servers.work()?),
            Below::Disk(_) => None,
        };
        let before = self.product.usage()?;
        let mut load = self.client.load(&jobs, target.public, requests);
        load.others = target.others.clone();
        let load = load::run(&load)?;
        if let (Below::Servers(servers, figures), Some(asked_before)) = (&mut self.beneath, asked_before) {
            figures.add(load.requests, load.duration_s, servers.work_since(asked_before)?);
        }
        let audit = target.admin.wait_settled(activity_id, SETTLE_LIMIT)?;
        let figures = figures(&load, before, self.product.usage()?);
        self.violations.extend(audit.faults());
        if load.with_status(self.comparison.status()) != requests as u64 {
            self.violations.push(format!(
                "the product answered {:?} {:?}",
                load.outcomes, load.unanswered
            ));
        }
        if self.comparison == Comparison::Acceptances && audit.orders_live != requests as u64 {
            self.violations
                .push(format!("{requests} buyers, {} orders", audit.orders_live));
        }
        Ok(figures)
    }

    /// Ends both servers. Gives what the store was and did, and what was wrong.
    pub(super) fn stop(self) -> Result<(Beneath, Vec<String>)> {
        self.hello.stop()?;
        self.product.stop()?;
        let beneath = match self.beneath {
            Below::Disk(disk) => Beneath::Disk(disk),
            Below::Servers(_, figures) => Beneath::Servers(figures),
        };
        Ok((beneath, self.violations))
    }
}
