//! The manifest: the one small file that says which snapshot and which segments are the journal.
//!
//! It is replaced as a whole, by a rename, so that there is always an old or a new one. A segment may hold frames only
//! after the manifest that names it is durable; a file may be removed only after the manifest that no longer needs it is.

use std::io;

use crate::storage::{File, Storage};

use super::error::{Damage, Error, Operation};
use super::format::{Header, InstallationId, Kind, MANIFEST, UNFINISHED};
use super::walk::read_header;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) installation: InstallationId,
    /// The snapshot's index, 0 for none. All segments up to this number are in it.
    pub(super) snapshot: u64,
    /// The live segment's number.
    pub(super) newest: u64,
}

impl Manifest {
    /// The manifest of the folder; `None` where there is none.
    pub(super) fn read<S: Storage>(storage: &S) -> Result<Option<Self>, Error> {
        let file = match storage.open_to_read(MANIFEST) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(Operation::Open, MANIFEST)(error)),
        };
        let header = read_header(&file, MANIFEST, Kind::Manifest, 0, None)?;
        if header.newest_is_behind_snapshot() {
            return Err(Error::damaged(MANIFEST, 0, Damage::Header));
        }
        Ok(Some(Self {
            installation: header.installation,
            snapshot: header.snapshot,
            newest: header.index,
        }))
    }

    /// Puts this manifest in the place of the old one, durably. After an error of the renaming or of the folder's sync
    /// either may be on the disk; after any other the old one is.
    pub(super) fn replace<S: Storage>(&self, storage: &S) -> Result<(), Error> {
        let unfinished = format!("{MANIFEST}{UNFINISHED}");
        let header = Header {
            kind: Kind::Manifest,
            installation: self.installation,
            index: self.newest,
            sequence: 0,
            snapshot: self.snapshot,
            frames: 0,
            bytes: 0,
            previous_crc: 0,
            frame_bytes_max: 0,
        };
        let file = storage
            .create(&unfinished)
            .map_err(Error::io(Operation::Create, &unfinished))?;
        file.write_all_at(&header.encode(), 0)
            .map_err(Error::io(Operation::Write, &unfinished))?;
        file.sync_data().map_err(Error::io(Operation::Sync, &unfinished))?;
        storage
            .rename(&unfinished, MANIFEST)
            .map_err(Error::io(Operation::Rename, MANIFEST))?;
        storage
            .sync_folder()
            .map_err(Error::io(Operation::SyncFolder, MANIFEST))
    }
}

impl Header {
    fn newest_is_behind_snapshot(&self) -> bool {
        self.index <= self.snapshot
    }
}
