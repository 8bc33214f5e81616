//! What sets of servers have in common: many in one folder, and who follows whom.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::{PATIENCE, Redis};

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

/// Waits until these replicas have what their master has acknowledged until now: what they lack is lost with it.
///
/// # Panics
/// Where somebody does not answer, or that takes too long.
pub(super) fn wait_caught_up<'a>(master: &Redis, replicas: impl Iterator<Item = &'a Redis>) {
    let offset = |server: &Redis, field: &str| {
        let said = server.command(&["INFO", "replication"]).expect("answers");
        let told = said
            .lines()
            .find_map(|line| line.strip_prefix(field)?.trim().parse::<u64>().ok());
        told.unwrap_or_else(|| panic!("no {field} in {said}"))
    };
    let acknowledged = offset(master, "master_repl_offset:");
    let end = Instant::now() + PATIENCE;
    for replica in replicas {
        while offset(replica, "slave_repl_offset:") < acknowledged {
            assert!(Instant::now() < end, "not in step in time: {}", replica.log());
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Addresses with commas between.
pub(super) fn listed(addresses: impl Iterator<Item = SocketAddr>) -> String {
    let addresses: Vec<_> = addresses.map(|address| address.to_string()).collect();
    addresses.join(",")
}
