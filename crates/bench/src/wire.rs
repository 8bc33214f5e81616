//! Reads HTTP/1.1 answers out of bytes. Pure: it does no IO, so the cheap client and the operator's client share it.
//!
//! The load client takes only status, code and ticket out of an answer, by scanning; a JSON parser a request would cost the shared
//! cores as much as the server's own work.

use std::borrow::Cow;

/// An answer with more header fields than this is refused as malformed.
const HEADERS_MAX: usize = 64;

/// One complete answer at the beginning of a buffer.
#[derive(Debug)]
pub(crate) struct Response<'a> {
    pub(crate) status: u16,
    /// The server will close this connection.
    pub(crate) close: bool,
    pub(crate) body: Cow<'a, [u8]>,
    /// Bytes of the buffer that this answer took.
    pub(crate) length: usize,
}

/// The bytes can't become an HTTP/1.1 answer any more.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

enum Framing {
    Length(usize),
    Chunked,
    UntilClose,
}

/// The answer at the beginning of `bytes`, or `None` while more bytes are needed. `ended` says that none will come: only then is an
/// answer without a length complete.
pub(crate) fn parse(bytes: &[u8], ended: bool) -> Result<Option<Response<'_>>, Malformed> {
    let mut fields = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(start) = head.parse(bytes).map_err(|_| Malformed)? else {
        return Ok(None);
    };
    let status = head.code.ok_or(Malformed)?;
    let mut close = head.version == Some(0);
    let mut framing = if status < 200 || status == 204 || status == 304 {
        Framing::Length(0)
    } else {
        Framing::UntilClose
    };
    for field in head.headers.iter() {
        if field.name.eq_ignore_ascii_case("content-length") && matches!(framing, Framing::UntilClose) {
            framing = Framing::Length(decimal(field.value).ok_or(Malformed)?);
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            framing = Framing::Chunked;
        } else if field.name.eq_ignore_ascii_case("connection") {
            close = field.value.eq_ignore_ascii_case(b"close");
        }
    }
    let rest = &bytes[start..];
    Ok(match framing {
        Framing::Length(length) if rest.len() < length => None,
        Framing::Length(length) => Some(Response {
            status,
            close,
            body: Cow::Borrowed(&rest[..length]),
            length: start + length,
        }),
        Framing::Chunked => chunks(rest)?.map(|(body, length)| Response {
            status,
            close,
            body: Cow::Owned(body),
            length: start + length,
        }),
        Framing::UntilClose if !ended => None,
        Framing::UntilClose => Some(Response {
            status,
            close: true,
            body: Cow::Borrowed(rest),
            length: bytes.len(),
        }),
    })
}

/// The joined chunks and how many bytes they took, or `None` while the last one is missing.
fn chunks(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Malformed> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let (start, size) = match httparse::parse_chunk_size(&bytes[at..]).map_err(|_| Malformed)? {
            httparse::Status::Complete((start, size)) => (start, usize::try_from(size).map_err(|_| Malformed)?),
            httparse::Status::Partial => return Ok(None),
        };
        at += start;
        let end = at
            .checked_add(size)
            .and_then(|end| end.checked_add(2))
            .ok_or(Malformed)?;
        if bytes.len() < end {
            return Ok(None);
        }
        body.extend_from_slice(&bytes[at..end - 2]);
        at = end;
        if size == 0 {
            return Ok(Some((body, at)));
        }
    }
}

/// The number of the first `"code":` in a JSON body. A quoted `"code":` inside a string has its quotes escaped and is not found.
pub(crate) fn code_of(body: &[u8]) -> Option<i32> {
    let digits = after(body, b"\"code\":")?.trim_ascii_start();
    let end = digits
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(digits.len());
    decimal(&digits[..end]).and_then(|code| i32::try_from(code).ok())
}

/// The value of the first `"ticket":"…"` in a JSON body.
pub(crate) fn ticket_of(body: &[u8]) -> Option<&str> {
    let value = after(body, b"\"ticket\":")?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = value.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(&value[..end]).ok()
}

fn after<'a>(body: &'a [u8], needle: &[u8]) -> Option<&'a [u8]> {
    let at = body.windows(needle.len()).position(|window| window == needle)?;
    Some(&body[at + needle.len()..])
}

fn decimal(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> (u16, bool, Vec<u8>, usize) {
        let response = parse(bytes, false).unwrap().unwrap();
        (
            response.status,
            response.close,
            response.body.into_owned(),
            response.length,
        )
    }

    #[test]
    fn every_prefix_of_an_answer_is_incomplete() {
        for bytes in [
            &b"HTTP/1.1 202 Accepted\r\nContent-Length: 3\r\n\r\nabc"[..],
            &b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"[..],
        ] {
            for end in 0..bytes.len() {
                assert!(parse(&bytes[..end], false).unwrap().is_none(), "{end}");
            }
            assert_eq!(whole(bytes).2, b"abc");
            assert_eq!(whole(bytes).3, bytes.len());
        }
    }

    #[test]
    fn answer_without_length_ends_with_the_connection() {
        let bytes = b"HTTP/1.1 200 OK\r\n\r\nabc";
        assert!(parse(bytes, false).unwrap().is_none());
        assert_eq!(&*parse(bytes, true).unwrap().unwrap().body, b"abc");
    }

    #[test]
    fn not_modified_has_no_body_whatever_its_length_says() {
        assert_eq!(whole(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n").2, b"");
    }

    #[test]
    fn close_is_seen() {
        assert!(whole(b"HTTP/1.1 503 x\r\nconnection: Close\r\ncontent-length: 0\r\n\r\n").1);
        assert!(!whole(b"HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n").1);
    }

    #[test]
    fn noise_is_malformed() {
        assert_eq!(parse(b"SSH-2.0-x\r\n", false).unwrap_err(), Malformed);
        assert_eq!(
            parse(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", false).unwrap_err(),
            Malformed
        );
    }

    #[test]
    fn code_and_ticket_are_found_by_scanning() {
        let body = br#"{"code":0,"message":"queued","data":{"ticket":"t-1","state":"queued"}}"#;
        assert_eq!((code_of(body), ticket_of(body)), (Some(0), Some("t-1")));
        assert_eq!(
            code_of(br#"{"type":"x","detail":"say \"code\":7","code": 40005}"#),
            Some(40005)
        );
        assert_eq!((code_of(b"<html>"), ticket_of(b"<html>")), (None, None));
    }
}
