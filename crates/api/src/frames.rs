//! Counts the frames of a WebSocket as they come in. The library puts messages together and tells of whole ones alone; it bounds their bytes,
//! but of empty parts one may send any number.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of the longest head of a frame: two, a length of eight, a mask of four.
const HEAD_BYTES_MAX: usize = 14;
/// In the second byte of a head: whether there is a mask, and a length below 126 or what says where it stands.
const MASKED: u8 = 0x80;
const LENGTH: u8 = 0x7f;

/// Why a socket is read no more.
#[derive(Debug, thiserror::Error)]
#[error("too many frames")]
pub(crate) struct TooManyFrames;

/// A connection whose reader may send so many frames until somebody says [`CountedFrames::start_again`]. What is beyond them is an error
/// where it is read; of the read that goes beyond, all is handed on.
#[derive(Debug)]
pub(crate) struct CountedFrames<S> {
    stream: S,
    scanner: Scanner,
    frames: u32,
    frames_max: u32,
}

impl<S> CountedFrames<S> {
    pub(crate) fn new(stream: S, frames_max: u32) -> Self {
        Self {
            stream,
            scanner: Scanner::default(),
            frames: 0,
            frames_max,
        }
    }

    /// Counts from 0 again.
    pub(crate) const fn start_again(&mut self) {
        self.frames = 0;
    }
}

/// Where in a row of frames somebody is.
#[derive(Debug, Default)]
struct Scanner {
    /// The beginning of a head that is not whole yet.
    head: [u8; HEAD_BYTES_MAX],
    head_bytes: usize,
    /// Bytes of the payload that are still to come.
    payload_bytes: u64,
}

impl Scanner {
    /// How many heads are whole with these bytes.
    fn pass(&mut self, mut bytes: &[u8]) -> u32 {
        let mut frames = 0;
        loop {
            let skipped = usize::try_from(self.payload_bytes).map_or(bytes.len(), |left| left.min(bytes.len()));
            self.payload_bytes -= skipped as u64;
            bytes = &bytes[skipped..];
            let Some((next, rest)) = bytes.split_first() else {
                return frames;
            };
            bytes = rest;
            self.head[self.head_bytes] = *next;
            self.head_bytes += 1;
            if let Some(payload_bytes) = announced(&self.head[..self.head_bytes]) {
                *self = Self {
                    payload_bytes,
                    ..Self::default()
                };
                frames += 1;
            }
        }
    }
}

/// Bytes of the payload that a head announces; none where the head is not whole.
fn announced(head: &[u8]) -> Option<u64> {
    let second = *head.get(1)?;
    let length_bytes = match second & LENGTH {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    let mask_bytes = if second & MASKED == 0 { 0 } else { 4 };
    let length = head.get(2..2 + length_bytes)?;
    let is_whole = head.len() == 2 + length_bytes + mask_bytes;
    let short = u64::from(second & LENGTH);
    let long = || length.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    is_whole.then(|| if length.is_empty() { short } else { long() })
}

impl<S: AsyncRead + Unpin> AsyncRead for CountedFrames<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.frames_max < self.frames {
            return Poll::Ready(Err(io::Error::other(TooManyFrames)));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let frames = self.scanner.pass(&buffer.filled()[before..]);
        self.frames = self.frames.saturating_add(frames);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountedFrames<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame that says to have so many bytes, and has them.
    fn frame(length: usize, mask: u8) -> Vec<u8> {
        let mut frame = vec![2];
        match length {
            0..126 => frame.push(mask | u8::try_from(length).expect("short")),
            126..65_536 => {
                frame.push(mask | 126);
                frame.extend(u16::try_from(length).expect("fits").to_be_bytes());
            }
            _ => {
                frame.push(mask | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend([0x82].repeat(if mask == 0 { 0 } else { 4 } + length));
        frame
    }

    #[test]
    fn frames_are_counted_however_they_are_cut() {
        let lengths = [0, 1, 0, 125, 126, 127, 65_535, 65_536, 0, 0];
        let bytes: Vec<u8> = lengths
            .iter()
            .flat_map(|length| [frame(*length, MASKED), frame(*length, 0)].concat())
            .collect();
        for piece in [1, 2, 3, 7, 14, 1_000, bytes.len()] {
            let mut scanner = Scanner::default();
            let frames: u32 = bytes.chunks(piece).map(|piece| scanner.pass(piece)).sum();
            assert_eq!(frames, 20, "pieces of {piece}");
            assert_eq!((scanner.head_bytes, scanner.payload_bytes), (0, 0));
        }
    }

    #[test]
    fn what_a_frame_announces_and_has_not_is_no_frame() {
        let mut scanner = Scanner::default();
        assert_eq!(scanner.pass(&[0x82, MASKED | 127]), 0);
        assert_eq!(scanner.pass(&[0xff; 8]), 0);
        assert_eq!(scanner.pass(&[0; 4]), 1);
        assert_eq!(scanner.pass(&[0; 100_000]), 0);
    }

    #[tokio::test]
    async fn a_reader_who_counts_again_may_have_as_many_again() {
        use tokio::io::AsyncReadExt as _;
        let bytes = [0x80, MASKED, 0, 0, 0, 0].repeat(8);
        let mut frames = CountedFrames::new(&bytes[..], 2);
        let mut six = [0; 6];
        for _ in 0..2 {
            for _ in 0..3 {
                frames.read_exact(&mut six).await.expect("the third goes beyond");
            }
            let error = frames.read_exact(&mut six).await.expect_err("too many");
            assert!(error.get_ref().is_some_and(|error| error.is::<TooManyFrames>()));
            frames.start_again();
        }
    }
}
