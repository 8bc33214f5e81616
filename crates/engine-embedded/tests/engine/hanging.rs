//! A store that doesn't answer: the real engine on a disk whose syncs return only when they are let go.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use seckill_engine_embedded::storage::{Disk, DiskFile, File, Storage};
use seckill_engine_embedded::{Options, open};
use seckill_sale::{InstallationId, ManualClock, Refusal};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Batcher, Bounds, Stock};
use tempfile::TempDir;
use tokio::task::yield_now;

use crate::support::block_on;

/// The runtime looks at its timers only where it has nothing else to do: nothing below depends on how long this is.
const LIMIT: Duration = Duration::from_millis(50);

#[derive(Default)]
struct Gate {
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

impl Gate {
    fn shut(&self, shut: bool) {
        self.state.lock().0 = shut;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let mut state = self.state.lock();
        while state.0 {
            state.1 = true;
            self.changed.notify_all();
            self.changed.wait(&mut state);
        }
    }

    fn wait_until_somebody_hangs(&self) {
        let mut state = self.state.lock();
        while !state.1 {
            self.changed.wait(&mut state);
        }
    }
}

#[derive(Clone)]
struct Hanging(Disk, Arc<Gate>);

struct HangingFile(DiskFile, Arc<Gate>);

impl Hanging {
    fn file(&self, file: io::Result<DiskFile>) -> io::Result<HangingFile> {
        Ok(HangingFile(file?, self.1.clone()))
    }
}

impl Storage for Hanging {
    type File = HangingFile;
    fn list(&self) -> io::Result<Vec<String>> {
        self.0.list()
    }
    fn create(&self, name: &str) -> io::Result<HangingFile> {
        self.file(self.0.create(name))
    }
    fn open_to_write(&self, name: &str) -> io::Result<HangingFile> {
        self.file(self.0.open_to_write(name))
    }
    fn open_to_read(&self, name: &str) -> io::Result<HangingFile> {
        self.file(self.0.open_to_read(name))
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }
    fn sync_folder(&self) -> io::Result<()> {
        self.0.sync_folder()
    }
}

impl File for HangingFile {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.0.write_at(bytes, offset)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.1.pass();
        self.0.sync_data()
    }
}

#[test]
fn hanging_store_keeps_nobody_waiting() {
    let (folder, gate) = (TempDir::new().expect("a folder"), Arc::new(Gate::default()));
    let storage = Hanging(Disk::open(folder.path()).expect("a folder"), gate.clone());
    let clock = Arc::new(ManualClock::at(Fixture::OPENS));
    let mut options = Options::default();
    options.journal.segment_bytes = 8 << 20;
    // All of it at the start, so that the one sync that hangs is the frame's.
    options.journal.allocate_bytes = 8 << 20;
    options.journal.frame_bytes_max = 1 << 20;
    let opened = open(storage, options, InstallationId([1; 16]), clock).expect("the journal opens");
    let (engine, sequencer) = (opened.engine, opened.sequencer);
    let thread = std::thread::spawn(move || sequencer.run());
    block_on(engine.open(Fixture::opening(Fixture::activity(), 10))).expect("opened");
    block_on(async {
        let bounds = Bounds {
            waiting_max: 10,
            wait_ms_max: i64::MAX,
            answer_within: Some(LIMIT),
        };
        let (batcher, claims) = Batcher::bounded(Arc::new(engine.clone()), bounds);
        tokio::spawn(batcher.run());
        let ask = |user: &'static str| {
            let claims = claims.clone();
            tokio::spawn(async move { claims.claim(Fixture::claim(user, 1, 1)).await })
        };
        gate.shut(true);
        let told = ask("told");
        yield_now().await;
        yield_now().await;
        gate.wait_until_somebody_hangs();
        let untold = ask("untold");
        yield_now().await;
        assert_eq!(
            told.await.expect("ended"),
            Err(Refusal::OutcomeUnknown),
            "the store has it"
        );
        assert_eq!(
            untold.await.expect("ended"),
            Err(Refusal::Busy),
            "the store was never told"
        );
    });
    gate.shut(false);
    let buyer = |user: &str| block_on(engine.buyer(Fixture::activity(), &Fixture::claim(user, 1, 1).user));
    // Figures come behind everything that waits: then the frame is through.
    let figures = block_on(engine.figures(Fixture::activity()))
        .expect("answers")
        .expect("there");
    assert_eq!(figures.stock_left, 9, "the claim of unknown outcome was decided");
    assert!(buyer("told").expect("answers").is_some());
    assert!(buyer("untold").expect("answers").is_none());
    engine.close();
    thread.join().expect("the sequencer ends");
}
