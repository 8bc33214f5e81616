//! The sale that a comparison asks about, and those who ask.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::Result;
use crate::comparison::Comparison;
use crate::jobs::{Jobs, Request};
use crate::load;
use crate::ratios::bench::{Bench, SETTLE_LIMIT};

/// People whose results are polled, and who press the button after the sell-out: each of them several times in a run, as people do.
const CROWD_MAX: usize = 20_000;

/// The sale that refusals, pages and polls ask about.
pub(super) struct Prepared {
    pub(super) activity_id: u64,
    /// Tokens of those who ask again and again.
    crowd: Vec<String>,
}

impl Bench<'_> {
    /// Opens and sells out what is asked about.
    pub(super) fn prepare(&mut self) -> Result<()> {
        let buyers = match self.comparison {
            Comparison::Acceptances => return Ok(()),
            Comparison::Refusals | Comparison::FirstRefusals | Comparison::ActivityPage => 1,
            Comparison::ResultPoll => self.config.requests.min(CROWD_MAX),
        };
        let units = if self.comparison == Comparison::ActivityPage {
            2
        } else {
            buyers as u64
        };
        let activity_id = self.product.open_sale("comparison", units)?;
        let target = self.product.target();
        let jobs = Arc::new(Jobs::purchases(
            target.public,
            activity_id,
            buyers,
            &target.signer,
            &mut self.users,
        ));
        let sold = load::run(&self.client.load(&jobs, target.public, buyers))?;
        target.admin.wait_settled(activity_id, SETTLE_LIMIT)?;
        if sold.with_status(202) != buyers as u64 {
            self.violations.push(format!(
                "{} of {buyers} buyers were accepted beforehand",
                sold.with_status(202)
            ));
        }
        let crowd: Vec<String> = if self.comparison == Comparison::ResultPoll {
            sold.winners
                .iter()
                .map(|(index, _)| jobs.user(*index).to_owned())
                .collect()
        } else {
            self.users.by_ref().take(self.config.requests.min(CROWD_MAX)).collect()
        };
        let crowd = crowd.iter().map(|user| target.signer.token(user)).collect();
        self.prepared = Some(Prepared { activity_id, crowd });
        Ok(())
    }

    /// The requests of one run: purchases by people who were never seen before, or what a crowd asks again and again.
    pub(super) fn jobs(&mut self, address: SocketAddr, activity_id: u64, requests: usize) -> Jobs {
        let (method, path) = match self.comparison {
            Comparison::ActivityPage => return Jobs::page(address, &format!("/api/activities/{activity_id}")),
            Comparison::Refusals => ("POST", format!("/api/seckill/{activity_id}")),
            Comparison::ResultPoll => ("GET", format!("/api/seckill/result/{activity_id}")),
            Comparison::Acceptances | Comparison::FirstRefusals => {
                let signer = &self.product.target().signer;
                return Jobs::purchases(address, activity_id, requests, signer, &mut self.users);
            }
        };
        let crowd = self.prepared.as_ref().map_or(&[][..], |prepared| &prepared.crowd);
        let mut jobs = Jobs::with_capacity(crowd.len());
        for token in crowd {
            let request = Request {
                method,
                path: &path,
                token: Some(token),
                body: "",
            };
            jobs.push(address, String::new(), request);
        }
        jobs
    }
}
