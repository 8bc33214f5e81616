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
    let host = hosts.next();
    if hosts.next().is_some() || (host.is_none() && request.version() == Version::HTTP_11) {
        return Err(StatusCode::BAD_REQUEST);
    }
    Ok(())
}
