//! A cluster: three masters, each with a replica that takes its place.

use std::net::SocketAddr;
use std::time::Duration;

use tempfile::TempDir;

use super::Redis;
use super::replicas::{Manner, listed, start, wait_caught_up, wait_in_step};

/// Masters, and as many replicas.
pub(super) const MASTERS: usize = 3;
const SLOTS: usize = 16_384;
/// Longer than any test lets a master stand still.
const NEVER: Duration = Duration::from_secs(600);

/// Three masters and three replicas. A dead master is replaced within two or three seconds. All end when it is dropped.
#[derive(Debug)]
pub struct RedisCluster {
    /// The masters of the start, then their replicas in the same order.
    pub servers: Vec<Redis>,
    _temporary: Option<TempDir>,
}

impl RedisCluster {
    /// Starts a cluster and waits until every node knows it whole.
    ///
    /// # Panics
    /// Where it is not ready in time.
    #[must_use]
    pub fn start() -> Self {
        Self::replacing_after(Duration::from_secs(1))
    }

    /// The same, where no replica takes the place of a master that stands still: its slots have nobody until it goes on.
    ///
    /// # Panics
    /// Where it is not ready in time.
    #[must_use]
    pub fn start_patient() -> Self {
        Self::replacing_after(NEVER)
    }

    fn replacing_after(silence_max: Duration) -> Self {
        let temporary = TempDir::new().expect("a folder");
        let cluster = Self::start_as(&Manner {
            folder: temporary.path(),
            silence_max,
            is_apart: false,
        });
        Self {
            _temporary: Some(temporary),
            ..cluster
        }
    }

    pub(super) fn start_as(manner: &Manner<'_>) -> Self {
        // While it is made nobody is given up, however busy the machine is.
        let settings = [
            ("cluster-enabled", "yes"),
            ("cluster-require-full-coverage", "no"),
            ("cluster-node-timeout", "15000"),
            ("cluster-replica-validity-factor", "0"),
            // Tests make a server slow by it.
            ("enable-debug-command", "local"),
        ];
        // Its default lies 10,000 above the port, which may be none.
        let bus_ports: Vec<u16> = (0..2 * MASTERS).map(|_| crate::ports::free_address().port()).collect();
        let servers = start(manner, 2 * MASTERS, &settings, |n| {
            vec![("cluster-port".to_owned(), bus_ports[n].to_string())]
        });
        for (n, server) in servers.iter().enumerate() {
            server.expect(&["CLUSTER", "SET-CONFIG-EPOCH", &(n + 1).to_string()], "+OK");
            if n < MASTERS {
                let (first, end) = (n * SLOTS / MASTERS, (n + 1) * SLOTS / MASTERS);
                let range = [first.to_string(), (end - 1).to_string()];
                server.expect(&["CLUSTER", "ADDSLOTSRANGE", &range[0], &range[1]], "+OK");
            }
        }
        let cluster = Self {
            servers,
            _temporary: None,
        };
        cluster.introduce(&bus_ports);
        for (master, replica) in cluster.servers.iter().zip(&cluster.servers[MASTERS..]) {
            let id = cluster.id(master);
            replica.until(&["CLUSTER", "NODES"], &id);
            replica.until(&["CLUSTER", "REPLICATE", &id], "+OK");
        }
        cluster.servers[MASTERS..].iter().for_each(wait_in_step);
        cluster.until(&["CLUSTER", "INFO"], "cluster_state:ok");
        cluster.until(&["CLUSTER", "INFO"], "cluster_slots_ok:16384");
        let timeout = manner.silence_max.as_millis().to_string();
        for server in &cluster.servers {
            server.expect(&["CONFIG", "SET", "cluster-node-timeout", &timeout], "+OK");
        }
        cluster
    }

