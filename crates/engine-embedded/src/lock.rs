//! One owner for each data folder.
//!
//! The owner holds a lock on the file `LOCK`; the system frees it when the process ends, however it ends. The file stays
//! there and holds the owner's process id, for the message that the second one prints. Folders that could not be relied
//! on later are refused here: links, folders of somebody else, read-only ones, file systems without locks.

use std::fs;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// Name of the locked file.
const NAME: &str = "LOCK";
/// Longest content of the file that is read for a message.
const PID_BYTES_MAX: u64 = 20;

/// The right to use a data folder; given back when it is dropped or the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: fs::File,
}

/// Why a folder can't be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process, or another part of this one, has it.
    #[error("{} is in use by {}; stop it first", folder.display(), owner_name(*pid))]
    Held {
        /// The folder.
        folder: PathBuf,
        /// The owner's process id, where the file names one.
        pid: Option<u32>,
    },
    /// Nothing can be written into it.
    #[error("{} is read-only for this user", .0.display())]
    ReadOnly(PathBuf),
    /// It belongs to another user.
    #[error("{} belongs to user {owner}, this process runs as user {user}", folder.display())]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// The folder's owner.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// It is a symbolic link, which may point elsewhere tomorrow.
    #[error("{} is a symbolic link; name the folder itself", .0.display())]
    Link(PathBuf),
    /// It is a file.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The file system has no locks, so that a second owner would not be noticed.
    #[error("{} is on a file system without file locks; use a local disk", .0.display())]
    NoLocks(PathBuf),
    /// Something else failed.
    #[error("can't lock {}", folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn owner_name(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

impl Lock {
    /// Takes the folder, which is created (for this user only) where it doesn't exist.
    ///
    /// # Errors
    /// [`Error::Held`] at once where it is taken; the others where the folder can't be relied on.
    pub fn acquire(folder: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Io {
            folder: folder.to_owned(),
            source,
        };
        if let Err(error) = fs::symlink_metadata(folder) {
            if error.kind() != io::ErrorKind::NotFound {
                return Err(failed(error));
            }
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(failed)?;
        }
        check_folder(folder, &fs::symlink_metadata(folder).map_err(failed)?)?;

        let mut file = open(folder)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                return Err(Error::Held {
                    folder: folder.to_owned(),
                    pid: read_pid(&mut file),
                });
            }
            Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS) => return Err(Error::NoLocks(folder.to_owned())),
            Err(error) => return Err(failed(error.into())),
        }
        // The lock is what counts: a full disk must not keep an owner from a folder that has all the space it needs.
        if let Err(error) = write_pid(&mut file) {
            tracing::warn!(folder = %folder.display(), %error, "the lock file could not be given this process's id");
        }
        Ok(Self { _file: file })
    }
}

fn check_folder(folder: &Path, metadata: &fs::Metadata) -> Result<(), Error> {
    if metadata.is_symlink() {
        return Err(Error::Link(folder.to_owned()));
    }
    if !metadata.is_dir() {
        return Err(Error::NotAFolder(folder.to_owned()));
    }
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user {
        return Err(Error::Foreign {
            folder: folder.to_owned(),
            owner: metadata.uid(),
            user,
        });
    }
    // Asked of the mode, because the superuser's attempts succeed whatever it says.
    if metadata.mode() & 0o200 == 0 {
        return Err(Error::ReadOnly(folder.to_owned()));
    }
    Ok(())
}

fn open(folder: &Path) -> Result<fs::File, Error> {
    let path = folder.join(NAME);
    let no_follow = OFlags::NOFOLLOW.bits().cast_signed();
    let opened = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(no_follow)
        .open(&path);
    opened.map_err(|source| match Errno::from_io_error(&source) {
        Some(Errno::ROFS | Errno::ACCESS | Errno::PERM) => Error::ReadOnly(folder.to_owned()),
        Some(Errno::LOOP) => Error::Link(path),
        _ => Error::Io {
            folder: folder.to_owned(),
            source,
        },
    })
}

fn read_pid(file: &mut fs::File) -> Option<u32> {
    let mut text = String::new();
    file.take(PID_BYTES_MAX).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn write_pid(file: &mut fs::File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}
