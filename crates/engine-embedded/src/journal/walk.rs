//! Walks the frames of one file and judges what follows the last of them.
//!
//! The judgement rests on one promise of the writer: at any time at most one frame is not synced, and it lies behind
//! all others, on sectors that were zeros. So what a power loss leaves behind the last whole frame is a mix of zeros
//! and sectors of one single frame: a torn tail. A whole frame behind a bad one, or the beginning of a frame further
//! away than one frame reaches, can't come from a power loss: damage.

use std::ops::Range;

use crate::storage::{File, SECTOR_BYTES};

use super::error::{Damage, Error, Operation};
use super::format::{
    Chain, FRAME_HEADER_BYTES, FrameHeader, Header, InstallationId, Kind, decode_frame_header, footprint,
    frame_is_whole, starts_like_a_frame,
};
use super::window::Window;

const SECTOR: usize = SECTOR_BYTES as usize;

/// A whole frame that continues the one before it.
pub(super) struct Frame<'w> {
    pub(super) sequence: u64,
    pub(super) offset: u64,
    pub(super) payload: &'w [u8],
}

/// What lies behind the last whole frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// Zeros, or nothing.
    Clean,
    /// Remains of a frame that was never synced, with the offset of their first and behind their last byte.
    Torn { from: u64, to: u64 },
}

/// Stands at one frame of a file.
pub(super) struct Walker<'a, F> {
    window: Window<'a, F>,
    name: &'a str,
    seed: u32,
    payload_bytes_max: usize,
    chain: Chain,
    offset: u64,
    frames: u64,
    last: Range<u64>,
    /// Where bytes that aren't zero follow the last frame inside its last sector.
    stray: Option<u64>,
}

impl<'a, F: File> Walker<'a, F> {
    /// Starts at the first frame. `chain` says what the frame must continue.
    pub(super) fn new(file: &'a F, name: &'a str, header: &Header, chain: Chain) -> Result<Self, Error> {
        Ok(Self {
            window: Window::new(file).map_err(Error::io(Operation::Read, name))?,
            name,
            seed: header.seed(),
            payload_bytes_max: header.frame_bytes_max as usize,
            chain,
            offset: SECTOR_BYTES,
            frames: 0,
            last: 0..0,
            stray: None,
        })
    }

    /// What the next frame must continue.
    pub(super) fn chain(&self) -> Chain {
        self.chain
    }

    /// Where the next frame begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whole frames passed so far.
    pub(super) fn frames(&self) -> u64 {
        self.frames
    }

    /// The bytes of the last frame passed, without padding; empty where there was none.
    pub(super) fn last(&self) -> Range<u64> {
        self.last.clone()
    }

    /// Length of the file.
    pub(super) fn len(&self) -> u64 {
        self.window.len()
    }

