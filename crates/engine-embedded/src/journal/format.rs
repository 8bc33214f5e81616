//! The bytes on the disk: file names, the header sector of every file, frames.
//!
//! ```text
//! journal.manifest                header sector only: names the snapshot and the newest segment
//! journal-0000000007.snapshot     header sector, frames; stands for all segments up to number 7
//! journal-0000000008.segment      header sector, frames, zeros
//!
//! header   magic 8 | version 4 | kind 4 | installation 16 | index 8 | sequence 8 | snapshot 8 | frames 8 | bytes 8
//!          | previous crc 4 | frame bytes max 4 | zeros | crc of all before it 4                        = 512 bytes
//! frame    magic 8 | sequence 8 | payload length 4 | previous frame's crc 4 | header crc 4 | frame crc 4  = 32 bytes
//!          | payload | zeros up to the next sector
//! ```
//!
//! Numbers are little-endian. Frames begin at sector boundaries, so that no commit ever rewrites a sector which holds
//! acknowledged bytes. The crcs of frames start from a seed made of the installation, the kind and the index of their
//! file: a frame that was copied from elsewhere, or forged inside a payload, is not a frame here. The crc of the header
//! sector stays at its end in every later version, so that a newer version can be told from damage.

use crate::storage::SECTOR_BYTES;

use super::error::Damage;

/// Names one installation; the journal and the ledger of an installation carry the same.
pub type InstallationId = [u8; 16];

pub(super) const VERSION: u32 = 1;
pub(super) const MANIFEST: &str = "journal.manifest";
/// Ending of a file that is being written and counts for nothing until it is renamed.
pub(super) const UNFINISHED: &str = ".unfinished";
pub(super) const FRAME_HEADER_BYTES: usize = 32;
const SECTOR: usize = SECTOR_BYTES as usize;
const FILE_MAGIC: [u8; 8] = *b"SECKILLJ";
/// Not text, so that no payload of names and digits holds it by accident.
const FRAME_MAGIC: [u8; 8] = [0xF5, 0x1A, 0x9C, 0x00, 0xE7, 0x8B, 0xD3, 0x46];
const SEGMENT_SUFFIX: &str = ".segment";
const SNAPSHOT_SUFFIX: &str = ".snapshot";

/// Bytes of disk that one frame with such a payload takes.
#[must_use]
pub const fn footprint(payload_bytes: usize) -> u64 {
    ((payload_bytes + FRAME_HEADER_BYTES) as u64).next_multiple_of(SECTOR_BYTES)
}

pub(super) fn segment_name(index: u64) -> String {
    format!("journal-{index:010}{SEGMENT_SUFFIX}")
}

pub(super) fn snapshot_name(index: u64) -> String {
    format!("journal-{index:010}{SNAPSHOT_SUFFIX}")
}

/// What a file name of the folder means to the journal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Name {
    Manifest,
    Segment(u64),
    Snapshot(u64),
    Unfinished,
    Foreign,
}

pub(super) fn parse_name(name: &str) -> Name {
    if name == MANIFEST {
        return Name::Manifest;
    }
    let Some(rest) = name.strip_prefix("journal") else {
        return Name::Foreign;
    };
    if rest.ends_with(UNFINISHED) {
        return Name::Unfinished;
    }
    let number = |suffix: &str| rest.strip_prefix('-')?.strip_suffix(suffix)?.parse::<u64>().ok();
    // Only the exact spelling counts, so that one number never has two files.
    if let Some(index) = number(SEGMENT_SUFFIX).filter(|index| segment_name(*index) == name) {
        return Name::Segment(index);
    }
    if let Some(index) = number(SNAPSHOT_SUFFIX).filter(|index| snapshot_name(*index) == name) {
        return Name::Snapshot(index);
    }
    Name::Foreign
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Manifest = 1,
    Segment = 2,
    Snapshot = 3,
}

/// The first sector of every file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) installation: InstallationId,
    /// Segment: its number. Snapshot: the newest segment it stands for. Manifest: the newest segment.
    pub(super) index: u64,
    /// Segment: its first frame's sequence. Snapshot: the first sequence it does not stand for.
    pub(super) sequence: u64,
    /// Manifest: index of the snapshot, 0 for none.
    pub(super) snapshot: u64,
    /// Snapshot: how many frames it holds.
    pub(super) frames: u64,
    /// Snapshot: its length.
    pub(super) bytes: u64,
    /// Segment: crc of the frame before its first. Snapshot: crc of the last frame it stands for.
    pub(super) previous_crc: u32,
    /// The largest payload of this file, in bytes.
    pub(super) frame_bytes_max: u32,
}

