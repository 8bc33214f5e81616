//! One flat folder of files, as the journal sees it.
//!
//! The journal does every disk operation through [`Storage`] and [`File`], so that the very same code runs on a real
//! folder ([`Disk`]) and on a simulated disk that loses, tears and reorders whatever was not synced ([`simulated`]).
//! Nothing here knows what a journal is.

use std::io;

mod disk;
pub mod hanging;
pub mod simulated;

pub use disk::{Disk, DiskFile};

/// Bytes that a disk writes whole or not at all; all that the journal assumes about the atomicity of a write.
pub const SECTOR_BYTES: u64 = 512;

/// A flat folder. Names are plain file names, never paths. A clone stands for the same folder.
pub trait Storage: Clone + Send + Sync + 'static {
    /// An open file of this folder.
    type File: File;

    /// Names of all files, in no particular order.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Creates an empty file for reading and writing; empties one that exists. The name is durable after
    /// [`Storage::sync_folder`] only.
    fn create(&self, name: &str) -> io::Result<Self::File>;

    /// Opens an existing file for reading and writing.
    fn open_to_write(&self, name: &str) -> io::Result<Self::File>;

    /// Opens an existing file for reading; works in a read-only folder too.
    fn open_to_read(&self, name: &str) -> io::Result<Self::File>;

    /// Renames a file, replacing `to` atomically where it exists. Durable after [`Storage::sync_folder`] only.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file. Durable after [`Storage::sync_folder`] only.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes all creations, renames and removals so far durable.
    fn sync_folder(&self) -> io::Result<()>;

    /// Bytes that may still be written to the disk below, by whomever.
    fn free_bytes(&self) -> io::Result<u64>;
}

/// An open file. Positions are explicit, so that one handle may be read and written by several threads.
pub trait File: Send + Sync + 'static {
    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Whether the file has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads at `offset`; may return fewer bytes than asked, 0 at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes at `offset`, growing the file where needed; may write fewer bytes than asked.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Cuts the file, or grows it by bytes that read as zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes content and length durable. After an error it is unknown what of the unsynced writes is on the disk, and
    /// a later success says nothing about them: the system may have forgotten that they are missing.
    fn sync_data(&self) -> io::Result<()>;

    /// Writes all of `bytes`, going on after short writes and interruptions.
    fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write_at(bytes, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    bytes = &bytes[written..];
                    offset += written as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Fills `buffer` as far as the file goes, going on after short reads and interruptions; returns the bytes read.
    fn read_full_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}
