//! A certificate for 127.0.0.1, signed by an authority that nobody else knows.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::processes::{run, text};

/// Files of an authority and of a server that it has certified.
#[derive(Debug)]
pub struct Certified(TempDir);

impl Certified {
    /// Makes both.
    ///
    /// # Panics
    /// Where `openssl` is not on the PATH.
    #[must_use]
    pub fn make() -> Self {
        let folder = TempDir::new().expect("a folder");
        certify(folder.path());
        Self(folder)
    }

    /// The path of `authority.pem`, `server.pem` or `server.key`.
    #[must_use]
    pub fn file(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }

    /// The authority's certificate, as PEM.
    ///
    /// # Panics
    /// Where it is gone.
    #[must_use]
    pub fn authority(&self) -> Vec<u8> {
        fs::read(self.file("authority.pem")).expect("written")
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
