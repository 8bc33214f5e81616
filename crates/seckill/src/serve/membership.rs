//! This process among those that share its store: it says that it lives, and takes the scheduler's lease where nobody has it.
//!
//! Two schedulers at once do no harm, since the later epoch wins, and none for a moment neither: a lease that can't be asked for stays as it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seckill_console::Console;
use seckill_sale::{Clock, SystemClock};
use seckill_settings::StoreUrl;
use seckill_stock::members::SCHEDULER_LEASE;
use seckill_stock::{Member, Members};
use tokio::time::{MissedTickBehavior, interval};

use super::Patience;
use super::layers::block_on;
use super::neighbours;
use super::node::Node;
use super::own_name::OwnName;
use crate::exit::Outcome;

/// How often a process says that it lives.
const BEAT_EVERY: Duration = Duration::from_secs(1);
/// How long the scheduler's lease lasts without being renewed, in milliseconds: so long nobody preheats or expires when its holder dies.
const LEASE_MS: i64 = 4_000;

/// What a process says of itself, and whether it is the one that schedules.
pub(crate) struct Membership {
    members: Arc<dyn Members>,
    own: Member,
    name: OwnName,
    /// Whether another process has its name, as far as is known.
    is_doubled: AtomicBool,
    leads: Arc<AtomicBool>,
}

impl Membership {
    /// Of a process that has taken this name, and says of itself what `own` says besides.
    pub(super) fn new(members: Arc<dyn Members>, name: OwnName, own: Member) -> Self {
        let own = Member {
            id: name.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: SystemClock.now(),
            ..own
        };
        Self {
            members,
            own,
            name,
            is_doubled: AtomicBool::new(false),
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

    /// Says that it lives, and keeps its name and its lease.
    async fn tick(&self, console: &Console, may_lead: bool) {
        self.say_alive(console).await;
        self.keep_name().await;
        if may_lead {
            self.ask_to_lead().await;
        }
    }

    async fn say_alive(&self, console: &Console) {
        if let Err(error) = console.beat(SystemClock.now()).await {
            tracing::debug!(%error, "the others do not hear that this node lives");
        }
    }

    async fn ask_to_lead(&self) {
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

    /// A process that stood still for long, or was cut off, may find that a copy of its folder has its name by now.
    async fn keep_name(&self) {
        match self.name.renew(&*self.members).await {
            Ok(has) if self.is_doubled.swap(!has, Ordering::Relaxed) == has => {
                if has {
                    tracing::info!("this process has its name for itself again");
                } else {
                    tracing::error!(
                        "another process with the name of this one uses the store: end one of the two, and give it a data folder of its own"
                    );
                }
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "the name of this process can't be kept now"),
        }
    }

    /// Leaves nothing behind that others would take for a living process.
    async fn end(&self) {
        if let Err(error) = self.name.leave(&*self.members).await {
            tracing::debug!(%error, "the name of this process stays taken for a moment");
        }
        let released = self.members.release(SCHEDULER_LEASE, &self.own.id).await;
        if let Err(error) = released.and(self.members.leave(&self.own.id).await) {
            tracing::debug!(%error, "the others do not hear that this node ends");
        }
    }
}

/// Says that a process lives that has not begun to work, and looks whether it may: from its first ticket on the others know it, and the
/// checklist what it does.
///
/// # Errors
/// A [`crate::exit::Failure`] where it has no business beside the others: see [`OwnName::keep`] and [`neighbours::look_around`].
pub(super) fn join(node: &Node, console: &Console) -> Outcome {
    let membership = &node.membership;
    if let StoreUrl::Remote(_) = node.settings.store.url {
        membership.name.keep(&*membership.members, &node.settings.data_dir)?;
    }
    block_on(membership.say_alive(console));
    neighbours::look_around(node)?;
    if node.roles.scheduler {
        block_on(membership.ask_to_lead());
    }
    Ok(())
}

/// A start ends with an error: what it has begun, and what others have heard of it, is taken back.
pub(super) fn take_back(node: &Node, patience: &mut Patience<'_>) {
    node.shutdown.house.cancel();
    block_on(node.membership.end());
    if let Some(layers) = &*node.layers.lock() {
        layers.untie(patience);
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
