//! A server that speaks encrypted alone, with a certificate of its own authority.

use super::Redis;
use crate::Certified;

/// A server with TLS, and who signed its certificate.
#[derive(Debug)]
pub struct RedisTls {
    /// The server; commands of this struct reach it without TLS.
    pub server: Redis,
    /// The authority's certificate, as PEM.
    pub authority: Vec<u8>,
    port: u16,
    _certified: Certified,
}

impl RedisTls {
    /// Starts a server whose certificate is for 127.0.0.1.
    ///
    /// # Panics
    /// Where it is not ready in time, or `openssl` is not on the PATH.
    #[must_use]
    pub fn start() -> Self {
        let certified = Certified::make();
        let port = crate::ports::free_address().port();
        let file = |name: &str| certified.file(name);
        let server = Redis::start_with(&[
            ("tls-port", &port.to_string()),
            ("tls-cert-file", &file("server.pem")),
            ("tls-key-file", &file("server.key")),
            ("tls-ca-cert-file", &file("authority.pem")),
            ("tls-auth-clients", "no"),
        ]);
        Self {
            server,
            authority: certified.authority(),
            port,
            _certified: certified,
        }
    }

    /// Where clients connect.
    #[must_use]
    pub fn url(&self) -> String {
        format!("rediss://127.0.0.1:{}", self.port)
    }
}
