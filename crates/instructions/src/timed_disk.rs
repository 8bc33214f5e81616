//! A real disk whose calls are timed, so that what it takes can be told from what the engine takes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use seckill_engine_embedded::storage::{Disk, DiskFile, File, Storage};

use crate::growth::Watch;

/// Time spent in calls of a disk.
#[derive(Debug, Default)]
pub(crate) struct Spent {
    elapsed_ns: AtomicU64,
    cpu_ns: AtomicU64,
}

impl Spent {
    /// On the clock, and on a core.
    pub(crate) fn so_far(&self) -> (Duration, Duration) {
        let read = |cell: &AtomicU64| Duration::from_nanos(cell.load(Ordering::Relaxed));
        (read(&self.elapsed_ns), read(&self.cpu_ns))
    }

    fn time<T>(&self, call: impl FnOnce() -> T) -> T {
        let watch = Watch::start();
        let outcome = call();
        let (elapsed, cpu) = watch.read();
        let add = |cell: &AtomicU64, time: Duration| {
            cell.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        };
        add(&self.elapsed_ns, elapsed);
        add(&self.cpu_ns, cpu);
        outcome
    }
}

/// The disk.
#[derive(Clone)]
pub(crate) struct TimedDisk {
    pub(crate) disk: Disk,
    pub(crate) spent: Arc<Spent>,
}

/// An open file of it.
pub(crate) struct TimedFile {
    file: DiskFile,
    spent: Arc<Spent>,
}

impl TimedDisk {
    fn file(&self, open: impl FnOnce(&Disk) -> io::Result<DiskFile>) -> io::Result<TimedFile> {
        let file = self.spent.time(|| open(&self.disk))?;
        Ok(TimedFile {
            file,
            spent: self.spent.clone(),
        })
    }
}

impl Storage for TimedDisk {
    type File = TimedFile;

    fn list(&self) -> io::Result<Vec<String>> {
        self.spent.time(|| self.disk.list())
    }

    fn create(&self, name: &str) -> io::Result<TimedFile> {
        self.file(|disk| disk.create(name))
    }

    fn open_to_write(&self, name: &str) -> io::Result<TimedFile> {
        self.file(|disk| disk.open_to_write(name))
    }

    fn open_to_read(&self, name: &str) -> io::Result<TimedFile> {
        self.file(|disk| disk.open_to_read(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.spent.time(|| self.disk.rename(from, to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.spent.time(|| self.disk.remove(name))
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.spent.time(|| self.disk.sync_folder())
    }

    fn free_bytes(&self) -> io::Result<u64> {
        self.disk.free_bytes()
    }
}

impl File for TimedFile {
    fn len(&self) -> io::Result<u64> {
        self.spent.time(|| self.file.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.spent.time(|| self.file.read_at(buffer, offset))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.spent.time(|| self.file.write_at(bytes, offset))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.spent.time(|| self.file.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.spent.time(|| self.file.sync_data())
    }
}
