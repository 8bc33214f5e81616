//! What every core reads without asking the sequencer: the views of all sales, the depth of the queue, whether the journal stands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use hashbrown::HashMap;
use seckill_queue::{Depth, SaleDepth};
use seckill_sale::{ActivityId, Clock, EpochMs, SaleView};
use tokio::sync::Notify;

use crate::embedded_members::InMemory;
use crate::others::Others;

pub(crate) type Views = HashMap<ActivityId, Arc<SaleView>>;

pub(crate) struct Shared {
    pub(crate) clock: Arc<dyn Clock>,
    views: ArcSwap<Views>,
    broken: AtomicBool,
    broke: Notify,
    backlog_max: AtomicU64,
    held_back: ArcSwap<BTreeSet<ActivityId>>,
    pub(crate) others: Others,
    ready: Notify,
    pub(crate) members: InMemory,
    /// Batches that had ended when somebody waited for the next one in vain; [`u64::MAX`]: never.
    pub(crate) hung_at: AtomicU64,
    /// Written with every frame, so it shares no cache line with what every request reads.
    pub(crate) written: Written,
}

/// What the sequencer writes with every frame.
#[repr(align(128))]
pub(crate) struct Written {
    depth: SharedDepth,
    takable: AtomicBool,
    batches_ended: AtomicU64,
    pub(crate) acknowledged: AtomicU64,
    pub(crate) journal_bytes: AtomicU64,
}

const NEVER: i64 = i64::MIN;

struct SharedDepth {
    tickets: AtomicU64,
    dead: AtomicU64,
    oldest_accepted_at: AtomicI64,
    newest_accepted_at: AtomicI64,
}

impl Shared {
    pub(crate) fn new(clock: Arc<dyn Clock>, backlog_max: u64) -> Self {
        Self {
            clock,
            views: ArcSwap::default(),
            broken: AtomicBool::new(false),
            broke: Notify::new(),
            backlog_max: AtomicU64::new(backlog_max),
            held_back: ArcSwap::default(),
            others: Others::default(),
            ready: Notify::new(),
            members: InMemory::default(),
            hung_at: AtomicU64::new(u64::MAX),
            written: Written {
                depth: SharedDepth {
                    tickets: AtomicU64::new(0),
                    dead: AtomicU64::new(0),
                    oldest_accepted_at: AtomicI64::new(NEVER),
                    newest_accepted_at: AtomicI64::new(NEVER),
                },
                takable: AtomicBool::new(false),
                batches_ended: AtomicU64::new(0),
                acknowledged: AtomicU64::new(0),
                journal_bytes: AtomicU64::new(0),
            },
        }
    }

    pub(crate) fn view(&self, activity: ActivityId) -> Option<Arc<SaleView>> {
        self.views.load().get(&activity).cloned()
    }

    /// Reads a view without counting a reference up: for the hot path. The state of another sale is none.
    pub(crate) fn with_view<T>(&self, activity: ActivityId, read: impl FnOnce(Option<&SaleView>) -> T) -> T {
        if self.others.contain(activity) {
            return read(None);
        }
        read(self.views.load().get(&activity).map(Arc::as_ref))
    }

    /// Takes up when each sale of the ledger was created.
    pub(crate) fn set_created(&self, created: BTreeMap<ActivityId, EpochMs>) {
        self.others.set_created(created, &self.views);
    }

    pub(crate) fn set_views(&self, views: Views) {
        self.views.store(Arc::new(views));
        self.others.look_again(&self.views);
    }

    pub(crate) fn depth(&self) -> Depth {
        let at = |value: &AtomicI64| {
            let ms = value.load(Ordering::Acquire);
            (ms != NEVER).then_some(EpochMs(ms))
        };
        Depth {
            tickets: self.written.depth.tickets.load(Ordering::Acquire),
            oldest_accepted_at: at(&self.written.depth.oldest_accepted_at),
            newest_accepted_at: at(&self.written.depth.newest_accepted_at),
            dead: self.written.depth.dead.load(Ordering::Acquire),
        }
    }

    /// Of each sale.
    pub(crate) fn depths(&self) -> Vec<SaleDepth> {
        let depth = |view: &Arc<SaleView>| SaleDepth {
            activity: view.activity(),
            in_queue: view.in_queue(),
            oldest_accepted_at: view.oldest_accepted_at(),
        };
        self.views.load().values().map(depth).collect()
    }

    pub(crate) fn set_depth(&self, depth: &Depth) {
        let ms = |at: Option<EpochMs>| at.map_or(NEVER, |at| at.0);
        self.written.depth.tickets.store(depth.tickets, Ordering::Release);
        self.written.depth.dead.store(depth.dead, Ordering::Release);
        self.written
            .depth
            .oldest_accepted_at
            .store(ms(depth.oldest_accepted_at), Ordering::Release);
        self.written
            .depth
            .newest_accepted_at
            .store(ms(depth.newest_accepted_at), Ordering::Release);
    }

    pub(crate) fn backlog_max(&self) -> u64 {
        self.backlog_max.load(Ordering::Relaxed)
    }

    pub(crate) fn set_backlog_max(&self, tickets: u64) {
        self.backlog_max.store(tickets, Ordering::Relaxed);
    }

    /// Sales that admit nobody since too many of their tickets wait, or one for too long.
    pub(crate) fn held_back(&self) -> Arc<BTreeSet<ActivityId>> {
        self.held_back.load_full()
    }

    pub(crate) fn set_held_back(&self, sales: BTreeSet<ActivityId>) {
        self.held_back.store(Arc::new(sales));
    }

    /// Batches of the sequencer that have ended, written or not.
    pub(crate) fn batches_ended(&self) -> u64 {
        self.written.batches_ended.load(Ordering::Acquire)
    }

    /// To be called by the sequencer alone.
    pub(crate) fn count_batch(&self) {
        self.written
            .batches_ended
            .store(self.batches_ended() + 1, Ordering::Release);
    }

    /// Says whether tickets can be taken, and wakes workers where they can.
    pub(crate) fn set_takable(&self, takable: bool) {
        let before = self.written.takable.swap(takable, Ordering::SeqCst);
        if takable && !before {
            self.ready.notify_waiters();
        }
    }

    pub(crate) async fn ready(&self) {
        loop {
            let notified = self.ready.notified();
            tokio::pin!(notified);
            notified.as_mut().enable();
            if self.written.takable.load(Ordering::SeqCst) {
                return;
            }
            notified.await;
        }
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    pub(crate) fn set_broken(&self) {
        self.broken.store(true, Ordering::Release);
        self.broke.notify_waiters();
    }

    pub(crate) async fn broke(&self) {
        loop {
            let notified = self.broke.notified();
            tokio::pin!(notified);
            notified.as_mut().enable();
            if self.is_broken() {
                return;
            }
            notified.await;
        }
    }
}
