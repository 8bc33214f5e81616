//! Recognises the error answers that hyper writes by itself.
//!
//! hyper answers a head that it can't parse with a bare status and closes. There is no hook to word
//! that answer, so the socket looks at what is written: such a head always ends the written bytes
//! and is of fixed form. It is taken out, and the connection's task sends the product's own answer.
//! Bodies can't be mistaken for it: it is looked for only while no request is with the service, and
//! not after a service answered as barely itself.

use http::StatusCode;

/// `Sun, 06 Nov 1994 08:49:37 GMT`
const DATE_LEN: usize = 29;

/// An error answer of hyper's own at the end of written bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnError {
    /// Where it starts.
    pub(crate) start: usize,
    /// Its status.
    pub(crate) status: StatusCode,
}

/// Statuses that hyper answers by itself.
const LINES: [(StatusCode, &[u8]); 3] = [
    (StatusCode::BAD_REQUEST, b"400 Bad Request\r\n"),
    (
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        b"431 Request Header Fields Too Large\r\n",
    ),
    (StatusCode::URI_TOO_LONG, b"414 URI Too Long\r\n"),
];

/// Whether a service's answer with this status and no body would look like hyper's own.
pub(crate) fn is_own_status(status: StatusCode) -> bool {
    LINES.iter().any(|(own, _)| *own == status)
}

/// hyper's own error answer at the end of `written`, if there is one.
pub(crate) fn find(written: &[u8]) -> Option<OwnError> {
    let rest = written.strip_suffix(b"\r\n\r\n")?;
    let rest = &rest[..rest.len().checked_sub(DATE_LEN)?];
    let rest = rest.strip_suffix(b"content-length: 0\r\ndate: ")?;
    let rest = rest.strip_suffix(b"connection: close\r\n").unwrap_or(rest);
    LINES.iter().find_map(|&(status, line)| {
        let rest = rest.strip_suffix(line)?;
        let rest = rest
            .strip_suffix(b"HTTP/1.1 ")
            .or_else(|| rest.strip_suffix(b"HTTP/1.0 "))?;
        Some(OwnError {
            start: rest.len(),
            status,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\
                        date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n";

    #[test]
    fn bare_error_is_found_behind_an_answer() {
        let written = format!("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok{BARE}");
        let found = find(written.as_bytes()).expect("it ends the bytes");
        assert_eq!(&written[found.start..], BARE);
        assert_eq!(found.status, StatusCode::BAD_REQUEST);
    }

    #[test]
    fn other_answers_are_left_alone() {
        for written in [
            "",
            "\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n",
            &BARE.replace("content-length: 0", "content-length: 7"),
            &BARE.replace("400 Bad Request", "404 Not Found"),
            &BARE.replace("connection", "x-request-id: 1\r\nconnection"),
        ] {
            assert_eq!(find(written.as_bytes()), None, "{written:?}");
        }
    }
}
