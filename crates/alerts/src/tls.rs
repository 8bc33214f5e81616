//! The encrypted way to a receiver. His certificate must be for the host that the address names, signed by somebody whom this system trusts: the
//! authorities in `SSL_CERT_FILE` and `SSL_CERT_DIR` where they are set, else the system's own.

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::Endpoint;

/// Why nobody can be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this system trusts no authority that could have signed the receiver's certificate: {0}; SSL_CERT_FILE names a file of them"
)]
pub struct TlsError(String);

/// Whom to trust.
#[derive(Clone)]
pub struct Tls(TlsConnector);

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// What is needed for this receiver; none where his address is a plain one. Reads the system's authorities.
    ///
    /// # Errors
    /// There are none.
    pub fn to(endpoint: &Endpoint) -> Result<Option<Self>, TlsError> {
        if !endpoint.is_tls {
            return Ok(None);
        }
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        let (taken, _unreadable) = roots.add_parsable_certificates(found.certs);
        if taken == 0 {
            let why = found
                .errors
                .first()
                .map_or_else(|| "there is none".to_owned(), ToString::to_string);
            return Err(TlsError(why));
        }
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Some(Self(TlsConnector::from(Arc::new(config)))))
    }

    pub(crate) async fn over(&self, stream: TcpStream, endpoint: &Endpoint) -> io::Result<TlsStream<TcpStream>> {
        let (host, _) = endpoint.address();
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        self.0.connect(name, stream).await
    }
}
