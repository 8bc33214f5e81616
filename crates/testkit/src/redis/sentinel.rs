//! A master, its replicas, and the sentinels that choose another master when it is gone.

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use tempfile::TempDir;

use super::replicas::{Manner, listed, start, subfolder, wait_caught_up, wait_in_step};
use super::{Redis, process};

/// What the sentinels call the master.
const MASTER: &str = "sale";
/// Replicas, and so many sentinels less one.
const REPLICAS: usize = 2;
const SENTINELS: usize = 3;
/// How long a master may be silent. Sentinels ask each second, and no more often than this: with half a second they now and then take a
/// master for dead that they have just chosen, and choose again and again.
const SILENCE_MAX: Duration = Duration::from_secs(2);

/// A master with two replicas and three sentinels, which replace a dead master within four or five seconds. All end when it is dropped.
#[derive(Debug)]
pub struct RedisSentinel {
    /// The first is the master at the start.
    pub servers: Vec<Redis>,
    /// The sentinels.
    pub sentinels: Vec<Redis>,
    _temporary: Option<TempDir>,
}

impl RedisSentinel {
    /// Starts a set and waits until all know one another.
    ///
    /// # Panics
    /// Where it is not ready in time.
    #[must_use]
    pub fn start() -> Self {
        let temporary = TempDir::new().expect("a folder");
        let set = Self::start_as(&Manner {
            folder: temporary.path(),
            silence_max: SILENCE_MAX,
            is_apart: false,
        });
        Self {
            _temporary: Some(temporary),
            ..set
        }
    }

    pub(super) fn start_as(manner: &Manner<'_>) -> Self {
        let servers = start(manner, 1 + REPLICAS, &[("replica-priority", "100")], |_| Vec::new());
        let master = servers[0].address();
        let port = master.port().to_string();
        for replica in &servers[1..] {
            replica.expect(&["REPLICAOF", "127.0.0.1", &port], "+OK");
        }
        let sentinels: Vec<_> = (0..SENTINELS)
            .map(|n| watcher(manner, &format!("sentinel-{n}"), master))
            .collect();
        servers[1..].iter().for_each(wait_in_step);
        for sentinel in &sentinels {
            let others = format!("$19\r\nnum-other-sentinels\r\n$1\r\n{}", SENTINELS - 1);
            sentinel.until(&["SENTINEL", "MASTER", MASTER], &others);
            sentinel.until(
                &["SENTINEL", "MASTER", MASTER],
                &format!("$10\r\nnum-slaves\r\n$1\r\n{REPLICAS}"),
            );
        }
        Self {
            servers,
            sentinels,
            _temporary: None,
        }
    }

    /// Where clients connect.
    #[must_use]
    pub fn url(&self) -> String {
        url(self.sentinels.iter().map(Redis::address))
    }

    /// Waits until the replicas have what the first server, their master, has acknowledged until now.
    ///
    /// # Panics
    /// Where that takes too long.
    pub fn in_step(&self) {
        wait_caught_up(&self.servers[0], self.servers[1..].iter());
    }

    /// The place among the servers of the one that the sentinels call master now.
    #[must_use]
    pub fn master(&self) -> Option<usize> {
        let question = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER];
        let said = self
            .sentinels
            .iter()
            .find_map(|sentinel| sentinel.command(&question).ok())?;
        let port: u16 = said.lines().nth(4)?.trim().parse().ok()?;
        self.servers.iter().position(|server| server.address().port() == port)
    }
}

pub(super) fn url(sentinels: impl Iterator<Item = SocketAddr>) -> String {
    format!("redis-sentinel://{}/{MASTER}", listed(sentinels))
}

fn watcher(manner: &Manner<'_>, name: &str, master: SocketAddr) -> Redis {
    let folder = subfolder(manner.folder, name);
    let address = crate::ports::free_address();
    let (ip, port, own) = (master.ip(), master.port(), address.port());
    let down_after = manner.silence_max.as_millis();
    let settings = format!(
        "bind 127.0.0.1\nport {own}\ndir {folder}\nsentinel monitor {MASTER} {ip} {port} {SENTINELS_NEEDED}\n\
         sentinel down-after-milliseconds {MASTER} {down_after}\nsentinel failover-timeout {MASTER} 6000\n\
         sentinel parallel-syncs {MASTER} 2\n",
        folder = folder.display(),
    );
    fs::write(folder.join("sentinel.conf"), settings).expect("a writable folder");
    let mut sentinel = Redis::at(address);
    sentinel.child = Some(process::sentinel(&folder, manner.is_apart));
    sentinel.folder = folder;
    sentinel.wait_ready();
    sentinel
}

/// Sentinels that must agree that a master is gone.
const SENTINELS_NEEDED: usize = 2;
