//! One run of load and its figures: what comparisons of every kind share.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::Result;
use crate::figures::RunFigures;
use crate::jobs::Jobs;
use crate::load::{self, Load};
use crate::outcome::LoadReport;
use crate::process::Usage;
use crate::served::Served;

/// The client of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client {
    pub(crate) connections: usize,
    pub(crate) threads: usize,
}

impl Client {
    /// So many of these requests, in a closed loop.
    pub(crate) fn load(self, jobs: &Arc<Jobs>, target: SocketAddr, requests: usize) -> Load {
        Load {
            requests,
            connections: self.connections.min(requests),
            threads: self.threads,
            ..Load::once_each(target, Arc::clone(jobs))
        }
    }

    /// A run against the bare listener.
    pub(crate) fn run_bare(
        self,
        hello: &Served,
        jobs: &Arc<Jobs>,
        requests: usize,
        violations: &mut Vec<String>,
    ) -> Result<RunFigures> {
        let before = hello.usage()?;
        let load = load::run(&self.load(jobs, hello.address(), requests))?;
        let figures = figures(&load, before, hello.usage()?);
        if load.with_status(200) != requests as u64 {
            violations.push(format!("the bare listener answered {:?}", load.outcomes));
        }
        Ok(figures)
    }
}

/// Figures of a run by a process that had used this before, and this afterwards.
pub(crate) fn figures(load: &LoadReport, before: Usage, after: Usage) -> RunFigures {
    RunFigures {
        requests_per_s: load.requests_per_s,
        cpu_us_per_request: (after.cpu_s - before.cpu_s) * 1e6 / load.answered.max(1) as f64,
        p50_ms: load.latency.p50_ms,
        p99_ms: load.latency.p99_ms,
    }
}
