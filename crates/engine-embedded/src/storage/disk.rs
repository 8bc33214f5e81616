//! A real folder. Files are private to their owner, symbolic links are not followed.

use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;

use super::{File, Storage};

/// A real folder on a disk.
#[derive(Clone, Debug)]
pub struct Disk {
    path: PathBuf,
    folder: Arc<fs::File>,
}

/// An open file of a [`Disk`].
#[derive(Debug)]
pub struct DiskFile(fs::File);

impl Disk {
    /// Opens an existing folder.
    ///
    /// # Errors
    /// Where the folder doesn't exist or can't be opened.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let folder = fs::File::open(&path)?;
        if !folder.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self {
            path,
            folder: Arc::new(folder),
        })
    }

    /// The folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn locate(&self, name: &str) -> io::Result<PathBuf> {
        if name.is_empty() || name == "." || name == ".." || name.contains('/') {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file name"));
        }
        Ok(self.path.join(name))
    }

    fn open_with(&self, name: &str, options: &mut fs::OpenOptions) -> io::Result<DiskFile> {
        let no_follow = OFlags::NOFOLLOW.bits().cast_signed();
        options
            .read(true)
            .mode(0o600)
            .custom_flags(no_follow)
            .open(self.locate(name)?)
            .map(DiskFile)
    }
}

impl Storage for Disk {
    type File = DiskFile;

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            // A name that isn't UTF-8 is none of ours.
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<DiskFile> {
        self.open_with(name, fs::OpenOptions::new().write(true).create(true).truncate(true))
    }

    fn open_to_write(&self, name: &str) -> io::Result<DiskFile> {
        self.open_with(name, fs::OpenOptions::new().write(true))
    }

    fn open_to_read(&self, name: &str) -> io::Result<DiskFile> {
        self.open_with(name, &mut fs::OpenOptions::new())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.locate(from)?, self.locate(to)?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.locate(name)?)
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.folder.sync_all()
    }

    fn free_bytes(&self) -> io::Result<u64> {
        let disk = rustix::fs::fstatvfs(&self.folder)?;
        Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
}

impl File for DiskFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.0.write_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}
