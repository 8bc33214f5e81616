//! The live segment: the one file that commits go to.
//!
//! Space is taken ahead of the frames, by writing zeros and syncing them: overwriting them later costs a sync of data
//! alone, about half of what growing the file costs, and can't find the disk full.

use crate::storage::{File, SECTOR_BYTES, Storage};

use super::Options;
use super::error::{Error, Operation};
use super::format::{Chain, Header, InstallationId, Kind, encode_frame, footprint, segment_name};

/// Zeros written at once.
static ZEROS: [u8; 1 << 18] = [0; 1 << 18];

pub(super) struct Live<F> {
    pub(super) file: F,
    pub(super) name: String,
    pub(super) index: u64,
    pub(super) seed: u32,
    pub(super) frame_bytes_max: usize,
    pub(super) chain: Chain,
    /// Where the next frame begins.
    pub(super) tail: u64,
    /// Up to here the file is written and synced; behind the tail with zeros.
    pub(super) zeroed: u64,
}

impl<F: File> Live<F> {
    /// Makes an empty segment with room for `bytes`. All of it is durable, its name too.
    pub(super) fn create<S: Storage<File = F>>(
        storage: &S,
        options: &Options,
        installation: InstallationId,
        place: (u64, Chain),
        bytes: u64,
    ) -> Result<Self, Error> {
        let (index, chain) = place;
        let name = segment_name(index);
        let header = Header {
            kind: Kind::Segment,
            installation,
            index,
            sequence: chain.next_sequence,
            snapshot: 0,
            frames: 0,
            bytes: 0,
            previous_crc: chain.previous_crc,
            frame_bytes_max: options.frame_bytes_max,
        };
        let file = storage.create(&name).map_err(Error::io(Operation::Create, &name))?;
        let mut live = Self {
            file,
            name,
            index,
            seed: header.seed(),
            frame_bytes_max: options.frame_bytes_max as usize,
            chain,
            tail: SECTOR_BYTES,
            zeroed: SECTOR_BYTES,
        };
        let filled = live.write_header(&header).and_then(|()| live.make_room(options, bytes));
        if let Err(error) = filled {
            // Nothing names the segment yet. What can't be removed now is removed at the next start.
            if storage.remove(&live.name).is_err() {
                tracing::debug!(file = live.name, "an unused segment stays until the next start");
            }
            return Err(error);
        }
        storage
            .sync_folder()
            .map_err(Error::io(Operation::SyncFolder, &live.name))?;
        Ok(live)
    }

    /// Synced by itself: the sync of the zeros may fail on a full disk and be repeated for the zeros only, which would
    /// leave a header behind that the system takes for synced.
    fn write_header(&self, header: &Header) -> Result<(), Error> {
        self.file
            .write_all_at(&header.encode(), 0)
            .map_err(Error::io(Operation::Write, &self.name))?;
        self.file.sync_data().map_err(Error::io(Operation::Sync, &self.name))
    }

    /// Fills with zeros ahead of the tail, a step further than `bytes` where the disk has the space.
    pub(super) fn make_room(&mut self, options: &Options, bytes: u64) -> Result<(), Error> {
        let needed = self.tail + bytes;
        let step = (self.zeroed + options.allocate_bytes)
            .min(options.segment_bytes)
            .max(needed);
        match self.fill_to(step) {
            Err(Error::Full) if needed < step => self.fill_to(needed),
            done => done,
        }
    }

    pub(super) fn fill_to(&mut self, end: u64) -> Result<(), Error> {
        let filled = self.write_zeros(end);
        if matches!(filled, Err(Error::Full)) {
            // Others on this disk need the space that is not enough for us. `zeroed` stays, so that the next
            // attempt writes these zeros again, whether or not the cut worked.
            if self.file.set_len(self.zeroed).is_err() {
                tracing::debug!(file = self.name, "zeros behind a full disk stay");
            }
        }
        filled
    }

    fn write_zeros(&mut self, end: u64) -> Result<(), Error> {
        let mut at = self.zeroed;
        while at < end {
            let count = (end - at).min(ZEROS.len() as u64);
            let zeros = &ZEROS[..usize::try_from(count).unwrap_or(ZEROS.len())];
            self.file
                .write_all_at(zeros, at)
                .map_err(Error::io(Operation::Write, &self.name))?;
            at += count;
        }
        self.file.sync_data().map_err(Error::io(Operation::Sync, &self.name))?;
        self.zeroed = end;
        Ok(())
    }

    /// Whether `bytes` fit without new space.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.tail + bytes <= self.zeroed
    }

    /// Writes one frame at the tail and syncs it. The room must have been made. `buffer` is scratch space.
    pub(super) fn append(&mut self, buffer: &mut Vec<u8>, payload: &[u8]) -> Result<u64, (Operation, std::io::Error)> {
        let crc = encode_frame(buffer, self.seed, self.chain, payload);
        self.file
            .write_all_at(buffer, self.tail)
            .map_err(|error| (Operation::Write, error))?;
        self.file.sync_data().map_err(|error| (Operation::Sync, error))?;
        let sequence = self.chain.next_sequence;
        self.tail += footprint(payload.len());
        self.chain = Chain {
            next_sequence: sequence + 1,
            previous_crc: crc,
        };
        Ok(sequence)
    }
}
