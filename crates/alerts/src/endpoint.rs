//! Where alerts go: an `http://` or `https://` address.

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};
use rustls::pki_types::ServerName;

/// The address is not taken: it is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an address such as https://alerts.example.com/hook or http://alerts.internal:9000/hook")]
pub struct EndpointError;

/// A receiver's address.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub(crate) is_tls: bool,
    pub(crate) authority: Authority,
    pub(crate) path: PathAndQuery,
}

impl std::fmt::Debug for Endpoint {
    /// Without the path, which may hold what only the receiver should know.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = if self.is_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority.host())
    }
}

impl Endpoint {
    /// Reads an address.
    ///
    /// # Errors
    /// [`EndpointError`].
    pub fn parse(text: &str) -> Result<Self, EndpointError> {
        let uri: Uri = text.parse().map_err(|_| EndpointError)?;
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'));
        let (Some(scheme), Some(authority)) = (uri.scheme(), authority) else {
            return Err(EndpointError);
        };
        let is_tls = *scheme == Scheme::HTTPS;
        let endpoint = Self {
            is_tls,
            authority: authority.clone(),
            path: uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/")),
        };
        let (host, _) = endpoint.address();
        // A certificate names a host or an address, and nothing else.
        let is_named = !host.is_empty() && (!is_tls || ServerName::try_from(host).is_ok());
        let is_spoken = is_tls || *scheme == Scheme::HTTP;
        (is_named && is_spoken).then_some(endpoint).ok_or(EndpointError)
    }

    /// Host and port to connect to.
    pub(crate) fn address(&self) -> (&str, u16) {
        let host = self.authority.host();
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        (
            bare.unwrap_or(host),
            self.authority.port_u16().unwrap_or(if self.is_tls { 443 } else { 80 }),
        )
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
            ("https://alerts.example.com/hook", "alerts.example.com", 443, "/hook"),
            ("https://127.0.0.1:9443", "127.0.0.1", 9_443, "/"),
        ] {
            let endpoint = Endpoint::parse(text).unwrap();
            assert_eq!((endpoint.address(), endpoint.path.as_str()), ((host, port), path));
        }
        for text in [
            "",
            "a",
            "/x",
            "ftp://a/x",
            "http://",
            "http://me:secret@a/x",
            "https://a_b!/x",
            "http://a b",
        ] {
            assert_eq!(Endpoint::parse(text), Err(EndpointError), "{text}");
        }
        assert_eq!(
            format!("{:?}", Endpoint::parse("http://a:1/secret").unwrap()),
            "http://a"
        );
        assert_eq!(
            format!("{:?}", Endpoint::parse("https://a:1/secret").unwrap()),
            "https://a"
        );
    }
}
