//! What a parsed request must satisfy before a service sees it.

use http::{Request, StatusCode, Version, header};
use http_body::Body as _;
use hyper::body::Incoming;

use crate::tape::{Framing, Tape};

/// Refuses requests that a proxy in front might read differently, and those with too many headers.
///
/// # Errors
/// The status to answer with; the connection closes after it.
pub(crate) fn check(request: &Request<Incoming>, tape: &mut Tape, headers_max: usize) -> Result<(), StatusCode> {
    let framing = if request.body().is_end_stream() {
        Framing::Length(0)
    } else {
        request
            .body()
            .size_hint()
            .exact()
            .map_or(Framing::Chunked, Framing::Length)
    };
    tape.take_head(framing).map_err(|ambiguity| {
        tracing::debug!(?ambiguity, "request refused");
        StatusCode::BAD_REQUEST
    })?;
    if headers_max < request.headers().len() {
        return Err(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    }
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let fine = match hosts.next() {
        Some(host) => hosts.next().is_none() && is_host(host.as_bytes()),
        None => request.version() != Version::HTTP_11,
    };
    if fine { Ok(()) } else { Err(StatusCode::BAD_REQUEST) }
}

/// A name or address with an optional port, by its characters (RFC 9110 7.2). An empty one stands for no authority at all, which no
/// `http` URL has.
fn is_host(text: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:[]".contains(byte);
    !text.is_empty() && text.iter().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_a_name_or_an_address() {
        for fine in [
            "a",
            "shop.example.com:8080",
            "127.0.0.1",
            "[::1]:80",
            "xn--fiq228c.example",
        ] {
            assert!(is_host(fine.as_bytes()), "{fine:?}");
        }
        for bad in [
            "",
            "a b",
            "user@host",
            "a/b",
            "a?b",
            "a#b",
            "http://a",
            "a\\b",
            "\u{e4}.de",
            "<script>",
            "\"a\"",
        ] {
            assert!(!is_host(bad.as_bytes()), "{bad:?}");
        }
    }
}
