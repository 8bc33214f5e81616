//! The durable journal: opaque payloads, one after the other, each acknowledged only when it is on the disk.
//!
//! One payload is one committed batch of the caller's events. The journal numbers the payloads, gives all of them back
//! in order at the next start, and refuses to start where it can't. It knows neither what is in a payload nor the time:
//! sequence numbers order it. It starts no thread: a commit blocks until the disk has answered.
//!
//! ```text
//!  create_or_open ─▶ replay every payload ─▶ Journal ── reserve ─▶ commit ─▶ … ─▶ seal ─▶ next segment
//!                                               └── compaction ─▶ replay sealed segments ─▶ write snapshot ─▶ finish
//! ```
//!
//! What holds, whatever fails:
//! - A payload whose commit returned is there at the next start, or the start is refused.
//! - Of payloads whose commit did not return, at most the last is there, and then whole.
//! - The manifest names the files that are the journal; any other file of the journal's is a leftover.
//! - The live segment is never read by a compaction, a sealed one never written.

mod compaction;
mod error;
mod format;
mod live;
mod manifest;
mod open;
mod repair;
mod replay;
mod shared;
mod space;
mod verify;
mod walk;
mod window;

use std::io;
use std::sync::Arc;

use crate::storage::{SECTOR_BYTES, Storage};

pub use compaction::{Compacted, Compaction, SnapshotWriter};
pub use error::{Damage, Error, Operation, ReplayError};
pub use format::{InstallationId, footprint};
pub use open::{Cut, Opened};
pub use repair::{Repaired, repair};
pub use verify::{FileReport, Problem, Report, verify};

use live::Live;
use shared::Shared;

/// Called once for each payload, in order. Payloads of a snapshot come first, each under the sequence of the last frame
/// that the snapshot stands for (0 for none); then the frames, each under its own.
pub type Replay<'a> = dyn FnMut(u64, &[u8]) -> Result<(), ReplayError> + 'a;

/// The largest payload that any setting may allow, in bytes.
const FRAME_BYTES_LIMIT: u32 = 1 << 30;

/// Sizes, all in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// A segment is sealed, and the next one begun, before it grows larger than this.
    pub segment_bytes: u64,
    /// Space is taken in steps of this size. Larger steps are rarer and take longer.
    pub allocate_bytes: u64,
    /// The largest payload. Also how far behind the last whole frame the remains of a torn one may lie.
    pub frame_bytes_max: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            segment_bytes: 64 << 20,
            allocate_bytes: 8 << 20,
            frame_bytes_max: 4 << 20,
        }
    }
}

impl Options {
    fn check(&self) -> Result<(), Error> {
        if self.frame_bytes_max == 0 || FRAME_BYTES_LIMIT < self.frame_bytes_max {
            return Err(Error::Options("frame_bytes_max must be between 1 and 1 GiB"));
        }
        if self.segment_bytes < SECTOR_BYTES + footprint(self.frame_bytes_max as usize) {
            return Err(Error::Options(
                "segment_bytes must hold at least one frame of frame_bytes_max and its header",
            ));
        }
        if self.allocate_bytes == 0 {
            return Err(Error::Options("allocate_bytes must not be 0"));
        }
        Ok(())
    }
}

/// Sizes for metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Segments, the live one included.
    pub segments: u64,
    /// Bytes of sealed segments that no snapshot stands for yet: what a compaction would read besides the snapshot.
    pub sealed_bytes: u64,
    /// Bytes of frames in the live segment, its header included.
    pub live_bytes: u64,
    /// Bytes of the snapshot, 0 where there is none.
    pub snapshot_bytes: u64,
}

/// The open journal. One owner; see [`crate::lock`] for how a folder gets only one.
pub struct Journal<S: Storage> {
    storage: S,
    options: Options,
    shared: Arc<Shared>,
    live: Live<S::File>,
    /// Reused for every frame.
    buffer: Vec<u8>,
    broken: Option<Broken>,
}