    /// Every node meets every other one.
    fn introduce(&self, bus_ports: &[u16]) {
        for (n, server) in self.servers.iter().enumerate() {
            for (other, bus_port) in self.servers.iter().zip(bus_ports).take(n) {
                let ports = [other.address().port().to_string(), bus_port.to_string()];
                server.expect(&["CLUSTER", "MEET", "127.0.0.1", &ports[0], &ports[1]], "+OK");
            }
        }
        let known = format!("cluster_known_nodes:{}", self.servers.len());
        self.until(&["CLUSTER", "INFO"], &known);
    }

    fn until(&self, words: &[&str], text: &str) {
        self.servers.iter().for_each(|server| server.until(words, text));
    }

    /// The name by which nodes know one of them.
    ///
    /// # Panics
    /// Where it does not answer.
    #[must_use]
    pub fn id(&self, server: &Redis) -> String {
        let said = server.command(&["CLUSTER", "MYID"]).expect("answers");
        said.lines().nth(1).expect("an id").to_owned()
    }

    /// Where clients connect.
    #[must_use]
    pub fn url(&self) -> String {
        url(self.servers.iter().map(Redis::address))
    }

    /// The place among the servers of the one that has the slot of `key` now, as the others say.
    #[must_use]
    pub fn owner(&self, key: &str) -> Option<usize> {
        let servers: Vec<_> = self.servers.iter().collect();
        owner(&servers, key)
    }

    /// Waits until the replica of a master of the start has what that has acknowledged until now.
    ///
    /// # Panics
    /// Where that takes too long.
    pub fn in_step(&self, master: usize) {
        wait_caught_up(&self.servers[master], [&self.servers[master + MASTERS]].into_iter());
    }

    /// Moves the slot of `key` with all its keys from one master to another, as an operator's tool does while everybody goes on.
    ///
    /// # Panics
    /// Where a server refuses.
    pub fn move_slot(&self, key: &str, from: usize, to: usize) {
        let (slot, [from, to]) = (self.slot(key).to_string(), [from, to].map(|place| &self.servers[place]));
        let ids = [self.id(from), self.id(to)];
        to.expect(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &ids[0]], "+OK");
        from.expect(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &ids[1]], "+OK");
        let port = to.address().port().to_string();
        loop {
            let said = from
                .command(&["CLUSTER", "GETKEYSINSLOT", &slot, "1"])
                .expect("answers");
            let Some(key) = said.lines().nth(2) else { break };
            let moved = from
                .command(&["MIGRATE", "127.0.0.1", &port, key, "0", "5000"])
                .expect("answers");
            assert!(
                moved.starts_with("+OK") || moved.starts_with("+NOKEY"),
                "{key}: {moved}"
            );
        }
        for server in [to, from] {
            server.expect(&["CLUSTER", "SETSLOT", &slot, "NODE", &ids[1]], "+OK");
        }
    }

    /// The slot of a key.
    ///
    /// # Panics
    /// Where nobody answers.
    #[must_use]
    pub fn slot(&self, key: &str) -> u16 {
        slot(self.servers.iter(), key).expect("somebody answers")
    }
}

pub(super) fn url(servers: impl Iterator<Item = SocketAddr>) -> String {
    format!("redis-cluster://{}", listed(servers))
}

fn slot<'a>(mut servers: impl Iterator<Item = &'a Redis>, key: &str) -> Option<u16> {
    let said = servers.find_map(|server| server.command(&["CLUSTER", "KEYSLOT", key]).ok())?;
    said.trim().strip_prefix(':')?.parse().ok()
}

/// Each master says of itself which slots it has; one that was replaced says so no more once it knows.
pub(super) fn owner(servers: &[&Redis], key: &str) -> Option<usize> {
    let slot = slot(servers.iter().copied(), key)?;
    let has = |words: &str| {
        let (first, last) = words.split_once('-').unwrap_or((words, words));
        let range = first.parse::<u16>().ok().zip(last.parse::<u16>().ok());
        range.is_some_and(|(first, last)| (first..=last).contains(&slot))
    };
    servers.iter().position(|server| {
        let said = server.command(&["CLUSTER", "NODES"]).unwrap_or_default();
        let own = said.lines().find(|line| line.contains("myself,master"));
        own.is_some_and(|line| line.split(' ').skip(8).any(has))
    })
}
