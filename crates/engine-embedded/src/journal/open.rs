//! Opens the journal: reads the manifest, has every payload replayed, cuts a torn tail, removes leftovers.
//!
//! Nothing is changed on the disk before all of it was read and found good.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::storage::{File, SECTOR_BYTES, Storage};

use super::error::{Damage, Error, Operation};
use super::format::{Chain, InstallationId, MANIFEST, Name, parse_name, segment_name, snapshot_name};
use super::live::Live;
use super::manifest::Manifest;
use super::replay::{Reached, replay_live, replay_sealed, replay_snapshot};
use super::shared::{Files, Shared};
use super::walk::Tail;
use super::{Journal, Options, Replay};

/// An opened journal, and what was found on the way.
pub struct Opened<S: Storage> {
    /// The journal, ready for commits.
    pub journal: Journal<S>,
    /// The id that all its files carry. Compare it with the ledger's.
    pub installation: InstallationId,
    /// Whether there was none before: with a ledger beside it that isn't new, the journal was lost.
    pub created: bool,
    /// Frames replayed, not counting a snapshot's.
    pub frames: u64,
    /// The torn tail that was cut, if there was one.
    pub cut: Option<Cut>,
}

/// The remains of a commit that was interrupted before it was acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The segment's file name.
    pub file: String,
    /// Where the remains began, in bytes.
    pub offset: u64,
    /// How far they reached.
    pub bytes: u64,
}

/// The journal's files in the folder, whether or not they count.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    pub(super) segments: BTreeSet<u64>,
    pub(super) snapshots: BTreeSet<u64>,
    pub(super) unfinished: Vec<String>,
}

impl Inventory {
    pub(super) fn read<S: Storage>(storage: &S) -> Result<Self, Error> {
        let mut inventory = Self::default();
        for name in storage.list().map_err(Error::io(Operation::List, ""))? {
            match parse_name(&name) {
                Name::Segment(index) => _ = inventory.segments.insert(index),
                Name::Snapshot(index) => _ = inventory.snapshots.insert(index),
                Name::Unfinished => inventory.unfinished.push(name),
                Name::Manifest | Name::Foreign => {}
            }
        }
        Ok(inventory)
    }
}

pub(super) fn create_or_open<S: Storage>(
    storage: S,
    options: Options,
    installation: InstallationId,
    replay: &mut Replay<'_>,
) -> Result<Opened<S>, Error> {
    let inventory = Inventory::read(&storage)?;
    match Manifest::read(&storage)? {
        Some(manifest) => open(storage, options, manifest, &inventory, replay),
        None => create(storage, options, installation, &inventory),
    }
}

fn create<S: Storage>(
    storage: S,
    options: Options,
    installation: InstallationId,
    inventory: &Inventory,
) -> Result<Opened<S>, Error> {
    // A creation that was interrupted leaves the first segment without a frame. Anything else was once a journal.
    let first = inventory.segments.iter().all(|index| *index == 1);
    if !first || !inventory.snapshots.is_empty() || (inventory.segments.contains(&1) && !is_unused(&storage, 1)?) {
        return Err(Error::damaged(MANIFEST, 0, Damage::Missing));
    }
    let live = Live::create(&storage, &options, installation, (1, Chain::START), 0)?;
    let manifest = Manifest {
        installation,
        snapshot: 0,
        newest: 1,
    };
    manifest.replace(&storage)?;
    let files = Files {
        manifest,
        sealed: BTreeMap::new(),
        snapshot_bytes: 0,
    };
    let journal = assemble(storage, options, files, live);
    Ok(Opened {
        journal,
        installation,
        created: true,
        frames: 0,
        cut: None,
    })
}

fn assemble<S: Storage>(storage: S, options: Options, files: Files, live: Live<S::File>) -> Journal<S> {
    Journal {
        storage,
        options,
        shared: Arc::new(Shared::new(files)),
        live,
        buffer: Vec::new(),
        broken: None,
    }
}

