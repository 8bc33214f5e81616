//! An embedded engine on a real folder, whose owner is stepped by hand.

use std::sync::Arc;

use anyhow::ensure;
use seckill_engine_embedded::storage::{Disk, Storage};
use seckill_engine_embedded::{CompactionOptions, Embedded, Options, Sequencer, open};
use seckill_queue::{Queue as _, Verdict, Verdicts};
use seckill_sale::{
    Claim, Conclusion, Delivery, Epoch, InstallationId, ManualClock, Opened, Quantity, RequestId, Restored, Shards,
    Status, Terms, TicketState,
};
use seckill_stock::{Answer, OpenOutcome, Opening, Stock as _};
use tempfile::TempDir;

use crate::people::{NOW, WINDOW, activity, key, scattered, user};
use crate::polling::step;

/// What the sales hold before anything is counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sales {
    /// Open sales.
    pub(crate) count: usize,
    /// Buyers of each.
    pub(crate) buyers: usize,
    /// How far their tickets are.
    pub(crate) state: TicketState,
    /// Units left in each.
    pub(crate) left: u64,
}

impl Sales {
    /// One sale with settled buyers and more units than a scenario claims.
    pub(crate) const ONE: Self = Self {
        count: 1,
        buyers: 1_000,
        state: TicketState::Succeeded,
        left: 10_000,
    };
}

/// The engine and its owner. The folder goes with it.
pub(crate) struct Store<S: Storage = Disk> {
    engine: Embedded,
    sequencer: Sequencer<S>,
    _folder: TempDir,
}

impl Store {
    /// An engine with these sales.
    pub(crate) fn open(sales: Sales) -> anyhow::Result<Self> {
        Self::open_on(sales, |disk| disk)
    }
}

impl<S: Storage> Store<S> {
    /// An engine with these sales, whose storage is made from a disk.
    pub(crate) fn open_on(sales: Sales, storage: impl FnOnce(Disk) -> S) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let options = Options {
            compaction: CompactionOptions {
                in_background: false,
                ..CompactionOptions::default()
            },
            backlog_max: u64::MAX,
            ..Options::default()
        };
        let clock = Arc::new(ManualClock::at(NOW));
        let disk = Disk::open(folder.path())?;
        let opened = open(storage(disk), options, InstallationId([7; 16]), clock)?;
        let mut store = Self {
            engine: opened.engine,
            sequencer: opened.sequencer,
            _folder: folder,
        };
        for sale in 0..sales.count {
            let outcome = step(&mut store.sequencer, store.engine.open(opening(sale, sales)))?;
            ensure!(
                outcome == Ok(OpenOutcome::Created),
                "the sale was not opened: {outcome:?}"
            );
        }
        Ok(store)
    }

    /// Decides a batch in a step of its own.
    pub(crate) fn claim(&mut self, batch: Vec<Claim>) -> anyhow::Result<Vec<Answer>> {
        step(&mut self.sequencer, self.engine.claim(batch))
    }

    /// Takes tickets from the queue.
    pub(crate) fn take(&mut self, count: usize) -> anyhow::Result<Vec<Delivery>> {
        Ok(step(&mut self.sequencer, self.engine.take(count))??)
    }

    /// Records that the tickets have their orders.
    pub(crate) fn succeed(&mut self, settled_batch: u64, deliveries: &[Delivery]) -> anyhow::Result<()> {
        let verdict = Verdict::Conclude(Conclusion::Succeeded);
        let verdicts = Verdicts {
            tickets: deliveries
                .iter()
                .map(|delivery| (delivery.ticket, verdict.clone()))
                .collect(),
            settled_batch,
        };
        Ok(step(&mut self.sequencer, self.engine.record(verdicts))??)
    }
}

/// The buyers of sale `s` are the users from 0 on; they share their ids over the sales, as people do.
fn opening(sale: usize, sales: Sales) -> Opening {
    let buyers = (0..sales.buyers as u64).map(|n| Restored {
        user: user(n),
        key: key(n),
        quantity: Quantity::ONE,
        sequence: n + 1,
        epoch: Epoch::FIRST,
        accepted_at: NOW,
        state: sales.state,
        attempts: 0,
        request_id: Some(RequestId::from_bits(scattered(n))),
        dead_reason: String::new(),
    });
    let terms = Terms {
        activity: activity(sale),
        window: WINDOW,
        per_user_limit: Quantity::ONE,
        status: Status::Running,
        created_at: None,
    };
    let opened = Opened {
        terms,
        epoch: Epoch::FIRST,
        left: sales.left,
        next_sequence: sales.buyers as u64 + 1,
        applied_movement: 0,
    };
    Opening {
        opened,
        shards: Shards::ONE,
        buyers: buyers.collect(),
        replaces: None,
        grace_ms: 0,
    }
}
