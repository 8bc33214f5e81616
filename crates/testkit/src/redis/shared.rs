//! Sets of servers that tests use one after another, each emptied for the next.

use std::path::Path;
use std::time::Duration;

use super::pool::Lease;
use super::replicas::Manner;
use super::{Redis, RedisCluster, RedisSentinel, cluster, sentinel};

/// On a busy machine a server may say nothing for a while; it is not to be replaced.
const NEVER: Duration = Duration::from_secs(60);

const fn apart(folder: &Path) -> Manner<'_> {
    Manner {
        folder,
        silence_max: NEVER,
        is_apart: true,
    }
}

/// Whether the server leads; it is empty and knows no script then.
fn emptied(server: &Redis) -> bool {
    let says = |words: &[&str], text: &str| server.command(words).is_ok_and(|said| said.contains(text));
    says(&["ROLE"], "master")
        && says(
            &[
                "CONFIG",
                "SET",
                "maxmemory",
                "0",
                "maxmemory-policy",
                "noeviction",
                "appendonly",
                "yes",
            ],
            "+OK",
        )
        && says(&["ACL", "SETUSER", "default", "+@all"], "+OK")
        && says(&["FLUSHALL"], "+OK")
        && says(&["SCRIPT", "FLUSH"], "+OK")
}

/// A cluster that is empty, and that this test has for itself.
#[derive(Debug)]
pub struct SharedCluster(Lease);

impl SharedCluster {
    /// Waits for a cluster.
    ///
    /// # Panics
    /// Where it can't be started.
    #[must_use]
    pub fn take() -> Self {
        let make = |folder: &Path| RedisCluster::start_as(&apart(folder)).servers;
        let is_well = |servers: &[Redis]| {
            let is_whole = |server: &Redis| {
                let said = server.command(&["CLUSTER", "INFO"]).unwrap_or_default();
                said.contains("cluster_state:ok") && said.contains("cluster_slots_ok:16384")
            };
            servers.iter().all(is_whole) && servers[..cluster::MASTERS].iter().all(emptied)
        };
        Self(Lease::take("redis-cluster", make, is_well))
    }

    /// Where clients connect.
    #[must_use]
    pub fn url(&self) -> String {
        cluster::url(self.0.servers.iter().map(Redis::address))
    }

    /// The servers that lead.
    #[must_use]
    pub fn masters(&self) -> Vec<Redis> {
        let masters = self.0.servers[..cluster::MASTERS].iter();
        masters.map(|server| Redis::at(server.address())).collect()
    }

    /// The server that has the slot of `key`.
    ///
    /// # Panics
    /// Where none has it.
    #[must_use]
    pub fn owner(&self, key: &str) -> Redis {
        let servers: Vec<_> = self.0.servers.iter().collect();
        Redis::at(servers[cluster::owner(&servers, key).expect("a master")].address())
    }
}

/// A set behind sentinels that is empty, and that this test has for itself.
#[derive(Debug)]
pub struct SharedSentinel(Lease);

impl SharedSentinel {
    /// Waits for a set.
    ///
    /// # Panics
    /// Where it can't be started.
    #[must_use]
    pub fn take() -> Self {
        let make = |folder: &Path| {
            let mut set = RedisSentinel::start_as(&apart(folder));
            set.servers.append(&mut set.sentinels);
            set.servers
        };
        let is_well = |servers: &[Redis]| {
            let answers = |server: &Redis| server.command(&["PING"]).is_ok_and(|said| said.starts_with("+PONG"));
            servers.iter().all(answers) && emptied(&servers[0])
        };
        Self(Lease::take("redis-sentinel", make, is_well))
    }

    /// Where clients connect.
    #[must_use]
    pub fn url(&self) -> String {
        let sentinels = self.0.servers.iter().skip(3);
        sentinel::url(sentinels.map(Redis::address))
    }

    /// The master.
    #[must_use]
    pub fn master(&self) -> Redis {
        Redis::at(self.0.servers[0].address())
    }
}
