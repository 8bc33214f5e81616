//! What the live journal and a compaction share: the manifest in force, and the sizes of the sealed segments.
//!
//! The lock is held while a manifest is replaced, a few milliseconds; commits don't take it, rotations do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::storage::{File, Storage};

use super::Stats;
use super::error::Error;
use super::format::InstallationId;
use super::live::Live;
use super::manifest::Manifest;

pub(super) struct Shared {
    files: Mutex<Files>,
    compacting: AtomicBool,
    installation: InstallationId,
}

/// The files that are the journal.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub(super) manifest: Manifest,
    /// Bytes of each sealed segment that the snapshot doesn't stand for, by number.
    pub(super) sealed: BTreeMap<u64, u64>,
    pub(super) snapshot_bytes: u64,
}

impl Shared {
    pub(super) fn new(files: Files) -> Self {
        let installation = files.manifest.installation;
        Self {
            files: Mutex::new(files),
            compacting: AtomicBool::new(false),
            installation,
        }
    }

    pub(super) fn installation(&self) -> InstallationId {
        self.installation
    }

    pub(super) fn files(&self) -> Files {
        self.files.lock().clone()
    }

    pub(super) fn stats(&self, live_bytes: u64) -> Stats {
        let files = self.files.lock();
        Stats {
            segments: files.sealed.len() as u64 + 1,
            sealed_bytes: files.sealed.values().sum(),
            live_bytes,
            snapshot_bytes: files.snapshot_bytes,
        }
    }

    /// Makes segment `index` the newest and seals the one before it. A compaction sees that one sealed only when
    /// nothing touches it any more.
    pub(super) fn begin_segment<S: Storage>(&self, storage: &S, index: u64, old: &Live<S::File>) -> Result<(), Error> {
        let mut files = self.files.lock();
        let manifest = Manifest {
            newest: index,
            ..files.manifest
        };
        manifest.replace(storage)?;
        // The zeros behind the last frame are of no use any more. A reader passes over them where the cut fails.
        if old.file.set_len(old.tail).is_err() {
            tracing::debug!(file = old.name, "zeros behind a sealed segment stay");
        }
        files.sealed.insert(old.index, old.tail);
        files.manifest = manifest;
        Ok(())
    }

    /// Puts snapshot `index` in the place of all segments up to that number.
    pub(super) fn take_snapshot<S: Storage>(&self, storage: &S, index: u64, snapshot_bytes: u64) -> Result<(), Error> {
        let mut files = self.files.lock();
        let manifest = Manifest {
            snapshot: index,
            ..files.manifest
        };
        manifest.replace(storage)?;
        files.sealed.retain(|sealed, _| index < *sealed);
        files.snapshot_bytes = snapshot_bytes;
        files.manifest = manifest;
        Ok(())
    }

    /// Whether the caller may compact; true for one caller until it calls [`Shared::end_compaction`].
    pub(super) fn begin_compaction(&self) -> bool {
        !self.compacting.swap(true, Ordering::AcqRel)
    }

    pub(super) fn end_compaction(&self) {
        self.compacting.store(false, Ordering::Release);
    }
}
