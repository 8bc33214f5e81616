//! A running engine in a temporary folder, and its restart.

use std::future::Future;
use std::sync::Arc;
use std::thread::JoinHandle;

use async_trait::async_trait;
use seckill_engine_embedded::journal::Journal;
use seckill_engine_embedded::storage::Disk;
use seckill_engine_embedded::{Embedded, Options, Sequencer, compact, open};
use seckill_sale::{ActivityId, Claim, InstallationId, ManualClock, Ticket, TicketState, UserId};
use seckill_stock::conformance::Fixture;
use seckill_stock::{OpenOutcome, Stock};
use tempfile::TempDir;

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(future)
}

/// An engine on a thread of its own; ends with it.
pub struct Engine {
    pub engine: Embedded,
    pub clock: Arc<ManualClock>,
    pub folder: Arc<TempDir>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    pub fn start() -> Self {
        Self::start_in(Arc::new(TempDir::new().expect("a folder")))
    }

    pub fn start_in(folder: Arc<TempDir>) -> Self {
        Self::start_after(folder, |_| ()).0
    }

    /// `first` has the sequencer before its thread has it.
    fn start_after<T>(folder: Arc<TempDir>, first: impl FnOnce(&mut Sequencer<Disk>) -> T) -> (Self, T) {
        let clock = Arc::new(ManualClock::at(Fixture::OPENS));
        let options = Self::options();
        let storage = Disk::open(folder.path()).expect("a folder");
        let opened = open(storage, options, InstallationId([1; 16]), clock.clone()).expect("the journal opens");
        let mut sequencer = opened.sequencer;
        let done = first(&mut sequencer);
        let thread = Some(std::thread::spawn(move || sequencer.run()));
        let started = Self {
            engine: opened.engine,
            clock,
            folder,
            thread,
        };
        (started, done)
    }

    /// Stops the engine and starts another one on the same folder.
    pub fn restart(mut self) -> Self {
        self.stop();
        let now = seckill_sale::Clock::now(&*self.clock);
        let next = Self::start_in(self.folder.clone());
        next.clock.set(now);
        next
    }

    /// Stops the engine, compacts its journal as the background thread would, and starts it again.
    pub fn compacted(mut self) -> Self {
        self.stop();
        let storage = Disk::open(self.folder.path()).expect("a folder");
        let options = Self::options();
        let opened = Journal::create_or_open(storage, options.journal, [1; 16], &mut |_, _| Ok(())).expect("opens");
        let mut journal = opened.journal;
        journal.seal().expect("sealed");
        let compaction = journal.compaction().expect("a sealed segment");
        compact(compaction).expect("compacted");
        assert_eq!(journal.stats().sealed_bytes, 0);
        drop(journal);
        Self::start_in(self.folder.clone())
    }

    /// Starts the engine again with a compaction begun, which is carried out after `meanwhile`.
    pub fn compacted_beside(mut self, meanwhile: impl FnOnce(&Self)) -> Self {
        self.stop();
        let (next, compaction) = Self::start_after(self.folder.clone(), |sequencer| {
            let begun = sequencer.begin_compaction().expect("sealed").expect("a sealed segment");
            assert!(sequencer.begin_compaction().expect("sealed").is_none(), "one runs");
            begun
        });
        meanwhile(&next);
        compact(compaction).expect("compacted");
        next
    }

    fn options() -> Options {
        let mut options = Options::default();
        options.journal.segment_bytes = 8 << 20;
        options.journal.allocate_bytes = 1 << 20;
        options.journal.frame_bytes_max = 1 << 20;
        options
    }

    fn stop(&mut self) {
        self.engine.close();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the sequencer ends");
        }
    }

    /// For conformance: the folder and the thread live as long as the process.
    pub fn fixture(self) -> Fixture {
        let fixture = Fixture {
            stock: Arc::new(self.engine.clone()),
            clock: self.clock.clone(),
        };
        std::mem::forget(self);
        fixture
    }
}

impl Engine {
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

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop();
    }
}
