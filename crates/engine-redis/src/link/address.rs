//! Addresses of the store, and what they mean.
//!
//! ```text
//! redis://[user:password@]host:port[/db]                 one server
//! redis-sentinel://[user:password@]h1:p,h2:p/master      the master that the sentinels name
//! redis-cluster://[user:password@]h1:p,h2:p              the cluster that these nodes belong to
//! ```
//! With `rediss` in place of `redis` every connection is encrypted. User and password are those of the servers; sentinels are asked without
//! them first.

use std::fmt;

use redis::{ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo as _, RedisError, RedisResult};

/// Where sentinels listen if nothing else is said.
const SENTINEL_PORT: u16 = 26_379;
/// Where servers listen if nothing else is said.
const SERVER_PORT: u16 = 6_379;

/// Host and port of one server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl Spot {
    /// Reads `host:port` as servers write it; an empty host is the one of `asked`.
    pub(crate) fn read(text: &str, asked: &Self) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let host = if host.is_empty() { &asked.host } else { host };
        Some(Self {
            host: host.to_owned(),
            port: port.parse().ok()?,
        })
    }
}

/// How the servers are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// There is one.
    One(Spot),
    /// Sentinels know it.
    Sentinel { sentinels: Vec<Spot>, master: String },
    /// The nodes of a cluster know them.
    Cluster { seeds: Vec<Spot> },
}

/// An address that was read.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) place: Place,
    /// How each server is spoken to; the spot in it is an example.
    pub(crate) pattern: ConnectionInfo,
}

impl Address {
    pub(crate) fn read(text: &str) -> RedisResult<Self> {
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| bad("the store's address has no scheme"))?;
        let (plain, kind) = match scheme.split_once('-') {
            Some((plain @ ("redis" | "rediss"), kind)) => (plain, kind),
            _ => return Self::one(text),
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, hosts) = match authority.rsplit_once('@') {
            Some((login, hosts)) => (format!("{login}@"), hosts),
            None => (String::new(), authority),
        };
        let default_port = if kind == "sentinel" { SENTINEL_PORT } else { SERVER_PORT };
        let mut spots = Vec::new();
        for host in hosts.split(',') {
            let has_port = host.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'));
            let port = if has_port {
                String::new()
            } else {
                format!(":{default_port}")
            };
            spots.push(spot(&format!("{plain}://{host}{port}").into_connection_info()?)?);
        }
        let (master, db) = match kind {
            "sentinel" => path.split_once('/').unwrap_or((path, "")),
            "cluster" => ("", path),
            _ => return Err(bad("the store's address has an unknown scheme")),
        };
        if kind == "sentinel" && master.is_empty() {
            return Err(bad("the store's address does not name the sentinels' master"));
        }
        let pattern = format!("{plain}://{login}{}:{}/{db}", spots[0].host, spots[0].port).into_connection_info()?;
        if kind == "cluster" && pattern.redis_settings().db() != 0 {
            return Err(bad("a cluster has database 0 alone; the store's address names another"));
        }
        let place = match kind {
            "sentinel" => Place::Sentinel {
                sentinels: spots,
                master: master.to_owned(),
            },
            _ => Place::Cluster { seeds: spots },
        };
        Ok(Self { place, pattern })
    }

    fn one(text: &str) -> RedisResult<Self> {
        let pattern = text.into_connection_info()?;
        let place = Place::One(spot(&pattern)?);
        Ok(Self { place, pattern })
    }
}

fn spot(info: &ConnectionInfo) -> RedisResult<Spot> {
    match info.addr() {
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => Ok(Spot {
            host: host.clone(),
            port: *port,
        }),
        _ => Err(bad(
            "the store's address must be one of redis://, rediss://, redis-sentinel://, redis-cluster://",
        )),
    }
}

fn bad(sentence: &'static str) -> RedisError {
    RedisError::from((ErrorKind::InvalidClientConfig, sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spots(hosts: &[(&str, u16)]) -> Vec<Spot> {
        let spot = |&(host, port): &(&str, u16)| Spot {
            host: host.to_owned(),
            port,
        };
        hosts.iter().map(spot).collect()
    }

    #[test]
    fn each_scheme_says_how_the_servers_are_found() {
        let place = |text| Address::read(text).map(|address| address.place).expect(text);
        let one = |host, port| Place::One(spots(&[(host, port)]).remove(0));
        assert_eq!(place("redis://h"), one("h", 6_379));
        assert_eq!(place("rediss://u:p@h:7000/2"), one("h", 7_000));
        assert_eq!(
            place("redis-sentinel://u:p%40@h1,h2:5/the-master"),
            Place::Sentinel {
                sentinels: spots(&[("h1", 26_379), ("h2", 5)]),
                master: "the-master".to_owned()
            }
        );
        let seeds = spots(&[("h1", 6_379), ("h2", 7_001)]);
        assert_eq!(place("rediss-cluster://h1,h2:7001"), Place::Cluster { seeds });
    }

    #[test]
    fn login_database_and_encryption_hold_for_every_server() {
        let pattern = |text| Address::read(text).map(|address| address.pattern).expect(text);
        let info = pattern("rediss-sentinel://u:p%40x@h1,h2/m/3");
        assert!(matches!(info.addr(), ConnectionAddr::TcpTls { .. }));
        let login = info.redis_settings();
        assert_eq!(
            (login.username(), login.password(), login.db()),
            (Some("u"), Some("p@x"), 3)
        );
        let info = pattern("redis-cluster://:secret@h1,h2");
        assert!(matches!(info.addr(), ConnectionAddr::Tcp(..)));
        assert_eq!(info.redis_settings().password(), Some("secret"));
    }

    #[test]
    fn what_is_no_address_is_refused_with_a_reason() {
        for (text, reason) in [
            ("localhost", "no scheme"),
            ("redis-sentinel://h1,h2", "name the sentinels' master"),
            ("redis-cluster://h1/1", "database 0"),
            ("redis-galaxy://h1", "unknown scheme"),
            ("redis+unix:///tmp/socket", "must be one of"),
        ] {
            let refused = Address::read(text).map(|_| ()).expect_err(text).to_string();
            assert!(refused.contains(reason), "{text}: {refused}");
        }
    }
}
