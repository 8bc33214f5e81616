//! The one owner of all sales: decides, writes the journal, and only then answers.
//!
//! ```text
//! inbox ─▶ reserve space ─▶ decide and apply each command ─▶ one journal frame, synced ─▶ publish views ─▶ replies
//! ```
//! Whatever gathers in the inbox while a frame is on its way to the disk is the next batch: no timer, no waiting for company.
//! A frame that fails leaves the outcome unknown; from then on nothing is admitted until the process is restarted.

use hashbrown::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use seckill_queue::Depth;
use seckill_sale::{EpochMs, WaitsMax};

use crate::ahead::Ahead;
use crate::backlog::Backlog;
use crate::command::Command;
use crate::compactor::Compactor;
use crate::inbox::Inbox;
use crate::journal::{self, Journal, footprint};
use crate::observer::Observer;
use crate::replies::Replies;
use crate::shared::Shared;
use crate::state::State;
use crate::storage::Storage;
use crate::turn::{Limits, Space, Turn};

/// Owner of the state and the journal. [`Sequencer::run`] drives it on a thread; a simulator calls [`Sequencer::step`].
pub struct Sequencer<S: Storage> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) state: State,
    pub(crate) journal: Journal<S>,
    pub(crate) compactor: Compactor,
    pub(crate) frame_bytes_max: usize,
    pub(crate) waits: WaitsMax,
    pub(crate) frame: Vec<u8>,
    pub(crate) newest_accepted_at: Option<EpochMs>,
    pub(crate) observer: Option<Observer>,
    pub(crate) ahead: Ahead,
}

impl<S: Storage> Sequencer<S> {
    /// Longest sleep without a command, so that returns and leases are noticed.
    const IDLE_WAIT_MAX: Duration = Duration::from_millis(500);
    /// Space that stays free for results and retries when the disk is full: admissions are refused before it is touched.
    const RESULTS_RESERVE_BYTES: u64 = 1 << 20;

    /// Whether no sale has a state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.sales().next().is_none()
    }

    /// Works until the inbox is closed and empty.
    pub fn run(mut self) {
        while self.inbox.wait(self.idle_wait()) {
            self.step();
        }
    }

    /// Does everything that waits now as one batch; says whether there was anything.
    pub fn step(&mut self) -> bool {
        let mut commands = self.inbox.take();
        let any = !commands.is_empty();
        while !commands.is_empty() {
            let size = commands.len();
            let rest = self.batch(commands);
            commands = rest;
            assert!(commands.len() < size, "a batch always does at least one command");
        }
        if !any {
            // Time alone can make a ticket takable again.
            self.publish();
            self.state.forget_permits(self.shared.clock.now());
            self.take_space_ahead();
        }
        self.compactor.consider(&self.journal);
        any
    }

    /// Does as many commands as one frame holds, and gives the rest back.
    fn batch(&mut self, mut commands: Vec<Command>) -> Vec<Command> {
        let mut bytes = 0;
        let fits = commands.iter().take_while(|command| {
            bytes += command.bytes_max();
            bytes <= self.frame_bytes_max
        });
        let count = fits.count().max(1);
        let rest = commands.split_off(count);
        let bytes: usize = commands.iter().map(Command::bytes_max).sum();
        let space = self.reserve(bytes);
        let limits = Limits {
            backlog: Backlog::new(self.shared.backlog_max(), self.shared.held_back()),
            others: self.shared.others.all(),
            waits: self.waits,
            frame_bytes_max: self.frame_bytes_max,
        };
        let began = self.began(bytes);
        let mut turn = Turn::new(self.shared.clock.now(), space, limits, std::mem::take(&mut self.frame));
        let mut replies = Replies::default();
        for command in commands {
            turn.execute(command, &mut self.state, &mut self.journal, &mut replies);
        }
        self.newest_accepted_at = turn.newest_accepted_at().or(self.newest_accepted_at);
        let committed = turn.commit(&mut self.journal);
        self.ended(began);
        self.shared.count_batch();
        if !committed {
            self.shared.set_broken();
        }
        self.publish();
        if committed && turn.sales_changed() {
            self.publish_views();
        }
        self.frame = turn.into_frame();
        replies.send(committed);
        rest
    }

    /// Tells everybody where the journal has stopped: nothing is admitted from now on.
    pub(crate) fn tell_if_broken(&self) {
        if self.journal.is_broken() {
            self.shared.set_broken();
        }
    }

    /// Makes space for a frame of `bytes`, and says what there is space for.
    fn reserve(&mut self, bytes: usize) -> Space {
        if bytes == 0 {
            return Space::Enough;
        }
        let wanted = footprint(bytes);
        if self.journal.reserve(wanted + Self::RESULTS_RESERVE_BYTES).is_ok() {
            return Space::Enough;
        }
        match self.journal.reserve(wanted) {
            Ok(()) => Space::ResultsOnly,
            Err(journal::Error::Full) => Space::Full,
            Err(error) => {
                tracing::error!(%error, "the journal cannot make space");
                Space::Full
            }
        }
    }

    /// Publishes which sales there are; after a replay, and when sales come or go.
    pub(crate) fn publish_views(&self) {
        let views: HashMap<_, _> = self
            .state
            .sales()
            .map(|(activity, sale)| (activity, sale.view().clone()))
            .collect();
        self.shared.set_views(views);
    }

    /// Publishes what has changed of the sales, where it is durable, and the depth of the queue; one pass over all sales.
    pub(crate) fn publish(&self) {
        let durable = !self.shared.is_broken();
        let mut depth = Depth {
            tickets: self.state.queued_tickets(),
            newest_accepted_at: self.newest_accepted_at,
            ..Depth::default()
        };
        let now = self.shared.clock.now();
        let others = self.shared.others.all();
        let mut takable = false;
        for (_, sale) in self.state.sales() {
            if durable {
                sale.publish();
            }
            depth.dead += sale.dead_tickets() as u64;
            if sale.queued_tickets() == 0 {
                continue;
            }
            let waits_since = sale.view().oldest_accepted_at();
            if let Some(at) = waits_since.filter(|&at| depth.oldest_accepted_at.is_none_or(|oldest| at < oldest)) {
                depth.oldest_accepted_at = Some(at);
            }
            let is_own = || !others.contains(&sale.terms().activity);
            takable = takable || is_own() && sale.is_takable(now, self.waits);
        }
        self.shared.set_depth(&depth);
        self.shared.set_takable(takable);
        let stats = self.journal.stats();
        let bytes = stats.live_bytes + stats.sealed_bytes + stats.snapshot_bytes;
        let written = &self.shared.written;
        written.journal_bytes.store(bytes, Ordering::Relaxed);
        written.acknowledged.store(self.state.acknowledged(), Ordering::Relaxed);
    }

    /// Until the next ticket comes back, or a while.
    fn idle_wait(&self) -> Duration {
        let now = self.shared.clock.now();
        let due = self
            .state
            .sales()
            .filter_map(|(_, sale)| sale.next_due(now, self.waits))
            .min();
        let wait_ms = due.map_or(i64::MAX, |at| at.since(now).max(0));
        self.sleep(Duration::from_millis(wait_ms.unsigned_abs()).min(Self::IDLE_WAIT_MAX))
    }
}
