//! Space for frames: what a frame needs, what is taken ahead of a rush, and the next segment.

use crate::storage::{SECTOR_BYTES, Storage};

use super::Journal;
use super::error::Error;
use super::live::Live;

impl<S: Storage> Journal<S> {
    /// Makes sure that the next `bytes` can be committed without new space; see [`super::footprint`] for what a payload takes.
    /// Cheap where the space is there already. Call it with more than a batch needs to keep room for what must be
    /// written on a full disk, and before the rush to do the slow part early.
    ///
    /// # Errors
    /// [`Error::Full`] where the disk is full: everything stays usable, also the space that was left from before;
    /// [`Error::TooLarge`] where no segment is that large; [`Error::Io`]; [`Error::Broken`].
    pub fn reserve(&mut self, bytes: u64) -> Result<(), Error> {
        self.check_usable()?;
        if self.live.has_room(bytes) {
            return Ok(());
        }
        let bytes_max = self.options.segment_bytes - SECTOR_BYTES;
        if bytes_max < bytes {
            return Err(Error::TooLarge { bytes, bytes_max });
        }
        if self.live.tail + bytes <= self.options.segment_bytes {
            let made = self.live.make_room(&self.options, bytes);
            return self.judge(made);
        }
        self.rotate(bytes)
    }

    /// Whether the next `bytes` can be committed without new space.
    #[must_use]
    pub fn has_room(&self, bytes: u64) -> bool {
        self.live.has_room(bytes)
    }

    /// The most that [`Journal::reserve_ahead`] reserves: half of a segment, so that none is sealed before it is half full.
    #[must_use]
    pub fn bytes_ahead_max(&self) -> u64 {
        self.options.segment_bytes / 2 - SECTOR_BYTES
    }

    /// Bytes that may still be written to the disk below; as good as none where it does not say.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.storage.free_bytes().unwrap_or(0)
    }

    /// Goes one step of at most `step` bytes towards room for the next `bytes`, which are at most [`Journal::bytes_ahead_max`].
    ///
    /// # Errors
    /// As for [`Journal::reserve`].
    pub fn reserve_ahead(&mut self, bytes: u64, step: u64) -> Result<(), Error> {
        self.check_usable()?;
        if self.live.has_room(bytes) {
            return Ok(());
        }
        let step = step.min(self.options.allocate_bytes);
        if self.options.segment_bytes < self.live.tail + bytes {
            return self.rotate(step);
        }
        let made = self.live.fill_to((self.live.zeroed + step).min(self.live.tail + bytes));
        self.judge(made)
    }

    /// Begins the next segment with room for `bytes`, durably, then makes it the live one.
    pub(super) fn rotate(&mut self, bytes: u64) -> Result<(), Error> {
        let place = (self.live.index + 1, self.live.chain);
        let created = Live::create(&self.storage, &self.options, self.shared.installation(), place, bytes);
        let next = self.judge(created)?;
        let switched = self.shared.begin_segment(&self.storage, next.index, &self.live);
        if let Err(error) = switched {
            if !error.leaves_doubt() && self.storage.remove(&next.name).is_err() {
                tracing::debug!(file = next.name, "an unused segment stays until the next start");
            }
            return self.judge(Err(error));
        }
        self.live = next;
        Ok(())
    }
}
