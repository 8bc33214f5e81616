//! Something simple that the product is compared with, a child on loopback that the product's own program serves.

use std::net::SocketAddr;
use std::path::Path;

use crate::Result;
use crate::http::get;
use crate::process::{Process, Usage};
use crate::server::{READY_LIMIT, free_addresses};

/// What is served, and how it is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    /// The flag of `seckill bench`.
    flag: &'static str,
    /// What `GET /` is answered with once it is ready.
    status: u16,
}

impl Kind {
    /// The same few bytes for every request, on the same accept loop as the product.
    pub(crate) const HELLO: Self = Self {
        flag: "--serve-hello",
        status: 200,
    };

    /// The articles' algorithm behind the product's own accept loop and token check: one script call a buyer. It knows no page.
    pub(crate) const NAIVE: Self = Self {
        flag: "--serve-naive",
        status: 404,
    };
}

/// The child.
#[derive(Debug)]
pub(crate) struct Served {
    process: Process,
    address: SocketAddr,
}

impl Served {
    /// Starts `seckill bench FLAG --listen ADDRESS` with these settings as environment variables, and waits until it answers.
    ///
    /// # Errors
    /// [`crate::Error::Child`] as with [`crate::server::Server::start`].
    pub(crate) fn start(executable: &Path, kind: Kind, settings: &[(String, String)]) -> Result<Self> {
        let [address, _] = free_addresses()?;
        let listen = address.to_string();
        let arguments = |_: &Path| ["bench", kind.flag, "--listen", &listen].map(str::to_owned).to_vec();
        let mut process = Process::start(executable, arguments, settings)?;
        process.wait_until(READY_LIMIT, || {
            get(address, "/", None).is_ok_and(|answer| answer.status == kind.status)
        })?;
        Ok(Self { process, address })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// CPU time and memory so far.
    ///
    /// # Errors
    /// [`crate::Error::Io`] where there is no `/proc`.
    pub(crate) fn usage(&self) -> Result<Usage> {
        self.process.usage()
    }

    /// Ends it and deletes its folder.
    ///
    /// # Errors
    /// [`crate::Error::Io`] when it can't be ended.
    pub(crate) fn stop(self) -> Result<()> {
        self.process.stop().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::script;

    #[test]
    fn each_kind_is_asked_for_by_its_hidden_flag_with_its_settings() {
        let (_folder, executable) = script("env | grep ^SECKILL_; echo \"$@\"; exit 1");
        let settings = [("SECKILL_STORE__URL".to_owned(), "redis://h".to_owned())];
        for (kind, settings, said) in [
            (Kind::HELLO, &[][..], ["bench --serve-hello --listen 127.0.0.1:", ""]),
            (
                Kind::NAIVE,
                &settings,
                [
                    "bench --serve-naive --listen 127.0.0.1:",
                    "SECKILL_STORE__URL=redis://h",
                ],
            ),
        ] {
            let error = Served::start(&executable, kind, settings).unwrap_err().to_string();
            assert!(
                said.iter().all(|said| error.contains(said)),
                "{said:?} are not in {error}"
            );
        }
    }
}
