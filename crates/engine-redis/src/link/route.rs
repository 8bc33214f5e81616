//! From a slot to its server, and on where that one sends us.
//!
//! ```text
//! MOVED     nothing was changed; the other server is asked, and the servers are found again
//! ASK       nothing was changed; the other server is asked this once
//! TRYAGAIN  nothing was changed: keys of the slot are on their way; asked again for a second, then nobody waits until it went well once
//! others    told to the caller (see `error.rs`); where the server does not lead any more, the servers are found again
//! ```
//! Nothing is sent again after a lost connection: whoever asked hears that the outcome is unknown.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use redis::{RedisError, Value};
use tokio::time::Instant;

use super::address::{Place, Spot};
use super::asked::Asked;
use super::find::Found;
use super::node::{Failure, Node};
use super::{Error, Link};

/// Redirections of one call.
const REDIRECTIONS_MAX: usize = 5;
/// Longest wait for a server that we were sent to and did not know.
const NEW_WITHIN: Duration = Duration::from_millis(200);
/// Longest wait for keys that are on their way.
const ON_THEIR_WAY_WITHIN: Duration = Duration::from_secs(1);

/// The servers that lead, as last found.
#[derive(Default)]
pub(crate) struct Map {
    nodes: HashMap<Spot, Arc<Node>>,
    leaders: Vec<(RangeInclusive<u16>, Spot)>,
    /// Slots of which a server has said since that another one has them.
    moved: HashMap<u16, Spot>,
    pub(crate) known: BTreeSet<Spot>,
}

impl Map {
    pub(crate) fn of(nodes: Vec<Arc<Node>>) -> Self {
        Self {
            nodes: nodes.into_iter().map(|node| (node.spot.clone(), node)).collect(),
            ..Self::default()
        }
    }

    /// Takes over what was found; whether other servers lead now. Connections to servers that no longer lead end.
    pub(crate) fn apply(&mut self, found: &Found, connect: impl Fn(Spot) -> Arc<Node>) -> bool {
        let is_new = self.leaders != found.leaders || !self.moved.is_empty();
        self.leaders.clone_from(&found.leaders);
        self.known.clone_from(&found.known);
        self.moved.clear();
        let leads = |spot: &Spot| found.leaders.iter().any(|(_, leader)| leader == spot);
        self.nodes.retain(|spot, _| leads(spot));
        for (_, spot) in &found.leaders {
            let node = self.nodes.entry(spot.clone());
            node.or_insert_with(|| connect(spot.clone()));
        }
        is_new
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.nodes.values()
    }

    pub(crate) fn leader(&self, slot: u16) -> Option<&Arc<Node>> {
        let owner = self.leaders.iter().find(|(range, _)| range.contains(&slot));
        self.nodes.get(self.moved.get(&slot).or(owner.map(|(_, spot)| spot))?)
    }
}

/// What an error means for the way.
enum Next {
    Moved(Spot),
    Ask(Spot),
    Wait,
    /// The caller is told, and the servers are found again.
    FindAndTell,
    Tell,
}

impl Next {
    fn after(error: &RedisError, asked: &Spot) -> Self {
        let other = error.redirect_node().and_then(|(spot, _)| Spot::read(spot, asked));
        match (error.code(), other) {
            (Some("MOVED"), Some(spot)) => Self::Moved(spot),
            (Some("ASK"), Some(spot)) => Self::Ask(spot),
            (Some("TRYAGAIN"), _) => Self::Wait,
            (Some("CLUSTERDOWN" | "READONLY" | "MASTERDOWN"), _) => Self::FindAndTell,
            _ => Self::Tell,
        }
    }
}

impl Link {
    pub(crate) async fn ask(&self, asked: &Asked<'_>) -> Result<Value, Error> {
        let slot = asked.slot();
        let (began, mut redirections, mut asking) = (Instant::now(), 0, false);
        let mut node = self.leader(slot).ok_or(Error::Unavailable)?;
        loop {
            let error = match node.ask(asked, asking).await {
                Ok(value) => {
                    self.stuck.lock().remove(&slot);
                    return Ok(value);
                }
                Err(Failure::NotSent(error)) => return Err(error),
                Err(Failure::Told(error)) => error,
            };
            let next = Next::after(&error, &node.spot);
            let is_redirected = matches!(next, Next::Moved(_) | Next::Ask(_));
            asking = matches!(next, Next::Ask(_));
            redirections += usize::from(is_redirected);
            match next {
                Next::Moved(spot) | Next::Ask(spot) if redirections <= REDIRECTIONS_MAX => {
                    node = self.server(slot, spot, !asking);
                    node.came_up(NEW_WITHIN).await;
                }
                Next::Wait if began.elapsed() < ON_THEIR_WAY_WITHIN && !self.stuck.lock().contains(&slot) => {
                    tokio::time::sleep(jitter()).await;
                    node = self.leader(slot).ok_or(Error::Unavailable)?;
                }
                Next::Wait => {
                    self.stuck.lock().insert(slot);
                    return Err(Error::from(&error));
                }
                Next::FindAndTell => {
                    self.keeper.notify_one();
                    return Err(Error::from(&error));
                }
                Next::Moved(_) | Next::Ask(_) | Next::Tell => return Err(Error::from(&error)),
            }
        }
    }

    /// The server that another one has sent us to.
    fn server(&self, slot: u16, spot: Spot, has_moved: bool) -> Arc<Node> {
        let mut map = self.map.write();
        let node = map.nodes.get(&spot).cloned();
        let node = node.unwrap_or_else(|| self.connect_to(spot.clone()));
        map.nodes.insert(spot.clone(), node.clone());
        if has_moved {
            map.moved.insert(slot, spot);
            drop(map);
            self.remapped.notify_waiters();
            self.keeper.notify_one();
        }
        node
    }

    pub(crate) fn connect_to(&self, spot: Spot) -> Arc<Node> {
        let must_lead = matches!(self.address.place, Place::Sentinel { .. });
        Node::new(spot, must_lead, &self.connector, &self.keeper, None)
    }
}

/// So that those who wait do not come back together.
fn jitter() -> Duration {
    const BASE_MS: u64 = 20;
    const SPREAD_MS: u64 = 60;
    Duration::from_millis(BASE_MS + RandomState::new().hash_one(SPREAD_MS) % SPREAD_MS)
}
