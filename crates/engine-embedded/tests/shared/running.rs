//! The embedded engine on a thread of its own, over a real disk; it ends with its value. The test suites of `flow` and `console` take this
//! very file in by its path: they may name the engine, but a crate for tests would be a new edge for forty lines.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use seckill_engine_embedded::storage::Disk;
use seckill_engine_embedded::storage::hanging::{Hanging, Latch};
use seckill_engine_embedded::{Embedded, Options, Sequencer, open};
use seckill_sale::{InstallationId, ManualClock};

pub(crate) struct Engine {
    pub(crate) handle: Embedded,
    pub(crate) disk: Arc<Latch>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    pub(crate) fn start(folder: &Path, clock: Arc<ManualClock>) -> Self {
        Self::start_after(folder, clock, |_| ()).0
    }

    /// `first` has the sequencer before its thread has it.
    pub(crate) fn start_after<T>(
        folder: &Path,
        clock: Arc<ManualClock>,
        first: impl FnOnce(&mut Sequencer<Hanging>) -> T,
    ) -> (Self, T) {
        std::fs::create_dir_all(folder).expect("a folder");
        let disk = Arc::new(Latch::default());
        let opened = open(
            Hanging(Disk::open(folder).expect("a folder"), disk.clone()),
            small(),
            InstallationId([1; 16]),
            clock,
        );
        let opened = opened.expect("the journal opens");
        let mut sequencer = opened.sequencer;
        let done = first(&mut sequencer);
        let thread = Some(std::thread::spawn(move || sequencer.run()));
        let started = Self {
            handle: opened.engine,
            disk,
            thread,
        };
        (started, done)
    }
}

/// Options that take little of the disk, and all of it at the start: a sync that hangs is then a frame's.
pub(crate) fn small() -> Options {
    let mut options = Options::default();
    options.journal.segment_bytes = 4 << 20;
    options.journal.allocate_bytes = 4 << 20;
    options.journal.frame_bytes_max = 1 << 20;
    options
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
