//! A disk in memory for simulators and tests: it keeps the promises of a real disk and nothing beyond them.
//!
//! - A written sector is durable after its file's sync. Before, a power loss keeps or loses each sector by itself.
//! - A length is durable after the file's sync; before, it may be the old one, the new one or one between.
//! - A name is durable after the folder's sync; before, a power loss keeps or loses each creation, renaming and removal
//!   by itself, in order.
//! - A failed sync persists some sectors, and forgets that the others were never written.
//! - Space may be limited; writes may be cut short or interrupted; any operation may fail or be the last.
//!
//! All of it follows from one seed and the order of the operations. It knows no time and starts no thread.

mod content;
mod fault;
mod names;
mod state;

use std::io;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::{File, Storage};
use state::{Course, Demand, State};

pub use fault::Fault;

/// The simulated disk; clones are the same disk.
#[derive(Clone, Debug)]
pub struct Simulated {
    state: Arc<Mutex<State>>,
}

/// An open file of a [`Simulated`] disk. After a power loss or a restart of the process every operation on it fails.
#[derive(Debug)]
pub struct SimulatedFile {
    state: Arc<Mutex<State>>,
    number: u64,
    life: u64,
}

impl Simulated {
    /// An empty disk without limits, whose whims follow from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            state: Arc::new(Mutex::new(State::new(seed))),
        }
    }

    /// Operations begun so far, those without power not counted.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.state.lock().operations
    }

    /// Lets the operation of that number (the next one has the number [`Simulated::operations`]) meet a fault.
    pub fn fail(&self, operation: u64, fault: Fault) {
        self.state.lock().faults.insert(operation, fault);
    }

    /// Forgets all faults that were not met yet.
    pub fn clear_faults(&self) {
        self.state.lock().faults.clear();
    }

    /// Limits the sum of all file lengths; files that are there already may exceed it. `u64::MAX` for no limit.
    pub fn limit_space(&self, bytes: u64) {
        self.state.lock().space_bytes = bytes;
    }

    /// Bytes of all files.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.state.lock().used_bytes()
    }

    /// The power fails: what was not synced is kept or lost at random, and everything fails until
    /// [`Simulated::restart`].
    pub fn cut_power(&self) {
        self.state.lock().cut_power();
    }

    /// A new process begins, with the power on. Where it was not cut, the files are as the old process left them, and
    /// what it did not sync is still not synced. Open files of the old process fail.
    pub fn restart(&self) {
        let mut state = self.state.lock();
        state.life += 1;
        state.powered = true;
    }

    /// Whether the power is on.
    #[must_use]
    pub fn has_power(&self) -> bool {
        self.state.lock().powered
    }

    /// Names of all files in order; no operation.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.state.lock().names.list()
    }

    /// Changes a file behind everybody's back, durably; no operation. False where there is no such file.
    pub fn edit(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> bool {
        let mut state = self.state.lock();
        let Some(number) = state.names.get(name) else {
            return false;
        };
        let Some(content) = state.contents.get_mut(&number) else {
            return false;
        };
        content.edit(change);
        true
    }

    fn begin(&self, demand: Demand) -> io::Result<(MutexGuard<'_, State>, Course)> {
        let mut state = self.state.lock();
        let course = state.begin(demand)?;
        Ok((state, course))
    }

    fn open(&self, name: &str) -> io::Result<SimulatedFile> {
        let (mut state, course) = self.begin(Demand::Nothing)?;
        let (number, life) = (state.names.get(name), state.life);
        state.end(course)?;
        let number = number.ok_or(io::ErrorKind::NotFound)?;
        Ok(SimulatedFile {
            state: Arc::clone(&self.state),
            number,
            life,
        })
    }
}

impl Storage for Simulated {
    type File = SimulatedFile;

    fn list(&self) -> io::Result<Vec<String>> {
        let (mut state, course) = self.begin(Demand::Nothing)?;
        let names = state.names.list();
        state.end(course)?;
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<SimulatedFile> {
        let (mut state, course) = self.begin(Demand::Space)?;
        let number = if let Some(number) = state.names.get(name) {
            number
        } else {
            state.created += 1;
            let number = state.created;
            state.names.link(name, number);
            number
        };
        state.contents.entry(number).or_default().set_len(0);
        let life = state.life;
        state.end(course)?;
        Ok(SimulatedFile {
            state: Arc::clone(&self.state),
            number,
            life,
        })
    }

    fn open_to_write(&self, name: &str) -> io::Result<SimulatedFile> {
        self.open(name)
    }

    fn open_to_read(&self, name: &str) -> io::Result<SimulatedFile> {
        self.open(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (mut state, course) = self.begin(Demand::Space)?;
        let renamed = state.names.rename(from, to);
        state.end(course)?;
        renamed
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let (mut state, course) = self.begin(Demand::Nothing)?;
        let removed = state.names.unlink(name);
        state.end(course)?;
        removed
    }

    fn sync_folder(&self) -> io::Result<()> {
        let (mut state, course) = self.begin(Demand::Nothing)?;
        if matches!(course, Course::Normal) {
            state.names.sync();
        }
        state.end(course)
    }

    fn free_bytes(&self) -> io::Result<u64> {
        let state = self.state.lock();
        Ok(state.space_bytes.saturating_sub(state.used_bytes()))
    }
}

impl SimulatedFile {
    fn begin(&self, demand: Demand) -> io::Result<(MutexGuard<'_, State>, Course)> {
        let mut state = self.state.lock();
        if state.life != self.life {
            return Err(io::Error::other("the process that opened the file has ended"));
        }
        let course = state.begin(demand);
        if course.is_err() && demand == Demand::Sync {
            state.forget(self.number);
        }
        Ok((state, course?))
    }
}

impl File for SimulatedFile {
    fn len(&self) -> io::Result<u64> {
        let (mut state, course) = self.begin(Demand::Nothing)?;
        let len = state.content(self.number)?.len();
        state.end(course)?;
        Ok(len)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let (mut state, course) = self.begin(Demand::Read)?;
        let count = if matches!(course, Course::Short) {
            buffer.len().min(1)
        } else {
            buffer.len()
        };
        let read = state.content(self.number)?.read(&mut buffer[..count], offset);
        state.end(course)?;
        Ok(read)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let (mut state, course) = self.begin(Demand::Write)?;
        let len = state.content(self.number)?.len();
        // As on a real disk, as many bytes are written as there is space for.
        let growth_max = state.space_bytes.saturating_sub(state.used_bytes());
        let room = len.saturating_add(growth_max).saturating_sub(offset);
        let count = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let count = if matches!(course, Course::Short) {
            count.min(1)
        } else {
            count
        };
        state.content(self.number)?.write(&bytes[..count], offset);
        state.end(course)?;
        if count == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(count)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let (mut state, course) = self.begin(Demand::Space)?;
        state.content(self.number)?.set_len(len);
        state.end(course)
    }

    fn sync_data(&self) -> io::Result<()> {
        let (mut state, course) = self.begin(Demand::Sync)?;
        if matches!(course, Course::Normal) {
            state.content(self.number)?.sync();
        }
        state.end(course)
    }
}
