//! The Redis servers behind a store's address, asked from outside what they have done: commands, and processor time.

use std::time::Duration;

use redis::{Client, Connection, FromRedisValue, IntoConnectionInfo as _};
use serde::Serialize;

use crate::{Error, Result};

/// How long a server may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
const ALONE: &str = "redis://";
const CLUSTER: &str = "redis-cluster://";

/// What servers have done and used since they began, all of them together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Work {
    /// Commands, those that scripts call and those of other clients too.
    pub commands: u64,
    /// User and system time of the processes, in seconds; of children that write files, nothing.
    pub cpu_s: f64,
}

/// Connections to one Redis, or to each master of a cluster.
pub struct RedisServers(Vec<Connection>);

impl std::fmt::Debug for RedisServers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "RedisServers({})", self.0.len())
    }
}

impl RedisServers {
    /// Connects to whoever `url` names.
    ///
    /// # Errors
    /// [`Error::Usage`] for an address that is neither `redis://` nor `redis-cluster://`, [`Error::Store`] where a server can't be asked.
    pub fn connect(url: &str) -> Result<Self> {
        if url.starts_with(ALONE) {
            return Ok(Self(vec![open(url)?]));
        }
        let Some(rest) = url.strip_prefix(CLUSTER) else {
            return Err(Error::Usage(format!(
                "what a store has done is asked of {ALONE} and {CLUSTER} only"
            )));
        };
        let (login, hosts) = rest
            .rsplit_once('@')
            .map_or(("", rest), |(login, hosts)| (login, hosts));
        let at = |host: &str| match login {
            "" => format!("{ALONE}{host}"),
            login => format!("{ALONE}{login}@{host}"),
        };
        let first = hosts.split(',').next().unwrap_or_default();
        let nodes: String = ask(&mut open(&at(first))?, &["CLUSTER", "NODES"])?;
        let masters: Result<Vec<_>> = masters(&nodes).map(|host| open(&at(host))).collect();
        Ok(Self(masters?))
    }

    /// What they have done and used so far.
    ///
    /// # Errors
    /// [`Error::Store`] where one does not answer, [`Error::Malformed`] where it answers something else.
    pub fn work(&mut self) -> Result<Work> {
        let mut all = Work::default();
        for server in &mut self.0 {
            let said: String = ask(server, &["INFO", "all"])?;
            let figure = |name| figure(&said, name);
            let its = figure("total_commands_processed:")
                .zip(figure("used_cpu_user:"))
                .zip(figure("used_cpu_sys:"));
            let Some(((commands, user), system)) = its else {
                return Err(Error::Malformed {
                    what: "INFO all".to_owned(),
                });
            };
            all.commands += commands as u64;
            all.cpu_s += user + system;
        }
        Ok(all)
    }

    /// What they have done and used since they were asked that; the question itself is left out.
    ///
    /// # Errors
    /// As [`RedisServers::work`].
    pub fn work_since(&mut self, earlier: Work) -> Result<Work> {
        let now = self.work()?;
        Ok(Work {
            commands: now.commands.saturating_sub(earlier.commands + self.0.len() as u64),
            cpu_s: now.cpu_s - earlier.cpu_s,
        })
    }

    /// How the first of them keeps what it has, in words.
    ///
    /// # Errors
    /// [`Error::Store`] where it does not answer.
    pub fn durability(&mut self) -> Result<String> {
        let setting = |server: &mut Connection, name| {
            let said: Vec<String> = ask(server, &["CONFIG", "GET", name])?;
            Ok(said.into_iter().nth(1).unwrap_or_default())
        };
        let server = self.first();
        Ok(match setting(server, "appendonly")?.as_str() {
            "yes" => format!("AOF {}", setting(server, "appendfsync")?),
            _ => "no AOF".to_owned(),
        })
    }

    /// Asks the first of them.
    ///
    /// # Errors
    /// [`Error::Store`] where it does not answer, or not so.
    pub fn ask<T: FromRedisValue>(&mut self, words: &[&str]) -> Result<T> {
        ask(self.first(), words)
    }

    fn first(&mut self) -> &mut Connection {
        &mut self.0[0]
    }
}

fn open(url: &str) -> Result<Connection> {
    let info = url.into_connection_info().map_err(|error| {
        // The address may hold a password, so it is not repeated.
        Error::Usage(format!("the store's address: {error}"))
    })?;
    let what = || format!("connect to the store at {}", info.addr());
    let client = Client::open(info.clone()).map_err(Error::store(what()))?;
    let connection = client
        .get_connection_with_timeout(ANSWER_LIMIT)
        .map_err(Error::store(what()))?;
    connection
        .set_read_timeout(Some(ANSWER_LIMIT))
        .map_err(Error::store(what()))?;
    Ok(connection)
}

fn ask<T: FromRedisValue>(server: &mut Connection, words: &[&str]) -> Result<T> {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command.query(server).map_err(Error::store(words.join(" ")))
}

/// `host:port` of every master that has slots, from what `CLUSTER NODES` says.
fn masters(nodes: &str) -> impl Iterator<Item = &str> {
    nodes.lines().filter_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let has_slots = words.get(2)?.split(',').any(|flag| flag == "master") && words.len() > 8;
        // `host:port@bus,name`
        has_slots.then(|| words[1].split('@').next()).flatten()
    })
}

fn figure(info: &str, name: &str) -> Option<f64> {
    info.lines()
        .find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seckill_testkit::Redis;

    #[test]
    fn commands_and_processor_time_of_a_server_are_counted() {
        let redis = Redis::start();
        let mut servers = RedisServers::connect(&redis.url()).unwrap();
        let before = servers.work().unwrap();
        for _ in 0..10 {
            let () = servers.ask(&["SET", "a", "b"]).unwrap();
        }
        let done = servers.work_since(before).unwrap();
        assert_eq!(done.commands, 10);
        assert!((0.0..1.0).contains(&done.cpu_s), "{done:?}");
        assert_eq!(servers.durability().unwrap(), "AOF always");
    }

    #[test]
    fn masters_with_slots_are_told_from_all_nodes() {
        let nodes = "a 127.0.0.1:1@11 myself,master - 0 0 1 connected 0-5460\n\
                     b 127.0.0.1:2@12,name master - 0 0 2 connected 5461-16383\n\
                     c 127.0.0.1:3@13 master - 0 0 3 connected\n\
                     d 127.0.0.1:4@14 slave a 0 0 1 connected\n";
        assert_eq!(masters(nodes).collect::<Vec<_>>(), ["127.0.0.1:1", "127.0.0.1:2"]);
    }

    #[test]
    fn other_addresses_are_refused_without_being_told() {
        for url in ["embedded", "rediss://h", "redis://u:secret@h:port"] {
            let error = RedisServers::connect(url).unwrap_err();
            assert!(
                matches!(&error, Error::Usage(said) if !said.contains("secret")),
                "{url}: {error}"
            );
        }
    }
}
