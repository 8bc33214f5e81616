//! What a process holds: memory, descriptors, disk.

use std::path::Path;

use serde::Serialize;

use crate::process::descriptors_of;
use crate::server::Server;
use crate::{Error, Result};

/// What the process holds after a sale.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Holding {
    /// Resident memory.
    pub rss_bytes: u64,
    /// Open descriptors.
    pub descriptors: usize,
    /// What the data folder takes on the disk.
    pub folder_bytes: u64,
    /// The journal's part of it.
    pub journal_bytes: u64,
}

impl Holding {
    /// What the data folder takes beside the journal: the database.
    pub fn database_bytes(&self) -> u64 {
        self.folder_bytes.saturating_sub(self.journal_bytes)
    }
}

/// What the server holds now.
pub(super) fn holding(server: &Server) -> Result<Holding> {
    let data = server.folder().join("data");
    Ok(Holding {
        rss_bytes: server.usage()?.rss_bytes,
        descriptors: descriptors_of(server.id())?,
        folder_bytes: bytes_of(&data)?,
        journal_bytes: bytes_of(&data.join("journal"))?,
    })
}

/// Blocks that the files below take; a file that goes while it is looked at counts as gone.
pub(crate) fn bytes_of(folder: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt as _;
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        entries => entries.map_err(Error::file("read", folder))?,
    };
    let mut bytes = 0;
    for entry in entries {
        let entry = entry.map_err(Error::file("read", folder))?;
        bytes += match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes_of(&entry.path())?,
            Ok(metadata) => metadata.blocks() * 512,
            Err(_) => 0,
        };
    }
    Ok(bytes)
}
