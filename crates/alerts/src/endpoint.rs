//! Where alerts go: an `http://` address. TLS is not spoken here; a receiver outside of the own network is reached through a relay.

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};

/// Why an address is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// It is none.
    #[error("must be an address such as http://alerts.internal:9000/hook")]
    Malformed,
    /// It wants TLS.
    #[error("https is not spoken; give an http address in your own network, such as that of a relay")]
    Tls,
}

/// A receiver's address.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub(crate) authority: Authority,
    pub(crate) path: PathAndQuery,
}

impl std::fmt::Debug for Endpoint {
    /// Without the path, which may hold what only the receiver should know.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "http://{}", self.authority.host())
    }
}

impl Endpoint {
    /// Reads an address.
    ///
    /// # Errors
    /// [`EndpointError`].
    pub fn parse(text: &str) -> Result<Self, EndpointError> {
        let uri: Uri = text.parse().map_err(|_| EndpointError::Malformed)?;
        if uri.scheme() == Some(&Scheme::HTTPS) {
            return Err(EndpointError::Tls);
        }
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'));
        match (uri.scheme(), authority) {
            (Some(scheme), Some(authority)) if *scheme == Scheme::HTTP && !authority.host().is_empty() => Ok(Self {
                authority: authority.clone(),
                path: uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/")),
            }),
            _ => Err(EndpointError::Malformed),
        }
    }

    /// Host and port to connect to.
    pub(crate) fn address(&self) -> (&str, u16) {
        let host = self.authority.host();
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        (bare.unwrap_or(host), self.authority.port_u16().unwrap_or(80))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_others_refused() {
        for (text, host, port, path) in [
            ("http://a", "a", 80, "/"),
            ("http://a:9000/hook?x=1", "a", 9_000, "/hook?x=1"),
            ("http://[::1]:80/x", "::1", 80, "/x"),
        ] {
            let endpoint = Endpoint::parse(text).unwrap();
            assert_eq!((endpoint.address(), endpoint.path.as_str()), ((host, port), path));
        }
        assert_eq!(Endpoint::parse("https://a/x"), Err(EndpointError::Tls));
        for text in [
            "",
            "a",
            "/x",
            "ftp://a/x",
            "http://",
            "http://me:secret@a/x",
            "http://a b",
        ] {
            assert_eq!(Endpoint::parse(text), Err(EndpointError::Malformed), "{text}");
        }
        assert_eq!(
            format!("{:?}", Endpoint::parse("http://a:1/secret").unwrap()),
            "http://a"
        );
    }
}