struct Broken {
    operation: Operation,
    file: String,
    cause: Arc<io::Error>,
}

impl<S: Storage> Journal<S> {
    /// Opens the journal of a folder, or makes one with the given installation id where the folder holds nothing of a
    /// journal. `replay` gets every payload before this returns.
    ///
    /// # Errors
    /// [`Error::Damaged`] where the files are not what was written, [`Error::Replay`] where `replay` refuses a payload,
    /// [`Error::Options`], [`Error::Full`], [`Error::Io`].
    pub fn create_or_open(
        storage: S,
        options: Options,
        installation: InstallationId,
        replay: &mut Replay<'_>,
    ) -> Result<Opened<S>, Error> {
        options.check()?;
        open::create_or_open(storage, options, installation, replay)
    }

    /// Writes one payload and returns its sequence when it is durable. Sequences begin at 1 and have no gaps.
    ///
    /// # Errors
    /// [`Error::Broken`]: the outcome is unknown, this and every later call. All others: the payload was not written.
    pub fn commit(&mut self, payload: &[u8]) -> Result<u64, Error> {
        let bytes_max = self.options.frame_bytes_max as usize;
        if bytes_max < payload.len() {
            return Err(Error::TooLarge {
                bytes: payload.len() as u64,
                bytes_max: bytes_max as u64,
            });
        }
        let bytes = footprint(payload.len());
        self.reserve(bytes)?;
        if self.live.frame_bytes_max < payload.len() {
            // The segment was begun under a smaller limit, which tells its readers how far a torn frame may reach.
            self.rotate(bytes)?;
        }
        match self.live.append(&mut self.buffer, payload) {
            Ok(sequence) => Ok(sequence),
            Err((operation, cause)) => Err(self.stop(operation, self.live.name.clone(), cause)),
        }
    }

    /// Seals the live segment and begins the next one, so that a compaction can read all that was committed so far.
    /// Does nothing where the live segment holds no frame.
    ///
    /// # Errors
    /// As for [`Journal::reserve`].
    pub fn seal(&mut self) -> Result<(), Error> {
        self.check_usable()?;
        if self.live.tail == SECTOR_BYTES {
            return Ok(());
        }
        self.rotate(0)
    }

    /// The sequence that the next commit gets.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.live.chain.next_sequence
    }

    /// Whether a write or a sync failed; see [`Error::Broken`].
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Sizes for metrics, and for the decision when to compact.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.stats(self.live.tail)
    }

    /// Begins a compaction of all sealed segments; `None` where there is none, or where another one is running. It
    /// holds no borrow of the journal: run it on another thread.
    #[must_use]
    pub fn compaction(&self) -> Option<Compaction<S>> {
        Compaction::begin(self.storage.clone(), Arc::clone(&self.shared), self.options)
    }

    fn check_usable(&self) -> Result<(), Error> {
        let Some(broken) = &self.broken else { return Ok(()) };
        Err(Error::Broken {
            operation: broken.operation,
            file: broken.file.clone(),
            source: Arc::clone(&broken.cause),
        })
    }

    /// Lets definite errors pass and stops the journal at those which leave doubt.
    fn judge<T>(&mut self, outcome: Result<T, Error>) -> Result<T, Error> {
        match outcome {
            Err(Error::Io {
                operation,
                file,
                source,
            }) if operation.leaves_doubt() => Err(self.stop(operation, file, source)),
            other => other,
        }
    }

    fn stop(&mut self, operation: Operation, file: String, cause: io::Error) -> Error {
        tracing::error!(file, %operation, %cause, "the journal has stopped");
        let cause = Arc::new(cause);
        self.broken = Some(Broken {
            operation,
            file: file.clone(),
            cause: Arc::clone(&cause),
        });
        Error::Broken {
            operation,
            file,
            source: cause,
        }
    }
}
