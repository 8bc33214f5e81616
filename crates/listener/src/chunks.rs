//! The framing of a body in chunks, followed byte by byte and more strictly than the parser does it: that one passes over spaces behind a
//! size, which some proxy in front may take for part of it. What the chunks hold is looked at by nobody here.
//!
//! ```text
//! Size ──CR──▶ SizeEnd ──LF──▶ Data ──all──▶ DataEnd ─▶ Size …          a size of 0 ends the body: Over
//!   └──';'──▶ Extension ──CR──┘
//! ```

/// Most digits of a size: what 64 bits hold.
const DIGITS_MAX: u8 = 16;
/// Most bytes of extensions of one chunk. Nobody needs any; a megabyte of them is an attack.
const EXTENSION_BYTES_MAX: u16 = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Size {
        digits: u8,
    },
    Extension {
        bytes: u16,
    },
    SizeEnd,
    Data,
    /// Behind the data: CR and then LF.
    DataEnd {
        cr_seen: bool,
    },
    /// Behind the last chunk; trailers are the parser's.
    Over,
    Broken,
}

/// How far the framing of one body was followed.
#[derive(Debug)]
pub(crate) struct Chunks {
    at: At,
    /// The size that is being read, or the bytes of data that are still to come.
    left: u64,
}

impl Default for Chunks {
    fn default() -> Self {
        Self {
            at: At::Size { digits: 0 },
            left: 0,
        }
    }
}

impl Chunks {
    /// Whether something in it may be read in two ways.
    pub(crate) fn is_broken(&self) -> bool {
        self.at == At::Broken
    }

    /// Follows the next bytes.
    pub(crate) fn follow(&mut self, mut bytes: &[u8]) {
        while let [byte, rest @ ..] = bytes {
            match self.at {
                At::Over | At::Broken => return,
                At::Data => {
                    let here = usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
                    self.left -= here as u64;
                    if self.left == 0 {
                        self.at = At::DataEnd { cr_seen: false };
                    }
                    bytes = &bytes[here..];
                }
                at => {
                    self.at = self.step(at, *byte);
                    bytes = rest;
                }
            }
        }
    }

    /// Where a byte of the framing leads to.
    fn step(&mut self, at: At, byte: u8) -> At {
        match (at, byte) {
            (At::Size { digits: DIGITS_MAX }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F')
            | (At::Size { digits: 0 }, b'\r' | b';') => At::Broken,
            (At::Size { digits }, _) if byte.is_ascii_hexdigit() => {
                let digit = (byte as char).to_digit(16).unwrap_or_default();
                self.left = self.left << 4 | u64::from(digit);
                At::Size { digits: digits + 1 }
            }
            (At::Size { .. } | At::Extension { .. }, b'\r') => At::SizeEnd,
            (At::Size { .. }, b';') => At::Extension { bytes: 0 },
            (At::Extension { bytes }, b' '..=b'~' | b'\t') if bytes < EXTENSION_BYTES_MAX => {
                At::Extension { bytes: bytes + 1 }
            }
            (At::SizeEnd, b'\n') if self.left == 0 => At::Over,
            (At::SizeEnd, b'\n') => At::Data,
            (At::DataEnd { cr_seen: false }, b'\r') => At::DataEnd { cr_seen: true },
            (At::DataEnd { cr_seen: true }, b'\n') => At::Size { digits: 0 },
            _ => At::Broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However the bytes are split.
    #[track_caller]
    fn check(bytes: &[u8], broken: bool) {
        let mut whole = Chunks::default();
        whole.follow(bytes);
        let mut split = Chunks::default();
        bytes.iter().for_each(|&byte| split.follow(&[byte]));
        assert_eq!(whole.is_broken(), broken, "{}", bytes.escape_ascii());
        assert_eq!(
            (whole.at, whole.left),
            (split.at, split.left),
            "{}",
            bytes.escape_ascii()
        );
    }

    #[test]
    fn bodies_in_chunks_are_followed_to_their_end() {
        for fine in [
            &b"2\r\n{}\r\n0\r\n\r\n"[..],
            b"1\r\n{\r\n01\r\n}\r\n0\r\n\r\nGET whatever",
            b"0\r\n\r\n",
            b"A;name=value\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
            b"2\r\n\r\n\r\n0\r\n\r\n",
            b"ffffffffffffffff\r\nx",
        ] {
            check(fine, false);
        }
    }

    #[test]
    fn framing_that_can_be_read_in_two_ways_is_broken() {
        for bad in [
            &b"2 \r\n{}\r\n0\r\n\r\n"[..],
            b"2\t\r\n{}\r\n",
            b" 2\r\n{}\r\n",
            b"+2\r\n",
            b"0x2\r\n",
            b"\r\n",
            b";a=b\r\n",
            b"2\n{}\n",
            b"2;a\nb\r\n",
            b"2\r{}",
            b"2\r\n{}}\r\n",
            b"2\r\n{}\n0\r\n",
            b"10000000000000002\r\n",
            format!("2;{}\r\n", "x".repeat(129)).as_bytes(),
        ] {
            check(bad, true);
        }
    }
}
