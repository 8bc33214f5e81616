//! This process among those that share its store: it says that it lives, and takes the scheduler's lease where nobody has it.
//!
//! Two schedulers at once do no harm, since the later epoch wins, and none for a moment neither: a lease that can't be asked for stays as it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seckill_console::Console;
use seckill_sale::{Clock, EpochMs, SystemClock};
use seckill_stock::members::SCHEDULER_LEASE;
use seckill_stock::{Member, Members};
use tokio::time::{MissedTickBehavior, interval};

use super::node::Node;

/// How often a process says that it lives.
const BEAT_EVERY: Duration = Duration::from_secs(1);
/// How long the scheduler's lease lasts without being renewed, in milliseconds: so long nobody preheats or expires when its holder dies.
const LEASE_MS: i64 = 4_000;

/// What a process says of itself, and whether it is the one that schedules.
pub(crate) struct Membership {
    members: Arc<dyn Members>,
    own: Member,
    leads: Arc<AtomicBool>,
}

impl Membership {
    /// Of a process with this name, which no other that runs has.
    pub(super) fn new(members: Arc<dyn Members>, id: String, roles: Vec<String>, admin: String) -> Self {
        let own = Member {
            id,
            roles,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            admin,
            started_at: SystemClock.now(),
            sent_at: EpochMs(0),
            figures: String::new(),
        };
        Self {
            members,
            own,
            // Until it has asked: a process alone has nobody to wait for.
            leads: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Whether this process schedules now.
    pub(crate) fn leads(&self) -> Arc<AtomicBool> {
        self.leads.clone()
    }

    /// The register that it is in.
    pub(crate) fn members(&self) -> Arc<dyn Members> {
        self.members.clone()
    }

    /// What it says of itself, but for its figures.
    pub(crate) const fn own(&self) -> &Member {
        &self.own
    }

    /// Says that it lives, and asks for the lease.
    pub(super) async fn tick(&self, console: &Console, may_lead: bool) {
        if let Err(error) = console.beat(SystemClock.now()).await {
            tracing::debug!(%error, "the others do not hear that this node lives");
        }
        if !may_lead {
            return;
        }
        match self.members.lease(SCHEDULER_LEASE, &self.own.id, LEASE_MS).await {
            Ok(leads) if self.leads.swap(leads, Ordering::Relaxed) != leads => {
                let said = if leads {
                    "this node schedules from now on"
                } else {
                    "another node schedules now"
                };
                tracing::info!("{said}");
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "the scheduler's lease can't be asked for"),
        }
    }

    async fn end(&self) {
        let released = self.members.release(SCHEDULER_LEASE, &self.own.id).await;
        if let Err(error) = released.and(self.members.leave(&self.own.id).await) {
            tracing::debug!(%error, "the others do not hear that this node ends");
        }
    }
}

/// Beats until the shutdown.
pub(super) async fn follow(node: Arc<Node>, console: Arc<Console>) {
    let mut ticks = interval(BEAT_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            () = node.shutdown.house.cancelled() => return node.membership.end().await,
            _ = ticks.tick() => node.membership.tick(&console, node.roles.scheduler).await,
        }
    }
}