impl Header {
    pub(super) fn encode(&self) -> [u8; SECTOR] {
        let mut sector = [0; SECTOR];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            sector[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&FILE_MAGIC);
        put(&VERSION.to_le_bytes());
        put(&(self.kind as u32).to_le_bytes());
        put(&self.installation);
        for number in [self.index, self.sequence, self.snapshot, self.frames, self.bytes] {
            put(&number.to_le_bytes());
        }
        put(&self.previous_crc.to_le_bytes());
        put(&self.frame_bytes_max.to_le_bytes());
        let crc = crc32fast::hash(&sector[..SECTOR - 4]);
        sector[SECTOR - 4..].copy_from_slice(&crc.to_le_bytes());
        sector
    }

    pub(super) fn decode(sector: &[u8]) -> Result<Self, Damage> {
        if sector.is_empty() {
            return Err(Damage::Empty);
        }
        if sector.len() < SECTOR || sector[..8] != FILE_MAGIC {
            return Err(Damage::Header);
        }
        if crc32fast::hash(&sector[..SECTOR - 4]) != read_u32(sector, SECTOR - 4) {
            return Err(Damage::Header);
        }
        let version = read_u32(sector, 8);
        if version != VERSION {
            return Err(Damage::NewerVersion {
                version,
                version_max: VERSION,
            });
        }
        let kind = match read_u32(sector, 12) {
            1 => Kind::Manifest,
            2 => Kind::Segment,
            3 => Kind::Snapshot,
            _ => return Err(Damage::Header),
        };
        let mut installation = [0; 16];
        installation.copy_from_slice(&sector[16..32]);
        Ok(Self {
            kind,
            installation,
            index: read_u64(sector, 32),
            sequence: read_u64(sector, 40),
            snapshot: read_u64(sector, 48),
            frames: read_u64(sector, 56),
            bytes: read_u64(sector, 64),
            previous_crc: read_u32(sector, 72),
            frame_bytes_max: read_u32(sector, 76),
        })
    }

    /// Where the crcs of this file's frames start from.
    pub(super) fn seed(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.installation);
        hasher.update(&(self.kind as u32).to_le_bytes());
        hasher.update(&self.index.to_le_bytes());
        hasher.finalize()
    }
}

/// A frame's place in the journal: its sequence and the crc of the frame before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) next_sequence: u64,
    pub(super) previous_crc: u32,
}

impl Chain {
    pub(super) const START: Self = Self {
        next_sequence: 1,
        previous_crc: 0,
    };
}

/// The first bytes of a frame, whose own crc was right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    pub(super) sequence: u64,
    pub(super) payload_bytes: usize,
    pub(super) previous_crc: u32,
    pub(super) crc: u32,
}

/// Writes the frame into `buffer` (emptied first) and returns its crc.
///
/// # Panics
/// Where the payload is longer than a `u32` counts; the journal's limits exclude it.
pub(super) fn encode_frame(buffer: &mut Vec<u8>, seed: u32, chain: Chain, payload: &[u8]) -> u32 {
    let payload_bytes = u32::try_from(payload.len()).expect("the journal limits a payload to 1 GiB");
    buffer.clear();
    buffer.extend_from_slice(&FRAME_MAGIC);
    buffer.extend_from_slice(&chain.next_sequence.to_le_bytes());
    buffer.extend_from_slice(&payload_bytes.to_le_bytes());
    buffer.extend_from_slice(&chain.previous_crc.to_le_bytes());
    let mut hasher = crc32fast::Hasher::new_with_initial(seed);
    hasher.update(buffer);
    buffer.extend_from_slice(&hasher.clone().finalize().to_le_bytes());
    hasher.update(payload);
    let crc = hasher.finalize();
    buffer.extend_from_slice(&crc.to_le_bytes());
    buffer.extend_from_slice(payload);
    crc
}

pub(super) fn starts_like_a_frame(bytes: &[u8]) -> bool {
    bytes.starts_with(&FRAME_MAGIC)
}

/// Reads a frame's header; `None` where it is not whole.
pub(super) fn decode_frame_header(bytes: &[u8], seed: u32) -> Option<FrameHeader> {
    if bytes.len() < FRAME_HEADER_BYTES || !starts_like_a_frame(bytes) {
        return None;
    }
    let mut hasher = crc32fast::Hasher::new_with_initial(seed);
    hasher.update(&bytes[..24]);
    (hasher.finalize() == read_u32(bytes, 24)).then(|| FrameHeader {
        sequence: read_u64(bytes, 8),
        payload_bytes: read_u32(bytes, 16) as usize,
        previous_crc: read_u32(bytes, 20),
        crc: read_u32(bytes, 28),
    })
}

/// Whether `frame`, header included, has the crc that its header names.
pub(super) fn frame_is_whole(frame: &[u8], seed: u32, header: &FrameHeader) -> bool {
    let mut hasher = crc32fast::Hasher::new_with_initial(seed);
    hasher.update(&frame[..24]);
    hasher.update(&frame[FRAME_HEADER_BYTES..]);
    hasher.finalize() == header.crc
}

fn read_u32(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number)
}

fn read_u64(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}
