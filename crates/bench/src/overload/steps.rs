//! One load on the product, with a sale of its own, and its audit.

use std::sync::Arc;
use std::time::Duration;

use crate::Result;
use crate::jobs::Jobs;
use crate::load::{self, Load, Pace};
use crate::outcome::LoadReport;
use crate::overload::goals::forbidden;
use crate::overload::rude::{self, Crowd, People, Storm};
use crate::overload::{Clients, OverloadConfig};
use crate::subject::Subject;
use crate::token::UserIds;

/// How long the settlement of one step may take, beside the time that the overload lasts.
const SETTLE_LIMIT: Duration = Duration::from_secs(120);

/// What the steps of one overload share.
pub(super) struct Steps<'a> {
    pub(super) product: &'a Subject,
    pub(super) config: &'a OverloadConfig,
    pub(super) users: UserIds,
    pub(super) violations: Vec<String>,
}

/// A sale that was stormed, and has not been audited yet.
pub(super) struct Stormed {
    activity_id: u64,
    pub(super) load: LoadReport,
    /// What came of those who asked again and again.
    pub(super) people: Option<People>,
}

impl Steps<'_> {
    /// A load, and its audit.
    pub(super) fn step(&mut self, pace: Pace, requests: usize) -> Result<LoadReport> {
        let stormed = self.load(pace, requests)?;
        self.settle(stormed)
    }

    /// A sale with a unit for everybody: whoever is refused was refused for the load.
    pub(super) fn load(&mut self, pace: Pace, requests: usize) -> Result<Stormed> {
        let target = self.product.target();
        let activity_id = self.product.open_sale("overload", requests as u64)?;
        let jobs = Jobs::purchases(target.public, activity_id, requests, &target.signer, &mut self.users);
        let connections = match pace {
            Pace::Closed => {
                let most = self.config.bottleneck.closed_connections_max();
                self.config.connections.min(most)
            }
            Pace::Steady { .. } | Pace::Rush { .. } => self.config.connections,
        };
        let load = load::run(&Load {
            connections: connections.min(requests),
            threads: self.config.threads,
            pace,
            others: target.others.clone(),
            ..Load::once_each(target.public, Arc::new(jobs))
        })?;
        Ok(Stormed {
            activity_id,
            load,
            people: None,
        })
    }

    /// The overload, by the clients that were chosen.
    pub(super) fn overload(&mut self, rate_per_s: f64) -> Result<Stormed> {
        let Clients::Rude = self.config.clients else {
            let requests = count(rate_per_s, self.config.seconds);
            return self.load(Pace::Steady { rate_per_s }, requests);
        };
        let target = self.product.target();
        let people = count(rate_per_s, self.config.seconds);
        let activity_id = self.product.open_sale("overload", people as u64)?;
        let users = UserIds::random();
        let (load, people) = rude::run(Storm {
            targets: std::iter::once(target.public)
                .chain(target.others.iter().copied())
                .collect(),
            crowd: Crowd {
                host: target.public,
                activity_id,
                signer: target.signer.clone(),
                users,
            },
            people,
            rate_per_s,
            leave_after: Duration::from_secs_f64(self.config.seconds),
            connections: self.config.connections.min(people),
        })?;
        Ok(Stormed {
            activity_id,
            load,
            people: Some(people),
        })
    }

    /// Waits until its orders are written, and audits it.
    pub(super) fn settle(&mut self, stormed: Stormed) -> Result<LoadReport> {
        let Stormed { activity_id, load, .. } = stormed;
        let limit = SETTLE_LIMIT + Duration::from_secs_f64(self.config.seconds);
        let audit = self.product.target().admin.wait_settled(activity_id, limit)?;
        self.violations.extend(audit.faults());
        let known = load.accepted + load.unknown.len() as u64;
        if audit.accepted < load.accepted || known < audit.accepted {
            self.violations.push(format!(
                "{} were accepted, the audit knows {}",
                load.accepted, audit.accepted
            ));
        }
        self.violations.extend(forbidden(&load));
        Ok(load)
    }
}

/// Requests at this rate in this time, 1 at least.
pub(super) fn count(rate_per_s: f64, seconds: f64) -> usize {
    (rate_per_s * seconds).ceil().max(1.0) as usize
}
