//! A folder on a disk that stops answering, for tests: its syncs return only when they are let go.

use std::io;
use std::sync::Arc;

use super::{Disk, DiskFile, File, Storage};
use parking_lot::{Condvar, Mutex};

/// Lets syncs return, or does not.
#[derive(Debug, Default)]
pub struct Latch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_shut: bool,
    /// Whether a sync has come to the shut latch.
    has_hung: bool,
}

impl Latch {
    /// Whether the disk hangs from now on.
    pub fn shut(&self, is_shut: bool) {
        self.state.lock().is_shut = is_shut;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let mut state = self.state.lock();
        while state.is_shut {
            state.has_hung = true;
            self.changed.notify_all();
            self.changed.wait(&mut state);
        }
    }

    /// Returns when a sync hangs, or has hung.
    pub fn wait_until_somebody_hangs(&self) {
        let mut state = self.state.lock();
        while !state.has_hung {
            self.changed.wait(&mut state);
        }
    }
}

/// The folder, and what its syncs have to pass.
#[derive(Clone, Debug)]
pub struct Hanging(pub Disk, pub Arc<Latch>);

/// An open file of it.
#[derive(Debug)]
pub struct HangingFile(DiskFile, Arc<Latch>);

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
    fn free_bytes(&self) -> io::Result<u64> {
        self.0.free_bytes()
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
