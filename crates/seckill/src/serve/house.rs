//! What runs beside the ports: workers, the scheduler, and the looks at what another process may have changed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use seckill_console::Console;
use seckill_flow::Worker;
use seckill_settings::StoreUrl;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{MissedTickBehavior, interval};

use super::node::Node;
use super::{alerting, follow, live, membership, progress, tap};
use crate::exit::Failure;

/// How often switches and blocks are read again: others' changes are in force within it.
pub(super) const REFRESH_EVERY: Duration = Duration::from_millis(500);

/// Threads of the house; they end when the shutdown token says so.
pub(crate) struct House(Vec<JoinHandle<()>>);

impl House {
    /// Starts what the roles of the node ask for, on a thread each.
    pub(crate) fn start(node: &Arc<Node>, console: &Arc<Console>) -> Result<Self, Failure> {
        let mut threads = Vec::new();
        if node.roles.worker {
            let (node, workers) = (node.clone(), (0..node.settings.queue.workers).map(|_| node.worker()));
            let workers: Vec<_> = workers.collect();
            threads.push(start_thread("workers", move || run_workers(node, workers))?);
        }
        if node.roles.scheduler {
            let node = node.clone();
            threads.push(start_thread("scheduler", move || run_scheduler(node))?);
        }
        if let StoreUrl::Remote(_) = node.settings.store.url {
            let node = node.clone();
            if !node.roles.worker {
                let node = node.clone();
                threads.push(start_thread("strays", move || adopt_until_shutdown(node))?);
            }
            threads.push(start_thread("progress", move || progress::follow(node))?);
        }
        let (among_others, its_console) = (node.clone(), console.clone());
        threads.push(start_thread("members", move || {
            membership::follow(among_others, its_console)
        })?);
        let (recorded, its_console) = (node.clone(), console.clone());
        threads.push(start_thread("recorder", move || live::record(recorded, its_console))?);
        if node.roles.api {
            let node = node.clone();
            threads.push(start_thread("tap", move || tap::watch(node))?);
        }
        if node.roles.scheduler {
            let watching = alerting::Watching::new(node)?;
            threads.push(start_thread("alerts", move || watching.run())?);
        }
        if let Some(keys) = node.key_file.clone() {
            let (gate, shutdown) = (node.gate.clone(), node.shutdown.house.clone());
            threads.push(start_thread("keys", move || keys.follow(gate, shutdown))?);
        }
        let (listed, its_console) = (node.clone(), console.clone());
        threads.push(start_thread("lists", move || follow::lists(listed, its_console))?);
        let (node, console) = (node.clone(), console.clone());
        threads.push(start_thread("refresh", move || follow::small_things(node, console))?);
        Ok(Self(threads))
    }

    /// Waits for all of them.
    pub(crate) fn join(self) {
        for thread in self.0 {
            if thread.join().is_err() {
                tracing::error!("a thread of the house had panicked");
            }
        }
    }
}

fn start_thread<F>(name: &str, task: impl FnOnce() -> F + Send + 'static) -> Result<JoinHandle<()>, Failure>
where
    F: Future<Output = ()>,
{
    let run = move || runtime().block_on(task());
    let started = thread::Builder::new().name(name.to_owned()).spawn(run);
    started.map_err(|error| Failure::failed(format!("no thread for {name}: {error}")))
}

fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime needs descriptors only")
}

async fn run_workers(node: Arc<Node>, workers: Vec<Worker>) {
    let running = workers
        .into_iter()
        .map(|worker| worker.run(node.shutdown.house.clone()));
    futures_util::future::join_all(running).await;
}

/// Offers what this node admitted to states that were lost since; where there are workers they do it.
async fn adopt_until_shutdown(node: Arc<Node>) {
    let settle = node.settle();
    let mut ticks = interval(REFRESH_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let adopting = async {
        loop {
            ticks.tick().await;
            settle.adopt_strays().await;
        }
    };
    tokio::select! {
        () = node.shutdown.house.cancelled() => {}
        () = adopting => {}
    }
}

async fn run_scheduler(node: Arc<Node>) {
    let scheduler = node.scheduler();
    let leads = node.membership.leads();
    let leads = move || leads.load(Ordering::Relaxed);
    scheduler.run(node.shutdown.house.clone(), leads, |_| ()).await;
}
