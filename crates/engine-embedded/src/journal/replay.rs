//! Gives the payloads of the journal's files to the caller, in order, and checks that each file goes on where the one
//! before it ended. Reads only; a start and a compaction share it.

use std::ops::Range;

use crate::storage::{File, SECTOR_BYTES, Storage};

use super::Replay;
use super::error::{Damage, Error, Operation};
use super::format::{Chain, Header, InstallationId, Kind, MANIFEST, segment_name, snapshot_name};
use super::live::Live;
use super::manifest::Manifest;
use super::walk::{Tail, Walker, read_header};

/// How far the files that were read go.
pub(super) struct Reached {
    pub(super) chain: Chain,
    /// The last file, and the offset behind its last frame.
    pub(super) file: String,
    pub(super) offset: u64,
}

impl Reached {
    pub(super) fn nothing() -> Self {
        Self {
            chain: Chain::START,
            file: MANIFEST.to_owned(),
            offset: 0,
        }
    }

    /// Whether a segment goes on from here. Where not, frames at the end of the last file are gone.
    pub(super) fn check_next(&self, header: &Header) -> Result<(), Error> {
        if header.sequence == self.chain.next_sequence && header.previous_crc == self.chain.previous_crc {
            return Ok(());
        }
        let damage = Damage::Gap {
            found: self.chain.next_sequence,
            expected: header.sequence,
        };
        Err(Error::damaged(&self.file, self.offset, damage))
    }
}

/// What was read of one segment.
pub(super) struct Walked {
    pub(super) frames: u64,
    pub(super) reached: Reached,
    /// The bytes of the last frame.
    pub(super) last: Range<u64>,
}

/// Replays the manifest's snapshot, all of whose bytes must be there.
pub(super) fn replay_snapshot<S: Storage>(
    storage: &S,
    manifest: &Manifest,
    replay: &mut Replay<'_>,
) -> Result<Reached, Error> {
    let name = snapshot_name(manifest.snapshot);
    let file = storage.open_to_read(&name).map_err(Error::io(Operation::Open, &name))?;
    let header = read_header(
        &file,
        &name,
        Kind::Snapshot,
        manifest.snapshot,
        Some(manifest.installation),
    )?;
    let mut walker = Walker::new(&file, &name, &header, Chain::START)?;
    // Every payload of a snapshot stands for all that was before its end, so they share one sequence.
    let sequence = header.sequence.saturating_sub(1);
    replay_frames(&mut walker, &name, &mut |_, payload| replay(sequence, payload))?;
    if let Tail::Torn { from, .. } = walker.tail()? {
        return Err(Error::damaged(&name, from, Damage::Frame));
    }
    if walker.frames() != header.frames || walker.len() != header.bytes {
        return Err(Error::damaged(&name, walker.offset(), Damage::Frame));
    }
    let chain = Chain {
        next_sequence: header.sequence,
        previous_crc: header.previous_crc,
    };
    Ok(Reached {
        chain,
        offset: header.bytes,
        file: name,
    })
}

/// Replays a sealed segment, which must be whole.
pub(super) fn replay_sealed<S: Storage>(
    storage: &S,
    installation: InstallationId,
    index: u64,
    before: &Reached,
    replay: &mut Replay<'_>,
) -> Result<Walked, Error> {
    let name = segment_name(index);
    let file = storage.open_to_read(&name).map_err(Error::io(Operation::Open, &name))?;
    let header = read_header(&file, &name, Kind::Segment, index, Some(installation))?;
    before.check_next(&header)?;
    let mut walker = Walker::new(&file, &name, &header, before.chain)?;
    replay_frames(&mut walker, &name, replay)?;
    if let Tail::Torn { from, .. } = walker.tail()? {
        return Err(Error::damaged(&name, from, Damage::Frame));
    }
    let (frames, last) = (walker.frames(), walker.last());
    let reached = Reached {
        chain: walker.chain(),
        offset: walker.offset(),
        file: name.clone(),
    };
    Ok(Walked { frames, reached, last })
}

/// Replays the live segment, whose tail may be torn.
pub(super) fn replay_live<S: Storage>(
    storage: &S,
    manifest: &Manifest,
    before: &Reached,
    replay: &mut Replay<'_>,
) -> Result<(Live<S::File>, Walked, Tail), Error> {
    let name = segment_name(manifest.newest);
    let file = storage
        .open_to_write(&name)
        .map_err(Error::io(Operation::Open, &name))?;
    let header = read_header(
        &file,
        &name,
        Kind::Segment,
        manifest.newest,
        Some(manifest.installation),
    )?;
    before.check_next(&header)?;
    let mut walker = Walker::new(&file, &name, &header, before.chain)?;
    replay_frames(&mut walker, &name, replay)?;
    let tail = walker.tail()?;
    let (frames, last) = (walker.frames(), walker.last());
    let reached = Reached {
        chain: walker.chain(),
        offset: walker.offset(),
        file: name.clone(),
    };
    let walked = Walked { frames, reached, last };
    let live = Live {
        index: manifest.newest,
        seed: header.seed(),
        frame_bytes_max: header.frame_bytes_max as usize,
        chain: walked.reached.chain,
        tail: walked.reached.offset,
        // Zeros that are there already may be a hole of a copied file, which takes space when it is written.
        zeroed: walked.last.end.max(SECTOR_BYTES),
        file,
        name,
    };
    Ok((live, walked, tail))
}

fn replay_frames<F: File>(walker: &mut Walker<'_, F>, name: &str, replay: &mut Replay<'_>) -> Result<(), Error> {
    while let Some(frame) = walker.step()? {
        let offset = frame.offset;
        replay(frame.sequence, frame.payload).map_err(|source| Error::Replay {
            file: name.to_owned(),
            offset,
            source,
        })?;
    }
    Ok(())
}