fn open<S: Storage>(
    storage: S,
    options: Options,
    manifest: Manifest,
    inventory: &Inventory,
    replay: &mut Replay<'_>,
) -> Result<Opened<S>, Error> {
    let mut files = Files {
        manifest,
        sealed: BTreeMap::new(),
        snapshot_bytes: 0,
    };
    let mut leftovers = check_names(&storage, &manifest, inventory)?;
    let mut reached = Reached::nothing();
    if manifest.snapshot > 0 {
        reached = replay_snapshot(&storage, &manifest, replay)?;
        files.snapshot_bytes = reached.offset;
    }
    let mut frames = 0;
    for index in manifest.snapshot + 1..manifest.newest {
        let walked = replay_sealed(&storage, manifest.installation, index, &reached, replay)?;
        files.sealed.insert(index, walked.reached.offset);
        frames += walked.frames;
        reached = walked.reached;
    }
    let (live, walked, torn) = replay_live(&storage, &manifest, &reached, replay)?;
    let cut = settle_tail(&live, torn, walked.last)?;
    leftovers.extend_from_slice(&inventory.unfinished);
    for name in leftovers {
        tracing::info!(file = name, "removing what an interrupted rotation or compaction left");
        storage.remove(&name).map_err(Error::io(Operation::Remove, &name))?;
    }
    // The names in force may be in memory only, if the last process died before it synced them.
    storage
        .sync_folder()
        .map_err(Error::io(Operation::SyncFolder, MANIFEST))?;
    let journal = assemble(storage, options, files, live);
    Ok(Opened {
        journal,
        installation: manifest.installation,
        created: false,
        frames: frames + walked.frames,
        cut,
    })
}

/// Checks that all files are there which the manifest needs, and returns the names of those it doesn't.
fn check_names<S: Storage>(storage: &S, manifest: &Manifest, inventory: &Inventory) -> Result<Vec<String>, Error> {
    let mut leftovers = Vec::new();
    for index in &inventory.snapshots {
        if *index != manifest.snapshot {
            leftovers.push(snapshot_name(*index));
        }
    }
    if manifest.snapshot > 0 && !inventory.snapshots.contains(&manifest.snapshot) {
        return Err(Error::damaged(&snapshot_name(manifest.snapshot), 0, Damage::Missing));
    }
    for index in manifest.snapshot + 1..=manifest.newest {
        if !inventory.segments.contains(&index) {
            return Err(Error::damaged(&segment_name(index), 0, Damage::Missing));
        }
    }
    for index in &inventory.segments {
        let name = segment_name(*index);
        if *index <= manifest.snapshot {
            leftovers.push(name);
        } else if manifest.newest < *index {
            // A rotation makes the next segment before the manifest names it, and fills it only after.
            if *index != manifest.newest + 1 || !is_unused(storage, *index)? {
                return Err(Error::damaged(&name, 0, Damage::Unlisted));
            }
            leftovers.push(name);
        }
    }
    Ok(leftovers)
}

/// Whether a segment holds nothing behind its header sector, which itself may be unfinished.
pub(super) fn is_unused<S: Storage>(storage: &S, index: u64) -> Result<bool, Error> {
    let name = segment_name(index);
    let file = storage.open_to_read(&name).map_err(Error::io(Operation::Open, &name))?;
    let mut piece = vec![0; 1 << 16];
    let mut at = SECTOR_BYTES;
    loop {
        let read = file
            .read_full_at(&mut piece, at)
            .map_err(Error::io(Operation::Read, &name))?;
        if piece[..read].iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        if read < piece.len() {
            return Ok(true);
        }
        at += read as u64;
    }
}

/// Cuts a torn tail, and makes sure that the last frame is on the disk: the process before may have died, or met an
/// error, between its write and its sync, and the system may hold it as clean. Written again, it is synced for sure.
fn settle_tail<F: File>(live: &Live<F>, tail: Tail, last: std::ops::Range<u64>) -> Result<Option<Cut>, Error> {
    let name = &live.name;
    let mut cut = None;
    if let Tail::Torn { from, to } = tail {
        tracing::warn!(
            file = name,
            offset = from,
            bytes = to - from,
            "cutting a torn frame that was never acknowledged"
        );
        live.file.set_len(from).map_err(Error::io(Operation::Resize, name))?;
        cut = Some(Cut {
            file: name.clone(),
            offset: from,
            bytes: to - from,
        });
    }
    if !last.is_empty() {
        let mut frame = vec![0; usize::try_from(last.end - last.start).unwrap_or(0)];
        live.file
            .read_full_at(&mut frame, last.start)
            .map_err(Error::io(Operation::Read, name))?;
        live.file
            .write_all_at(&frame, last.start)
            .map_err(Error::io(Operation::Write, name))?;
    }
    live.file.sync_data().map_err(Error::io(Operation::Sync, name))?;
    Ok(cut)
}
