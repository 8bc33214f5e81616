//! Compaction: all sealed segments, and the snapshot before them, become one new snapshot.
//!
//! It runs beside the live journal, on any thread. Until the manifest names the new snapshot the old files are the
//! journal, from then on the new one is; an interruption at any step leaves one of the two and leftovers, which the
//! next start removes. An error of a compaction does not stop the journal: nothing acknowledged depends on it.

use std::sync::Arc;

use crate::storage::{File, SECTOR_BYTES, Storage};

use super::error::{Error, Operation};
use super::format::{
    Chain, Header, InstallationId, Kind, UNFINISHED, encode_frame, footprint, segment_name, snapshot_name,
};
use super::replay::{Reached, replay_sealed, replay_snapshot};
use super::shared::{Files, Shared};
use super::walk::read_header;
use super::{Options, Replay};

/// Bytes of a snapshot that are collected before they are written.
const PIECE_BYTES: usize = 1 << 20;

/// A compaction that has not read anything yet.
pub struct Compaction<S: Storage> {
    storage: S,
    options: Options,
    files: Files,
    turn: Turn,
}

/// Takes the payloads of the new snapshot. Dropped unfinished, it leaves everything as it was.
pub struct SnapshotWriter<S: Storage> {
    storage: S,
    options: Options,
    turn: Turn,
    files: Files,
    file: S::File,
    name: String,
    seed: u32,
    /// The snapshot's own frames.
    chain: Chain,
    /// Where the journal goes on after the snapshot.
    covered: Chain,
    /// Complete frames that are not written yet, and the offset where they go.
    piece: Vec<u8>,
    offset: u64,
    frame: Vec<u8>,
}

/// What a compaction has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The newest segment that the snapshot stands for.
    pub index: u64,
    /// Frames of the snapshot.
    pub frames: u64,
    /// Its length.
    pub bytes: u64,
    /// Segments that were removed.
    pub segments_removed: u64,
}

/// The right to compact; given back when it is dropped.
struct Turn(Arc<Shared>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.end_compaction();
    }
}

impl<S: Storage> Drop for SnapshotWriter<S> {
    fn drop(&mut self) {
        // Gone already where the snapshot was finished. Where it wasn't, others may need the space.
        if self.storage.remove(&self.name).is_ok() {
            tracing::info!(file = self.name, "an unfinished snapshot was removed");
        }
    }
}

impl<S: Storage> Compaction<S> {
    pub(super) fn begin(storage: S, shared: Arc<Shared>, options: Options) -> Option<Self> {
        if !shared.begin_compaction() {
            return None;
        }
        let turn = Turn(shared);
        let files = turn.0.files();
        (!files.sealed.is_empty()).then_some(Self {
            storage,
            options,
            files,
            turn,
        })
    }

    /// Gives the snapshot's payloads and those of all sealed segments to `replay`, in order and as at a start. When it
    /// returns, the caller's state is the one that the new snapshot has to hold.
    ///
    /// # Errors
    /// As when the journal is opened; the new file can also find the disk full.
    pub fn replay(self, replay: &mut Replay<'_>) -> Result<SnapshotWriter<S>, Error> {
        let Self {
            storage,
            options,
            files,
            turn,
        } = self;
        let manifest = files.manifest;
        let mut reached = Reached::nothing();
        if manifest.snapshot > 0 {
            reached = replay_snapshot(&storage, &manifest, replay)?;
        }
        for index in files.sealed.keys() {
            reached = replay_sealed(&storage, manifest.installation, *index, &reached, replay)?.reached;
        }
        check_next(&storage, manifest.installation, manifest.newest, &reached)?;

        let name = snapshot_name(manifest.newest - 1) + UNFINISHED;
        let file = storage.create(&name).map_err(Error::io(Operation::Create, &name))?;
        let mut writer = SnapshotWriter {
            storage,
            options,
            turn,
            files,
            file,
            name,
            seed: 0,
            chain: Chain::START,
            covered: reached.chain,
            piece: Vec::new(),
            offset: SECTOR_BYTES,
            frame: Vec::new(),
        };
        writer.seed = writer.header(0).seed();
        Ok(writer)
    }
}

