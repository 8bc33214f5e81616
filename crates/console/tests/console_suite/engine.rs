//! A running store on a thread of its own; it ends with its value.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use seckill_engine_embedded::storage::Disk;
use seckill_engine_embedded::storage::hanging::{Gate, Hanging};
use seckill_engine_embedded::{Embedded, Options, open};
use seckill_queue::Queue;
use seckill_sale::{ActivityId, InstallationId, ManualClock};
use seckill_stock::Stock;

pub(crate) type JoinTask = tokio::task::JoinHandle<Result<(), seckill_stock::Error>>;

fn nobodys() -> ActivityId {
    ActivityId::new(ActivityId::MAX).expect("in range")
}

pub(crate) struct Engine {
    pub(crate) handle: Embedded,
    pub(crate) disk: Arc<Gate>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    pub(crate) fn start(folder: &Path, clock: Arc<ManualClock>) -> Self {
        let mut options = Options::default();
        options.journal.segment_bytes = 8 << 20;
        options.journal.allocate_bytes = 1 << 20;
        options.journal.frame_bytes_max = 1 << 20;
        std::fs::create_dir_all(folder).expect("a folder");
        let disk = Arc::new(Gate::default());
        let opened = open(
            Hanging(Disk::open(folder).expect("a folder"), disk.clone()),
            options,
            InstallationId([1; 16]),
            clock,
        );
        let opened = opened.expect("the journal opens");
        let sequencer = opened.sequencer;
        let thread = Some(std::thread::spawn(move || sequencer.run()));
        Self {
            handle: opened.engine,
            disk,
            thread,
        }
    }

    /// The disk stops answering, and the store knows.
    pub(crate) async fn hang(&self) {
        self.disk.shut(true);
        let impatient = self.handle.clone().answering_within(Duration::from_millis(1));
        assert!(impatient.forget(nobodys()).await.is_err(), "it is to be written");
        assert!(impatient.hangs());
    }

    /// The disk stops answering in the middle of a write that nobody bounds.
    pub(crate) async fn stick(&self) -> JoinTask {
        self.disk.shut(true);
        let store = self.handle.clone();
        let stuck = tokio::spawn(async move { store.forget(nobodys()).await });
        tokio::task::yield_now().await;
        self.disk.wait_until_somebody_hangs();
        stuck
    }

    /// The disk answers again; what was handed over is done.
    pub(crate) async fn answer_again(&self) {
        self.disk.shut(false);
        let none = self.handle.take(1).await.expect("taken");
        assert!(none.is_empty() && !self.handle.hangs());
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // A test that failed while the disk hung ends, too.
        self.disk.shut(false);
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the sequencer ends");
        }
    }
}
