//! The bare listener that the product is compared with, a child on loopback.

use std::net::SocketAddr;
use std::path::Path;

use crate::Result;
use crate::http::get;
use crate::process::{Process, Usage};
use crate::server::{READY_LIMIT, free_addresses};

/// A child that answers every request with the same few bytes, on the same accept loop as the product.
#[derive(Debug)]
pub struct Hello {
    process: Process,
    address: SocketAddr,
}

impl Hello {
    /// Starts `seckill bench --serve-hello --listen ADDRESS` and waits until it answers.
    ///
    /// # Errors
    /// [`crate::Error::Child`] as with [`crate::server::Server::start`].
    pub fn start(executable: &Path) -> Result<Self> {
        let [address, _] = free_addresses()?;
        let arguments = |_: &Path| {
            vec![
                "bench".into(),
                "--serve-hello".into(),
                "--listen".into(),
                address.to_string(),
            ]
        };
        let mut process = Process::start(executable, arguments, &[])?;
        process.wait_until(READY_LIMIT, || {
            get(address, "/", None).is_ok_and(|answer| answer.status == 200)
        })?;
        Ok(Self { process, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// CPU time and memory so far.
    ///
    /// # Errors
    /// [`crate::Error::Io`] where there is no `/proc`.
    pub fn usage(&self) -> Result<Usage> {
        self.process.usage()
    }

    /// Ends it and deletes its folder.
    ///
    /// # Errors
    /// [`crate::Error::Io`] when it can't be ended.
    pub fn stop(self) -> Result<()> {
        self.process.stop().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::script;

    #[test]
    fn hello_is_asked_for_by_its_hidden_flag() {
        let (_folder, executable) = script("echo \"$@\"; exit 1");
        let error = Hello::start(&executable).unwrap_err().to_string();
        assert!(error.contains("bench --serve-hello --listen 127.0.0.1:"), "{error}");
    }
}
