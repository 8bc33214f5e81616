//! Reads a file front to back in large pieces, whatever its length. Holds one piece at a time; knows no format.

use std::io;

use crate::storage::File;

/// Bytes read at once. A frame that is longer is read whole.
const PIECE_BYTES: usize = 1 << 20;

pub(super) struct Window<'a, F> {
    file: &'a F,
    len: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl<'a, F: File> Window<'a, F> {
    pub(super) fn new(file: &'a F) -> io::Result<Self> {
        Ok(Self {
            file,
            len: file.len()?,
            start: 0,
            bytes: Vec::new(),
        })
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// `count` bytes from `offset` on, or as many as the file has.
    pub(super) fn get(&mut self, offset: u64, count: usize) -> io::Result<&[u8]> {
        let wanted = (self.len.saturating_sub(offset)).min(count as u64);
        let held = self.start..self.start + self.bytes.len() as u64;
        if wanted > 0 && !(held.contains(&offset) && offset + wanted <= held.end) {
            self.fill(offset, count)?;
        }
        if wanted == 0 {
            return Ok(&[]);
        }
        let from = usize::try_from(offset - self.start).map_err(io::Error::other)?;
        let to = from + usize::try_from(wanted).map_err(io::Error::other)?;
        self.bytes
            .get(from..to)
            .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn fill(&mut self, offset: u64, count: usize) -> io::Result<()> {
        let left = usize::try_from(self.len - offset).unwrap_or(usize::MAX);
        self.bytes.resize(count.max(PIECE_BYTES).min(left), 0);
        self.start = offset;
        let read = self.file.read_full_at(&mut self.bytes, offset)?;
        self.bytes.truncate(read);
        Ok(())
    }
}
