//! Redis servers as child processes: alone, behind sentinels, as a cluster; each on free ports of the loopback address in a temporary folder.

mod asking;
mod cluster;
mod life;
mod pool;
mod process;
mod replicas;
mod sentinel;
mod shared;
mod tls;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub use cluster::RedisCluster;
pub use sentinel::RedisSentinel;
pub use shared::{SharedCluster, SharedSentinel};
pub use tls::RedisTls;

/// Longest wait for a server to get ready.
const PATIENCE: Duration = Duration::from_secs(60);

/// `redis-server` from the PATH, or the program that `SECKILL_REDIS_SERVER` names, run so that it keeps everything
/// (`appendonly yes`, `noeviction`, no snapshots). Dropping it kills the process.
#[derive(Debug)]
pub struct Redis {
    folder: PathBuf,
    /// Where the folder is one that ends with the server.
    temporary: Option<TempDir>,
    address: SocketAddr,
    /// Settings beside those of every server.
    settings: Vec<String>,
    /// Whether it is in a process group of its own.
    is_apart: bool,
    child: Option<Child>,
}

impl Redis {
    /// Starts a server in a fresh folder and waits until it answers.
    ///
    /// # Panics
    /// Where `redis-server` is not on the PATH, or does not answer in time.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with more settings, each a name and its value.
    ///
    /// # Panics
    /// As [`Redis::start`].
    #[must_use]
    pub fn start_with(settings: &[(&str, &str)]) -> Self {
        let temporary = TempDir::new().expect("a folder");
        let folder = temporary.path().to_owned();
        let mut redis = Self::prepare(folder, settings);
        redis.temporary = Some(temporary);
        redis.start_again();
        redis
    }

    /// Starts a server on what one before it left in `folder`, which stays.
    ///
    /// # Panics
    /// As [`Redis::start`].
    #[must_use]
    pub fn start_in(folder: &Path) -> Self {
        let mut redis = Self::prepare(folder.to_owned(), &[]);
        redis.start_again();
        redis
    }

    /// A server that is still to be started.
    fn prepare(folder: PathBuf, settings: &[(&str, &str)]) -> Self {
        let settings = settings
            .iter()
            .flat_map(|(name, value)| [format!("--{name}"), (*value).to_owned()]);
        Self {
            folder,
            temporary: None,
            address: crate::ports::free_address(),
            settings: settings.collect(),
            is_apart: false,
            child: None,
        }
    }

    /// A server that somebody else runs.
    #[must_use]
    pub fn at(address: SocketAddr) -> Self {
        Self {
            folder: PathBuf::new(),
            temporary: None,
            address,
            settings: Vec::new(),
            is_apart: false,
            child: None,
        }
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where clients connect.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Starts the process on the same folder and port, and waits until it has read its log and answers.
    ///
    /// # Panics
    /// As [`Redis::start`].
    pub fn start_again(&mut self) {
        self.spawn();
        self.wait_ready();
    }

    /// Starts the process so that it takes seconds to read its log, and does not wait.
    ///
    /// # Panics
    /// As [`Redis::start`].
    pub fn start_loading(&mut self) {
        let more = [
            "--key-load-delay",
            "500",
            "--loading-process-events-interval-bytes",
            "1024",
        ]
        .map(str::to_owned);
        let settings = [&self.settings[..], &more[..]].concat();
        self.child = Some(process::server(
            &self.folder,
            self.address.port(),
            &settings,
            self.is_apart,
        ));
    }

    /// Where its files are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn spawn(&mut self) {
        self.child = Some(process::server(
            &self.folder,
            self.address.port(),
            &self.settings,
            self.is_apart,
        ));
    }

    fn wait_ready(&mut self) {
        let end = Instant::now() + PATIENCE;
        while !self
            .command(&["PING"])
            .is_ok_and(|answer| answer.starts_with("+PONG") || answer.starts_with("-NOAUTH"))
        {
            let ended = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
            assert!(ended.is_none(), "redis-server ended with {ended:?}: {}", self.log());
            assert!(Instant::now() < end, "not ready in time: {}", self.log());
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Everything that it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