    /// Passes one frame; `None` where no whole frame follows.
    pub(super) fn step(&mut self) -> Result<Option<Frame<'_>>, Error> {
        let offset = self.offset;
        if self.stray.is_some() {
            return Ok(None);
        }
        let Some(header) = self.whole_frame_at(offset)? else {
            return Ok(None);
        };
        if header.sequence != self.chain.next_sequence || header.previous_crc != self.chain.previous_crc {
            let damage = Damage::OutOfSequence {
                found: header.sequence,
                expected: self.chain.next_sequence,
            };
            return Err(Error::damaged(self.name, offset, damage));
        }
        self.chain = Chain {
            next_sequence: header.sequence + 1,
            previous_crc: header.crc,
        };
        self.frames += 1;
        let frame_bytes = FRAME_HEADER_BYTES + header.payload_bytes;
        self.offset = offset + footprint(header.payload_bytes);
        self.last = offset..offset + frame_bytes as u64;
        let padding = usize::try_from(self.offset - self.last.end).unwrap_or(0);
        if self
            .get(offset + frame_bytes as u64, padding)?
            .iter()
            .any(|byte| *byte != 0)
        {
            self.stray = Some(self.last.end);
        }
        let frame = self.get(offset, frame_bytes)?;
        Ok(Some(Frame {
            sequence: header.sequence,
            offset,
            payload: &frame[FRAME_HEADER_BYTES..],
        }))
    }

    /// Judges what follows the last whole frame.
    ///
    /// # Errors
    /// [`Damage::Frame`] where it can't be the remains of one unsynced frame.
    pub(super) fn tail(&mut self) -> Result<Tail, Error> {
        let gap = self.stray.unwrap_or(self.offset);
        let reach = self.offset + self.reach_of_an_unsynced_frame()?;
        let mut from = None;
        let mut to = 0;
        let mut at = gap;
        while at < self.len() {
            // The first piece is shorter where the gap begins inside a sector.
            let piece = SECTOR - (at % SECTOR_BYTES) as usize;
            let bytes = self.get(at, piece)?;
            if let Some(last) = bytes.iter().rposition(|byte| *byte != 0) {
                from.get_or_insert(gap);
                to = at + last as u64 + 1;
                let starts = starts_like_a_frame(bytes) && at > gap;
                if starts && (at >= reach || self.whole_frame_at(at)?.is_some()) {
                    return Err(Error::damaged(self.name, gap, Damage::Frame));
                }
            }
            at += piece as u64;
        }
        Ok(from.map_or(Tail::Clean, |from| Tail::Torn { from, to }))
    }

    /// Goes on at the next whole frame behind `offset`, whatever its sequence; false where there is none. For reports
    /// on damaged files only.
    pub(super) fn skip_damage(&mut self, offset: u64) -> Result<bool, Error> {
        let mut at = (offset / SECTOR_BYTES + 1) * SECTOR_BYTES;
        while at < self.len() {
            if let Some(header) = self.whole_frame_at(at)? {
                self.chain = Chain {
                    next_sequence: header.sequence,
                    previous_crc: header.previous_crc,
                };
                self.offset = at;
                self.stray = None;
                return Ok(true);
            }
            at += SECTOR_BYTES;
        }
        Ok(false)
    }

    /// How far one unsynced frame at the current offset may reach: known exactly where its header survived.
    fn reach_of_an_unsynced_frame(&mut self) -> Result<u64, Error> {
        let (offset, seed, expected) = (self.offset, self.seed, self.chain.next_sequence);
        let header = decode_frame_header(self.get(offset, FRAME_HEADER_BYTES)?, seed);
        let known =
            header.filter(|header| header.sequence == expected && header.payload_bytes <= self.payload_bytes_max);
        Ok(footprint(
            known.map_or(self.payload_bytes_max, |header| header.payload_bytes),
        ))
    }

    fn whole_frame_at(&mut self, offset: u64) -> Result<Option<FrameHeader>, Error> {
        let seed = self.seed;
        let Some(header) = decode_frame_header(self.get(offset, FRAME_HEADER_BYTES)?, seed) else {
            return Ok(None);
        };
        if header.payload_bytes > self.payload_bytes_max {
            return Ok(None);
        }
        let frame_bytes = FRAME_HEADER_BYTES + header.payload_bytes;
        let frame = self.get(offset, frame_bytes)?;
        Ok((frame.len() == frame_bytes && frame_is_whole(frame, seed, &header)).then_some(header))
    }

    fn get(&mut self, offset: u64, count: usize) -> Result<&[u8], Error> {
        self.window
            .get(offset, count)
            .map_err(Error::io(Operation::Read, self.name))
    }
}

/// Reads a file's header and checks that it is the file that its name says, of this installation.
pub(super) fn read_header<F: File>(
    file: &F,
    name: &str,
    kind: Kind,
    index: u64,
    installation: Option<InstallationId>,
) -> Result<Header, Error> {
    let mut sector = [0; SECTOR];
    let read = file
        .read_full_at(&mut sector, 0)
        .map_err(Error::io(Operation::Read, name))?;
    let header = Header::decode(&sector[..read]).map_err(|damage| Error::damaged(name, 0, damage))?;
    let damage = if header.kind != kind {
        Damage::Header
    } else if installation.is_some_and(|installation| installation != header.installation) {
        Damage::ForeignInstallation
    } else if kind != Kind::Manifest && header.index != index {
        Damage::Misplaced {
            found: header.index,
            expected: index,
        }
    } else {
        return Ok(header);
    };
    Err(Error::damaged(name, 0, damage))
}
