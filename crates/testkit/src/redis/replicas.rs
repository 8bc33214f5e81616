//! What sets of servers have in common: many in one folder, and who follows whom.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Redis;

/// A replica is in step at once, a set is found together quickly, and many servers do not wait for one disk.
pub(super) const QUICK: [(&str, &str); 4] = [
    ("appendfsync", "everysec"),
    ("repl-diskless-sync-delay", "0"),
    ("repl-ping-replica-period", "1"),
    ("repl-timeout", "5"),
];

/// How a set is run.
pub(super) struct Manner<'a> {
    pub(super) folder: &'a Path,
    /// A server that says nothing for so long is replaced.
    pub(super) silence_max: Duration,
    /// Whether it outlives the test, and what may kill its group.
    pub(super) is_apart: bool,
}

/// Starts `count` servers in folders of their own, at the same time.
pub(super) fn start(
    manner: &Manner<'_>,
    count: usize,
    settings: &[(&str, &str)],
    of_each: impl Fn(usize) -> Vec<(String, String)>,
) -> Vec<Redis> {
    let mut servers: Vec<Redis> = (0..count)
        .map(|n| {
            let folder = subfolder(manner.folder, &format!("server-{n}"));
            let own = of_each(n);
            let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let settings: Vec<_> = QUICK.iter().chain(settings).copied().chain(own).collect();
            let mut server = Redis::prepare(folder, &settings);
            server.is_apart = manner.is_apart;
            server
        })
        .collect();
    servers.iter_mut().for_each(Redis::spawn);
    servers.iter_mut().for_each(Redis::wait_ready);
    servers
}

pub(super) fn subfolder(folder: &Path, name: &str) -> PathBuf {
    let folder = folder.join(name);
    fs::create_dir_all(&folder).expect("a fresh folder");
    folder
}

/// Waits until a replica has everything that its master has.
pub(super) fn wait_in_step(replica: &Redis) {
    replica.until(&["INFO", "replication"], "master_link_status:up");
}

/// Addresses with commas between.
pub(super) fn listed(addresses: impl Iterator<Item = SocketAddr>) -> String {
    let addresses: Vec<_> = addresses.map(|address| address.to_string()).collect();
    addresses.join(",")
}
