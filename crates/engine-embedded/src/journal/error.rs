//! What can go wrong with the journal, sorted by what the caller has to do about it.

use std::error::Error as StdError;
use std::fmt;
use std::io::{self, ErrorKind as Kind};
use std::sync::Arc;

/// Why a payload could not be applied; comes from the caller's replay callback.
pub type ReplayError = Box<dyn StdError + Send + Sync>;

/// An error of the journal. All but [`Error::Broken`] are definite: nothing was written, the same call may be made again.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk is full. The journal stays usable and heals when space returns.
    #[error("no space is left on the disk for the journal")]
    Full,
    /// A write or a sync failed. It is unknown whether the batch in flight is on the disk, and every later call returns
    /// this again: the process must stop admitting and be restarted.
    #[error(
        "the journal has stopped because it could not {operation} {file}; the outcome of the last batch is unknown until a restart"
    )]
    Broken {
        /// What was tried.
        operation: Operation,
        /// The file it was tried on.
        file: String,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// The payload, or the reservation, is larger than a frame, or a segment, may be.
    #[error("{bytes} bytes are more than the journal takes at once ({bytes_max})")]
    TooLarge {
        /// What was asked for.
        bytes: u64,
        /// What is allowed.
        bytes_max: u64,
    },
    /// The files are not what was written. The journal refuses to open; nothing was changed.
    #[error(
        "the journal is damaged: {file} at offset {offset}: {damage}. Nothing was changed. `seckill journal verify` lists all damage"
    )]
    Damaged {
        /// The file's name.
        file: String,
        /// Where in the file, in bytes.
        offset: u64,
        /// What is wrong.
        damage: Damage,
    },
    /// The replay callback refused a payload. Nothing was changed.
    #[error("{file} at offset {offset}: this batch can't be applied")]
    Replay {
        /// The file's name.
        file: String,
        /// Where its frame begins, in bytes.
        offset: u64,
        /// What the callback said.
        source: ReplayError,
    },
    /// The options contradict each other.
    #[error("journal options: {0}")]
    Options(&'static str),
    /// A disk operation failed before anything depended on it.
    #[error("could not {operation} {file}")]
    Io {
        /// What was tried.
        operation: Operation,
        /// The file it was tried on; empty for the folder.
        file: String,
        /// What the system said.
        source: io::Error,
    },
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The file should be there.
    #[error("the file is missing")]
    Missing,
    /// The file has no bytes at all.
    #[error("the file is empty")]
    Empty,
    /// The first sector is not what was written.
    #[error("the file's header is damaged")]
    Header,
    /// A newer release wrote the file.
    #[error(
        "the file has format {version}, this release reads up to {version_max}; use the release that wrote it, or a newer one"
    )]
    NewerVersion {
        /// The file's format.
        version: u32,
        /// The newest format that this release reads.
        version_max: u32,
    },
    /// The file belongs to another installation.
    #[error("the file belongs to another installation")]
    ForeignInstallation,
    /// The header names another place in the sequence than the file's name does.
    #[error("the file is number {found} under the name of number {expected}")]
    Misplaced {
        /// What the header says.
        found: u64,
        /// What the name says.
        expected: u64,
    },
    /// A frame is broken although it was once synced.
    #[error("a frame is damaged or missing")]
    Frame,
    /// A whole frame that does not continue the one before it.
    #[error("frame {found} stands where frame {expected} belongs, or does not continue the frame before it")]
    OutOfSequence {
        /// The frame's own sequence.
        found: u64,
        /// The sequence that had to come.
        expected: u64,
    },
    /// The file ends before the place where the next file goes on.
    #[error("the frames end at {found}, the next file goes on at {expected}")]
    Gap {
        /// The sequence after the last frame that is there.
        found: u64,
        /// The first sequence of the next file.
        expected: u64,
    },
    /// A segment newer than the manifest knows holds frames.
    #[error("the segment is newer than the manifest says; the manifest is out of date")]
    Unlisted,
}

/// A disk operation, named for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// List the folder.
    List,
    /// Open a file.
    Open,
    /// Create a file.
    Create,
    /// Read a file.
    Read,
    /// Write to a file.
    Write,
    /// Cut or grow a file.
    Resize,
    /// Make a file's content durable.
    Sync,
    /// Rename a file.
    Rename,
    /// Remove a file.
    Remove,
    /// Make names durable.
    SyncFolder,
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::List => "list",
            Self::Open => "open",
            Self::Create => "create",
            Self::Read => "read",
            Self::Write => "write",
            Self::Resize => "resize",
            Self::Sync => "sync",
            Self::Rename => "rename",
            Self::Remove => "remove",
            Self::SyncFolder => "sync the folder of",
        })
    }
}

impl Operation {
    /// Whether its failure leaves it open what is on the disk, when it comes from the path that writes the live journal.
    pub(super) fn leaves_doubt(self) -> bool {
        matches!(self, Self::Write | Self::Sync | Self::Rename | Self::SyncFolder)
    }
}

impl Error {
    /// Turns a system error into ours. A full disk (or file: `ulimit -f`) is one of its own, except where a folder's sync reports it:
    /// then it is unknown which names are durable.
    pub(super) fn io(operation: Operation, file: &str) -> impl FnOnce(io::Error) -> Self {
        move |source| {
            let full = [Kind::StorageFull, Kind::QuotaExceeded, Kind::FileTooLarge].contains(&source.kind());
            if full && operation != Operation::SyncFolder {
                return Self::Full;
            }
            Self::Io {
                operation,
                file: file.to_owned(),
                source,
            }
        }
    }

    pub(super) fn damaged(file: &str, offset: u64, damage: Damage) -> Self {
        Self::Damaged {
            file: file.to_owned(),
            offset,
            damage,
        }
    }

    pub(super) fn leaves_doubt(&self) -> bool {
        matches!(self, Self::Io { operation, .. } if operation.leaves_doubt())
    }
}
