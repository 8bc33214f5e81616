//! A running engine in a temporary folder, and its restart.

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use seckill_engine_embedded::journal::Journal;
use seckill_engine_embedded::storage::Disk;
use seckill_engine_embedded::storage::hanging::Hanging;
use seckill_engine_embedded::{Embedded, Sequencer, compact};
use seckill_sale::{ActivityId, Claim, ManualClock, Ticket, TicketState, UserId};
use seckill_stock::conformance::Fixture;
use seckill_stock::{OpenOutcome, Stock};
use tempfile::TempDir;

use crate::running;

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(future)
}

/// An engine on a thread of its own; ends with it.
pub struct Engine {
    /// Before its folder: it ends first.
    running: running::Engine,
    pub engine: Embedded,
    pub clock: Arc<ManualClock>,
    pub folder: Arc<TempDir>,
}

impl Engine {
    pub fn start() -> Self {
        Self::start_in(Arc::new(TempDir::new().expect("a folder")))
    }

    pub fn start_in(folder: Arc<TempDir>) -> Self {
        let clock = Arc::new(ManualClock::at(Fixture::OPENS));
        let running = running::Engine::start(folder.path(), clock.clone());
        Self::of(running, folder, clock)
    }

    /// `first` has the sequencer before its thread has it.
    fn start_after<T>(folder: Arc<TempDir>, first: impl FnOnce(&mut Sequencer<Hanging>) -> T) -> (Self, T) {
        let clock = Arc::new(ManualClock::at(Fixture::OPENS));
        let (running, done) = running::Engine::start_after(folder.path(), clock.clone(), first);
        (Self::of(running, folder, clock), done)
    }

    fn of(running: running::Engine, folder: Arc<TempDir>, clock: Arc<ManualClock>) -> Self {
        Self {
            engine: running.handle.clone(),
            running,
            clock,
            folder,
        }
    }

    /// The disk stops answering, or answers again.
    pub fn hang(&self, hangs: bool) {
        self.running.disk.shut(hangs);
    }

    /// Stops the engine and starts another one on the same folder.
    pub fn restart(self) -> Self {
        drop(self.running);
        let now = seckill_sale::Clock::now(&*self.clock);
        let next = Self::start_in(self.folder);
        next.clock.set(now);
        next
    }

    /// Stops the engine, compacts its journal as the background thread would, and starts it again.
    pub fn compacted(self) -> Self {
        drop(self.running);
        let storage = Disk::open(self.folder.path()).expect("a folder");
        let opened =
            Journal::create_or_open(storage, running::small().journal, [1; 16], &mut |_, _| Ok(())).expect("opens");
        let mut journal = opened.journal;
        journal.seal().expect("sealed");
        let compaction = journal.compaction().expect("a sealed segment");
        compact(compaction).expect("compacted");
        assert_eq!(journal.stats().sealed_bytes, 0);
        drop(journal);
        Self::start_in(self.folder)
    }

    /// Starts the engine again with a compaction begun, which is carried out after `meanwhile`.
    pub fn compacted_beside(self, meanwhile: impl FnOnce(&Self)) -> Self {
        drop(self.running);
        let (next, compaction) = Self::start_after(self.folder, |sequencer| {
            let begun = sequencer.begin_compaction().expect("sealed").expect("a sealed segment");
            assert!(sequencer.begin_compaction().expect("sealed").is_none(), "one runs");
            begun
        });
        meanwhile(&next);
        compact(compaction).expect("compacted");
        next
    }

    /// For conformance: the folder and the thread live as long as the process.
    pub fn fixture(self) -> Fixture {
        let fixture = Fixture {
            stock: Arc::new(self.engine.clone()),
            clock: self.clock.clone(),
            shards: seckill_sale::Shards::ONE,
        };
        std::mem::forget(self);
        fixture
    }
}

impl Engine {
    /// For the conformance of members.
    pub fn members_fixture(self) -> seckill_stock::members::conformance::Fixture {
        let fixture = seckill_stock::members::conformance::Fixture {
            members: Arc::new(self.engine.clone()),
            clock: self.clock.clone(),
        };
        std::mem::forget(self);
        fixture
    }

    /// For the queue's conformance: two sales are open.
    pub fn queue_fixture(self) -> seckill_queue::conformance::Fixture {
        let engine = self.engine.clone();
        block_on(async {
            for id in [7, 8] {
                let activity = ActivityId::new(id).expect("in range");
                let outcome = engine.open(Fixture::opening(activity, 100)).await;
                assert_eq!(outcome, Ok(OpenOutcome::Created));
            }
        });
        let clock = self.clock.clone();
        std::mem::forget(self);
        let queue = Arc::new(engine.clone());
        seckill_queue::conformance::Fixture {
            queue,
            front: Arc::new(Front(engine)),
            clock,
            shards: seckill_sale::Shards::ONE,
        }
    }
}

struct Front(Embedded);

#[async_trait]
impl seckill_queue::conformance::Front for Front {
    async fn buy(&self, activity: ActivityId, users: &[&str]) -> Vec<Ticket> {
        let claims = users
            .iter()
            .map(|user| Claim {
                activity,
                ..Fixture::claim(user, 1, 1)
            })
            .collect();
        let answers = self.0.claim(claims).await;
        answers
            .into_iter()
            .map(|answer| answer.expect("admitted").ticket)
            .collect()
    }

    async fn state(&self, activity: ActivityId, user: &UserId) -> Option<TicketState> {
        self.0
            .buyer(activity, user)
            .await
            .expect("answers")
            .map(|buyer| buyer.state)
    }

    async fn left(&self, activity: ActivityId) -> u64 {
        self.0
            .figures(activity)
            .await
            .expect("answers")
            .expect("has a state")
            .stock_left
    }
}
