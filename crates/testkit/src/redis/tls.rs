//! A server that speaks encrypted alone, with a certificate of its own authority.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::{Redis, process};
use crate::processes::{run, text};

/// A server with TLS, and who signed its certificate.
#[derive(Debug)]
pub struct RedisTls {
    /// The server; commands of this struct reach it without TLS.
    pub server: Redis,
    /// The authority's certificate, as PEM.
    pub authority: Vec<u8>,
    port: u16,
    _folder: TempDir,
}

impl RedisTls {
    /// Starts a server whose certificate is for 127.0.0.1.
    ///
    /// # Panics
    /// Where it is not ready in time, or `openssl` is not on the PATH.
    #[must_use]
    pub fn start() -> Self {
        let folder = TempDir::new().expect("a folder");
        certify(folder.path());
        let port = process::quiet_address().port();
        let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let server = Redis::start_with(&[
            ("tls-port", &port.to_string()),
            ("tls-cert-file", &file("server.pem")),
            ("tls-key-file", &file("server.key")),
            ("tls-ca-cert-file", &file("authority.pem")),
            ("tls-auth-clients", "no"),
        ]);
        let authority = fs::read(folder.path().join("authority.pem")).expect("written");
        Self {
            server,
            authority,
            port,
            _folder: folder,
        }
    }

    /// Where clients connect.
    #[must_use]
    pub fn url(&self) -> String {
        format!("rediss://127.0.0.1:{}", self.port)
    }
}

/// Makes an authority and a certificate that it has signed.
fn certify(folder: &Path) {
    fs::write(
        folder.join("names"),
        "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n",
    )
    .expect("a writable folder");
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let openssl = |arguments: &[&str], key: &[&str]| {
        let mut command = Command::new("openssl");
        let made = run(command.args(arguments).args(key).current_dir(folder));
        assert!(made.status.success(), "openssl: {}", text(&made));
    };
    openssl(
        &[
            "req",
            "-x509",
            "-days",
            "2",
            "-subj",
            "/CN=testkit",
            "-keyout",
            "authority.key",
            "-out",
            "authority.pem",
        ],
        &key,
    );
    openssl(
        &[
            "req",
            "-subj",
            "/CN=server",
            "-keyout",
            "server.key",
            "-out",
            "server.csr",
        ],
        &key,
    );
    openssl(
        &[
            "x509",
            "-req",
            "-days",
            "2",
            "-in",
            "server.csr",
            "-CA",
            "authority.pem",
            "-CAkey",
            "authority.key",
            "-CAcreateserial",
            "-extfile",
            "names",
            "-out",
            "server.pem",
        ],
        &[],
    );
}
