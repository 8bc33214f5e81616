//! The embedded engine on a thread of its own, over a real disk; it ends with its value. The test suites of `flow` and `console` take this
//! very file in by its path: they may name the engine, but a crate for tests would be a new edge for forty lines.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use seckill_engine_embedded::storage::Disk;
use seckill_engine_embedded::{Embedded, Options, open};
use seckill_sale::{InstallationId, ManualClock};

pub(crate) struct Engine {
    pub(crate) handle: Embedded,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    pub(crate) fn start(folder: &Path, clock: Arc<ManualClock>) -> Self {
        std::fs::create_dir_all(folder).expect("a folder");
        let storage = Disk::open(folder).expect("a folder");
        let opened = open(storage, small(), InstallationId([1; 16]), clock).expect("the journal opens");
        let sequencer = opened.sequencer;
        let thread = Some(std::thread::spawn(move || sequencer.run()));
        Self {
            handle: opened.engine,
            thread,
        }
    }
}

/// Options that take little of the disk.
pub(crate) fn small() -> Options {
    let mut options = Options::default();
    options.journal.segment_bytes = 8 << 20;
    options.journal.allocate_bytes = 1 << 20;
    options.journal.frame_bytes_max = 1 << 20;
    options
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the sequencer ends");
        }
    }
}