/// The live segment's header says where the last sealed one ended: frames lost at its end show here.
fn check_next<S: Storage>(
    storage: &S,
    installation: InstallationId,
    index: u64,
    reached: &Reached,
) -> Result<(), Error> {
    let name = segment_name(index);
    let file = storage.open_to_read(&name).map_err(Error::io(Operation::Open, &name))?;
    let header = read_header(&file, &name, Kind::Segment, index, Some(installation))?;
    reached.check_next(&header)
}

impl<S: Storage> SnapshotWriter<S> {
    /// Appends one payload.
    ///
    /// # Errors
    /// [`Error::TooLarge`]; [`Error::Full`] and [`Error::Io`], after which the compaction should be dropped.
    pub fn write(&mut self, payload: &[u8]) -> Result<(), Error> {
        let bytes_max = self.options.frame_bytes_max as usize;
        if bytes_max < payload.len() {
            return Err(Error::TooLarge {
                bytes: payload.len() as u64,
                bytes_max: bytes_max as u64,
            });
        }
        let crc = encode_frame(&mut self.frame, self.seed, self.chain, payload);
        self.chain = Chain {
            next_sequence: self.chain.next_sequence + 1,
            previous_crc: crc,
        };
        self.piece.extend_from_slice(&self.frame);
        let padding = footprint(payload.len()) - self.frame.len() as u64;
        self.piece
            .resize(self.piece.len() + usize::try_from(padding).unwrap_or(0), 0);
        if self.piece.len() < PIECE_BYTES {
            return Ok(());
        }
        self.flush()
    }

    /// Makes the snapshot durable, puts it in force and removes what it stands for.
    ///
    /// # Errors
    /// [`Error::Full`] and [`Error::Io`]: the old files are in force still, or both sets of files are there.
    pub fn finish(mut self) -> Result<Compacted, Error> {
        self.flush()?;
        let bytes = self.offset;
        let header = self.header(bytes);
        self.file
            .write_all_at(&header.encode(), 0)
            .map_err(Error::io(Operation::Write, &self.name))?;
        self.file.sync_data().map_err(Error::io(Operation::Sync, &self.name))?;
        let name = snapshot_name(header.index);
        self.storage
            .rename(&self.name, &name)
            .map_err(Error::io(Operation::Rename, &name))?;
        self.storage
            .sync_folder()
            .map_err(Error::io(Operation::SyncFolder, &name))?;
        if let Err(error) = self.turn.0.take_snapshot(&self.storage, header.index, bytes) {
            if !error.leaves_doubt() {
                self.remove(&name);
            }
            return Err(error);
        }
        // From here on the new snapshot counts. What can't be removed now is removed at the next start.
        let mut removed = 0;
        for index in self.files.sealed.keys() {
            removed += u64::from(self.remove(&segment_name(*index)));
        }
        if self.files.manifest.snapshot > 0 {
            self.remove(&snapshot_name(self.files.manifest.snapshot));
        }
        if let Err(error) = self.storage.sync_folder() {
            tracing::warn!(%error, "removed files of the journal may come back until the next start");
        }
        Ok(Compacted {
            index: header.index,
            frames: header.frames,
            bytes,
            segments_removed: removed,
        })
    }

    fn remove(&self, name: &str) -> bool {
        let removed = self.storage.remove(name);
        if let Err(error) = &removed {
            tracing::warn!(file = name, %error, "a file that a snapshot stands for stays until the next start");
        }
        removed.is_ok()
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.file
            .write_all_at(&self.piece, self.offset)
            .map_err(Error::io(Operation::Write, &self.name))?;
        self.offset += self.piece.len() as u64;
        self.piece.clear();
        Ok(())
    }

    fn header(&self, bytes: u64) -> Header {
        Header {
            kind: Kind::Snapshot,
            installation: self.files.manifest.installation,
            index: self.files.manifest.newest - 1,
            sequence: self.covered.next_sequence,
            snapshot: 0,
            frames: self.chain.next_sequence - 1,
            bytes,
            previous_crc: self.covered.previous_crc,
            frame_bytes_max: self.options.frame_bytes_max,
        }
    }
}
