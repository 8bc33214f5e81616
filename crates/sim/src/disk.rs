//! The simulated disk of the engine, with three lies that it does not tell by itself.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use seckill_engine_embedded::storage::simulated::{Simulated, SimulatedFile};
use seckill_engine_embedded::storage::{File, Storage};

use crate::fault::Fault;
use crate::weather::Weather;

/// What the last write to a file has overwritten.
#[derive(Debug)]
struct Overwritten {
    offset: u64,
    bytes: Vec<u8>,
}

/// The disk under the journal.
#[derive(Clone)]
pub(crate) struct Disk {
    pub(crate) inner: Simulated,
    weather: Arc<Weather>,
    overwritten: Arc<Mutex<BTreeMap<String, Overwritten>>>,
}

/// An open file of it.
pub(crate) struct DiskFile {
    inner: SimulatedFile,
    name: String,
    disk: Disk,
}

impl Disk {
    pub(crate) fn new(seed: u64, weather: Arc<Weather>) -> Self {
        Self {
            inner: Simulated::new(seed),
            weather,
            overwritten: Arc::default(),
        }
    }

    /// Before a new process begins: with the fault planted, the last write of each segment is taken back.
    pub(crate) fn lose_frame(&self) {
        let overwritten = std::mem::take(&mut *self.overwritten.lock());
        if !self.weather.has(Fault::FrameLost) {
            return;
        }
        for (name, Overwritten { offset, bytes }) in overwritten {
            let offset = usize::try_from(offset).expect("a small file");
            self.inner.edit(&name, |content| {
                if let Some(place) = content.get_mut(offset..offset + bytes.len()) {
                    place.copy_from_slice(&bytes);
                }
            });
        }
    }

    fn file(&self, name: &str, inner: SimulatedFile) -> DiskFile {
        DiskFile {
            inner,
            name: name.to_owned(),
            disk: self.clone(),
        }
    }
}

impl Storage for Disk {
    type File = DiskFile;

    fn list(&self) -> io::Result<Vec<String>> {
        self.inner.list()
    }

    fn create(&self, name: &str) -> io::Result<DiskFile> {
        Ok(self.file(name, self.inner.create(name)?))
    }

    fn open_to_write(&self, name: &str) -> io::Result<DiskFile> {
        Ok(self.file(name, self.inner.open_to_write(name)?))
    }

    fn open_to_read(&self, name: &str) -> io::Result<DiskFile> {
        Ok(self.file(name, self.inner.open_to_read(name)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)?;
        if self.weather.is_compacting() && self.weather.has(Fault::SegmentTooMany) {
            let others = self.inner.list()?;
            let next = others
                .iter()
                .filter(|other| other.len() == name.len() && name < other.as_str());
            if let Some(next) = next.min() {
                self.inner.remove(next)?;
            }
        }
        Ok(())
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.inner.sync_folder()
    }

    fn free_bytes(&self) -> io::Result<u64> {
        self.inner.free_bytes()
    }
}

impl File for DiskFile {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.inner.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        // Frames overwrite zeros that were synced before; longer writes are those zeros.
        if self.disk.weather.has(Fault::FrameLost) && bytes.len() < 8 << 10 && 0 < offset {
            let mut before = vec![0; bytes.len()];
            self.inner.read_full_at(&mut before, offset)?;
            let overwritten = Overwritten { offset, bytes: before };
            self.disk.overwritten.lock().insert(self.name.clone(), overwritten);
        }
        self.inner.write_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        if self.disk.weather.has(Fault::SyncLies) && self.disk.inner.has_power() {
            return Ok(());
        }
        self.inner.sync_data()
    }
}
