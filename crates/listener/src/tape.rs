//! The raw bytes of request heads, kept just long enough to see what the parser hides.
//!
//! hyper quietly drops a `Content-Length` that stands beside `Transfer-Encoding`, drops an equal
//! second `Content-Length`, and takes a bare LF for a line end. Each of these is read differently
//! by some proxy, which is how requests are smuggled; so each is refused here, on the same bytes.
//!
//! The tape follows the stream: heads are kept, body bytes are skipped by their declared length. It
//! doesn't follow chunked bodies: a connection ends after one.

use memchr::memchr_iter;

use crate::chunks::Chunks;

/// Unexamined bytes kept at most. The parser's own buffer is smaller, so a tape that reaches this
/// has lost its place.
const KEPT_BYTES_MAX: usize = 256 * 1024;
/// Capacity that an idle connection keeps.
const IDLE_CAPACITY_MAX: usize = 2 * 1024;

/// A head that some intermediary may read differently than we do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ambiguity {
    /// Two lines declare the body's length.
    LengthTwice,
    /// The body's length is not of digits alone.
    OddLength,
    /// Both a length and chunked framing are declared.
    LengthAndChunked,
    /// The body is encoded in another way than in chunks alone.
    OtherEncoding,
    /// A line ends without CR.
    BareLineFeed,
    /// The head isn't on the tape: it came pipelined behind a body without a length.
    Unseen,
}

/// How the body behind a head is framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// This many bytes; 0 for no body.
    Length(u64),
    /// Chunks until the last one.
    Chunked,
}

/// The raw bytes of the heads that were received but not examined yet.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    bytes: Vec<u8>,
    examined: usize,
    body_left: u64,
    lost: bool,
    /// The body in chunks that the connection ends with.
    chunks: Option<Chunks>,
}

impl Tape {
    /// Takes note of received bytes.
    pub(crate) fn record(&mut self, received: &[u8]) {
        if let Some(chunks) = &mut self.chunks {
            return chunks.follow(received);
        }
        let of_body = usize::try_from(self.body_left).map_or(received.len(), |left| left.min(received.len()));
        self.body_left -= of_body as u64;
        let of_heads = &received[of_body..];
        if of_heads.is_empty() || self.lost {
            return;
        }
        if KEPT_BYTES_MAX < self.bytes.len() + of_heads.len() {
            self.bytes.drain(..self.examined);
            self.examined = 0;
            if KEPT_BYTES_MAX < self.bytes.len() + of_heads.len() {
                self.lose();
                return;
            }
        }
        self.bytes.extend_from_slice(of_heads);
    }

    /// Examines the next head, which the parser has just found complete, and steps over it and
    /// its body.
    pub(crate) fn take_head(&mut self, framing: Framing) -> Result<(), Ambiguity> {
        if self.lost {
            return Err(Ambiguity::Unseen);
        }
        let head_len = examine(&self.bytes[self.examined..])?;
        self.examined += head_len;
        match framing {
            Framing::Length(length) => {
                let here = self.bytes.len() - self.examined;
                let of_body = usize::try_from(length).map_or(here, |length| length.min(here));
                self.examined += of_body;
                self.body_left = length - of_body as u64;
            }
            Framing::Chunked => {
                let mut chunks = Chunks::default();
                chunks.follow(&self.bytes[self.examined..]);
                self.chunks = Some(chunks);
                self.lose();
            }
        }
        if self.examined == self.bytes.len() {
            self.bytes.clear();
            self.bytes.shrink_to(IDLE_CAPACITY_MAX);
            self.examined = 0;
        }
        Ok(())
    }

    /// Whether the latest request's body may still be on its way, so that the connection can't be
    /// used again unless somebody reads it.
    pub(crate) fn awaits_body(&self) -> bool {
        self.lost || 0 < self.body_left
    }

    /// Whether the latest request's body in chunks is framed in a way that some intermediary may read differently than we do.
    pub(crate) fn body_is_ambiguous(&self) -> bool {
        self.chunks.as_ref().is_some_and(Chunks::is_broken)
    }

    fn lose(&mut self) {
        self.lost = true;
        self.bytes = Vec::new();
        self.examined = 0;
    }
}

/// The length of the head at the start of `bytes`, or what is ambiguous in it.
fn examine(bytes: &[u8]) -> Result<usize, Ambiguity> {
    let mut line_start = 0;
    let mut lengths = 0;
    let mut chunked = false;
    let mut request_line_seen = false;
    for line_end in memchr_iter(b'\n', bytes) {
        let Some(line) = bytes[line_start..line_end].strip_suffix(b"\r") else {
            return Err(Ambiguity::BareLineFeed);
        };
        line_start = line_end + 1;
        match line.first() {
            // Empty lines may precede a request; the first one after its line ends the head.
            None if request_line_seen => {
                return match (lengths, chunked) {
                    (0 | 1, false) | (0, true) => Ok(line_start),
                    (_, true) => Err(Ambiguity::LengthAndChunked),
                    (_, false) => Err(Ambiguity::LengthTwice),
                };
            }
            None => {}
            Some(_) if !request_line_seen => request_line_seen = true,
            Some(b'c' | b'C') if is_named(line, b"content-length") => {
                if !value(line, b"content-length").iter().all(u8::is_ascii_digit) {
                    return Err(Ambiguity::OddLength);
                }
                lengths += 1;
            }
            Some(b't' | b'T') if is_named(line, b"transfer-encoding") => {
                if !value(line, b"transfer-encoding").eq_ignore_ascii_case(b"chunked") {
                    return Err(Ambiguity::OtherEncoding);
                }
                chunked = true;
            }
            Some(_) => {}
        }
    }
    Err(Ambiguity::Unseen)
}

/// What stands behind the colon. Only spaces before it are passed over: what else is white, and what of it belongs to a value, is read in
/// several ways.
fn value<'a>(line: &'a [u8], name: &[u8]) -> &'a [u8] {
    let mut value = &line[name.len() + 1..];
    while let [b' ', rest @ ..] = value {
        value = rest;
    }
    value
}

fn is_named(line: &[u8], name: &[u8]) -> bool {
    line.get(name.len()) == Some(&b':') && line[..name.len()].eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests;
