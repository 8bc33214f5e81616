//! The bytes of one simulated file, and what a power loss would make of them.

use std::collections::BTreeMap;

use super::state::Random;
use crate::storage::SECTOR_BYTES;

const SECTOR: usize = SECTOR_BYTES as usize;

#[derive(Debug, Default)]
pub(super) struct Content {
    /// What a reader sees.
    bytes: Vec<u8>,
    synced_len: usize,
    /// Sectors whose content on the disk differs, by number.
    unsynced: BTreeMap<usize, Unsynced>,
}

#[derive(Debug)]
struct Unsynced {
    /// What is on the disk.
    durable: [u8; SECTOR],
    /// Whether a failed sync dropped it, so that later syncs pass it by until it is written again.
    forgotten: bool,
}

impl Content {
    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(super) fn read(&self, buffer: &mut [u8], offset: u64) -> usize {
        let from = position(offset).min(self.bytes.len());
        let count = buffer.len().min(self.bytes.len() - from);
        buffer[..count].copy_from_slice(&self.bytes[from..from + count]);
        count
    }

    pub(super) fn write(&mut self, bytes: &[u8], offset: u64) {
        let from = position(offset);
        let to = from + bytes.len();
        self.touch(from, to);
        if self.bytes.len() < to {
            self.bytes.resize(to, 0);
        }
        self.bytes[from..to].copy_from_slice(bytes);
    }

    pub(super) fn set_len(&mut self, len: u64) {
        let len = position(len);
        self.touch(len, self.bytes.len());
        self.bytes.resize(len, 0);
    }

    pub(super) fn sync(&mut self) {
        self.unsynced.retain(|_, sector| sector.forgotten);
        self.synced_len = self.bytes.len();
    }

    pub(super) fn fail_to_sync(&mut self, random: &mut Random) {
        self.unsynced.retain(|_, sector| {
            sector.forgotten = true;
            random.coin()
        });
    }

    pub(super) fn edit(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        change(&mut self.bytes);
        self.unsynced.clear();
        self.synced_len = self.bytes.len();
    }

    pub(super) fn lose_power(&mut self, random: &mut Random) {
        let (shorter, longer) = (
            self.bytes.len().min(self.synced_len),
            self.bytes.len().max(self.synced_len),
        );
        let len = match random.below(3) {
            0 => self.bytes.len(),
            1 => self.synced_len,
            _ => shorter + position(random.below((longer - shorter) as u64 + 1)),
        };
        self.bytes.resize(longer.next_multiple_of(SECTOR), 0);
        // All and nothing are likelier than chance makes them where many sectors are at stake.
        let mood = random.below(4);
        for (number, sector) in std::mem::take(&mut self.unsynced) {
            let kept = mood == 0 || (mood != 1 && random.coin());
            if let Some(bytes) = self
                .bytes
                .get_mut(number * SECTOR..(number + 1) * SECTOR)
                .filter(|_| !kept)
            {
                bytes.copy_from_slice(&sector.durable);
            }
        }
        self.bytes.truncate(len);
        self.synced_len = len;
    }

    /// Notes what is on the disk before the bytes from `from` to `to` change.
    fn touch(&mut self, from: usize, to: usize) {
        for number in from / SECTOR..to.div_ceil(SECTOR) {
            let bytes = &self.bytes;
            let sector = self.unsynced.entry(number).or_insert_with(|| {
                let mut durable = [0; SECTOR];
                let start = (number * SECTOR).min(bytes.len());
                let end = ((number + 1) * SECTOR).min(bytes.len());
                durable[..end - start].copy_from_slice(&bytes[start..end]);
                Unsynced {
                    durable,
                    forgotten: false,
                }
            });
            sector.forgotten = false;
        }
    }
}

/// A simulated disk is far smaller than memory.
fn position(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
