//! The way to the servers: which one has a key, and what is done where it does not answer as hoped.
//!
//! ```text
//!            ┌ One ────── the server of the address ───────────────┐
//! address ──▶┤ Sentinel ─ the master that the newest sentinel names ├──▶ Map: slot ──▶ Node (connection, breaker)
//!            └ Cluster ── the masters, each with its slots ────────┘
//! ```
//! A keeper task finds the servers again when one is lost, when one says that it no longer leads, and now and then. The client of the redis
//! crate for clusters is not used: its one number of retries is for redirections and lost connections alike, so that it either sends a script
//! twice behind our back or follows no redirection, and it does not tell which server is down.

mod address;
mod asked;
mod connector;
mod find;
mod keep;
mod node;
mod route;
mod slots;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use redis::aio::MultiplexedConnection;
use redis::{Cmd, ErrorKind, RedisResult, Value};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::Error;
use crate::options::Options;
use crate::script::Script;
pub(crate) use address::Spot;
use address::{Address, Place};
pub(crate) use asked::{Asked, send};
use connector::Connector;
pub(crate) use node::{Failure, Line, Node};
use route::Map;
pub(crate) use slots::slot;

/// The servers, and what leads to them.
pub(crate) struct Link {
    address: Address,
    connector: Arc<Connector>,
    map: RwLock<Map>,
    /// Wakes the keeper.
    keeper: Arc<Notify>,
    /// Woken when other servers lead.
    pub(crate) remapped: Notify,
    /// Slots that were found on their way from one server to another for too long: nobody waits for them.
    stuck: Mutex<std::collections::HashSet<u16>>,
}

impl Link {
    /// Connects to every server that leads, or at least to one; tasks of the present runtime do the rest.
    pub(crate) async fn connect(options: &Options) -> RedisResult<Arc<Self>> {
        let address = Address::read(&options.address)?;
        let connector = Arc::new(Connector::new(address.pattern.clone(), options));
        let found = find::find(&address, &connector, Default::default()).await?;
        let must_lead = matches!(address.place, Place::Sentinel { .. });
        let mut reached = JoinSet::new();
        for (_, spot) in &found.leaders {
            let (connector, spot) = (connector.clone(), spot.clone());
            reached.spawn(async move { (Node::reach(&connector, &spot, must_lead).await, spot) });
        }
        let keeper = Arc::new(Notify::new());
        let (mut nodes, mut failed) = (Vec::new(), None);
        for (answer, spot) in reached.join_all().await {
            match answer {
                Ok(connection) => nodes.push(Node::new(spot, must_lead, &connector, &keeper, Some(connection))),
                Err(error) => failed = Some(error),
            }
        }
        if let Some(error) = failed
            && (nodes.is_empty() || error.kind() == ErrorKind::AuthenticationFailed)
        {
            return Err(error);
        }
        let mut map = Map::of(nodes);
        map.apply(&found, |spot| Node::new(spot, must_lead, &connector, &keeper, None));
        let link = Arc::new(Self {
            address,
            connector,
            map: RwLock::new(map),
            keeper,
            remapped: Notify::new(),
            stuck: Mutex::default(),
        });
        keep::start(&link);
        Ok(link)
    }

    /// Runs a script; keys are of one slot.
    pub(crate) async fn script(&self, script: &Script, keys: &[String], arguments: &[Vec<u8>]) -> Result<Value, Error> {
        let asked = Asked::Script {
            script,
            keys,
            arguments,
        };
        self.ask(&asked).await
    }

    /// Runs a command that may be run twice, where its first key is.
    pub(crate) async fn command<T: redis::FromRedisValue>(&self, command: &Cmd) -> Result<T, Error> {
        let value = self.ask(&Asked::Command(command)).await?;
        redis::from_redis_value(value).map_err(|error| {
            tracing::error!(%error, "a command's answer is not what it should be");
            Error::OutcomeUnknown
        })
    }

    /// An error where no server at all can be asked.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let is_up = self.map.read().nodes().any(|node| node.is_up());
        is_up.then_some(()).ok_or(Error::Unavailable)
    }

    /// Where the server is that has `key`.
    pub(crate) fn spot(&self, key: &str) -> Option<Spot> {
        Some(self.leader(slot(key.as_bytes()))?.spot.clone())
    }

    /// Whether the server that has `key` can be asked, as far as is known.
    pub(crate) fn is_up(&self, key: &str) -> bool {
        self.leader(slot(key.as_bytes())).is_some_and(|node| node.is_up())
    }

    /// Returns once the server that has `key` can be asked, false where it cannot within `limit`.
    pub(crate) async fn came_back(&self, key: &str, limit: Duration) -> bool {
        let leader = self.leader(slot(key.as_bytes()));
        match leader {
            Some(node) => node.came_up(limit).await,
            None => false,
        }
    }

    /// Every server that leads.
    pub(crate) fn leaders(&self) -> Vec<Arc<Node>> {
        self.map.read().nodes().cloned().collect()
    }

    /// The server that has a slot.
    pub(crate) fn leader(&self, slot: u16) -> Option<Arc<Node>> {
        self.map.read().leader(slot).cloned()
    }

    /// The connection on which what this key names is asked.
    pub(crate) fn line(&self, key: &str) -> Option<Line> {
        Some(Line::of(&self.leader(slot(key.as_bytes()))?))
    }

    /// Whether every slot has a server.
    pub(crate) fn is_covered(&self) -> bool {
        let map = self.map.read();
        slots::all().all(|slot| map.leader(slot).is_some())
    }

    /// Whether sentinels say who leads.
    pub(crate) fn is_sentinel(&self) -> bool {
        matches!(self.address.place, Place::Sentinel { .. })
    }

    pub(crate) fn is_cluster(&self) -> bool {
        matches!(self.address.place, Place::Cluster { .. })
    }
}

/// Whether an address can be read.
pub(crate) fn check(address: &str) -> RedisResult<()> {
    Address::read(address).map(drop)
}

/// Whether the server says that it leads.
async fn is_master(connection: &mut MultiplexedConnection) -> RedisResult<bool> {
    let role: Vec<Value> = redis::cmd("ROLE").query_async(connection).await?;
    let role = role.into_iter().next().unwrap_or(Value::Nil);
    Ok(redis::from_redis_value::<String>(role)? == "master")
}
