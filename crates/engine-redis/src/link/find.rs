//! Which servers lead, and what each of them has.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{ErrorKind, FromRedisValue as _, RedisError, RedisResult, Value};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::address::{Address, Place, Spot};
use super::connector::Connector;
use super::slots;

/// Longest wait for others once there is one.
const OTHERS_WITHIN: Duration = Duration::from_millis(100);

/// The servers that lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Each with its slots.
    pub(crate) leaders: Vec<(RangeInclusive<u16>, Spot)>,
    /// Everybody who can be asked next time.
    pub(crate) known: BTreeSet<Spot>,
    /// The newer of two findings has the higher one.
    epoch: u64,
}

/// Asks whoever knows. Of several answers the newest counts: who was cut off from the others may tell of long ago.
pub(crate) async fn find(address: &Address, connector: &Arc<Connector>, known: BTreeSet<Spot>) -> RedisResult<Found> {
    match &address.place {
        Place::One(spot) => Ok(Found {
            leaders: vec![(slots::all(), spot.clone())],
            known,
            epoch: 0,
        }),
        Place::Sentinel { sentinels, master } => {
            let asked = sentinels.iter().cloned().map(|spot| {
                let (connector, master) = (connector.clone(), master.clone());
                async move { ask_sentinel(&connector, &spot, &master).await }
            });
            newest(asked, connector.within).await
        }
        Place::Cluster { seeds } => {
            let asked: BTreeSet<_> = known.iter().chain(seeds).cloned().collect();
            let asked = asked.into_iter().map(|spot| {
                let connector = connector.clone();
                async move { ask_node(&mut connector.connect(&spot).await?, &spot).await }
            });
            newest(asked, connector.within).await
        }
    }
}

/// The newest of the answers; where there is none, an error that says more than that nobody was there.
async fn newest<F>(asked: impl Iterator<Item = F>, within: Duration) -> RedisResult<Found>
where
    F: Future<Output = RedisResult<Found>> + Send + 'static,
{
    let mut asked: JoinSet<_> = asked.collect();
    let nobody_until = Instant::now() + within;
    let mut end = None;
    let mut best: RedisResult<Found> = Err((ErrorKind::ClusterConnectionNotFound, "nobody answers").into());
    loop {
        let limit = end.unwrap_or(nobody_until);
        let Ok(Some(answer)) = tokio::time::timeout_at(limit, asked.join_next()).await else {
            return best;
        };
        let Ok(answer) = answer else { continue };
        best = match (best, answer) {
            (Ok(best), Ok(other)) if other.epoch <= best.epoch => Ok(best),
            (Ok(best), Err(_)) => Ok(best),
            (Err(best), Err(other)) if other.is_io_error() => Err(best),
            (_, other) => other,
        };
        if best.is_ok() {
            end = end.or(Some(Instant::now() + OTHERS_WITHIN));
        }
    }
}

async fn ask_sentinel(connector: &Connector, spot: &Spot, master: &str) -> RedisResult<Found> {
    let mut command = redis::cmd("SENTINEL");
    command.arg("MASTER").arg(master);
    let mut connection = connector.connect_unnamed(spot).await?;
    let mut answer: RedisResult<Vec<String>> = command.query_async(&mut connection).await;
    if answer.as_ref().is_err_and(|error| error.code() == Some("NOAUTH")) {
        let mut connection = connector.connect_named(spot).await?;
        answer = command.query_async(&mut connection).await;
    }
    let answer = answer?;
    let field = |name: &str| answer.chunks_exact(2).find(|pair| pair[0] == name).map(|pair| &pair[1]);
    let read = || {
        let spot = Spot {
            host: field("ip")?.clone(),
            port: field("port")?.parse().ok()?,
        };
        Some(Found {
            leaders: vec![(slots::all(), spot)],
            known: BTreeSet::new(),
            epoch: field("config-epoch")?.parse().ok()?,
        })
    };
    read().ok_or_else(|| unreadable("a sentinel's answer cannot be read"))
}

/// What a node of a cluster says.
async fn ask_node(connection: &mut MultiplexedConnection, asked: &Spot) -> RedisResult<Found> {
    let mut pipe = redis::pipe();
    pipe.cmd("CLUSTER").arg("INFO").cmd("CLUSTER").arg("SLOTS");
    let (info, slots): (String, Vec<Vec<Value>>) = pipe.query_async(connection).await?;
    let epoch = info
        .lines()
        .find_map(|line| line.strip_prefix("cluster_current_epoch:")?.trim().parse().ok());
    let mut found = Found {
        leaders: Vec::new(),
        known: BTreeSet::from([asked.clone()]),
        epoch: epoch.ok_or_else(|| unreadable("a cluster's epoch cannot be read"))?,
    };
    for part in slots {
        let mut part = part.into_iter();
        let mut number = || redis::from_redis_value::<u16>(part.next().unwrap_or(Value::Nil));
        let range = number()?..=number()?;
        let servers: Vec<Spot> = part.filter_map(|server| read_server(server, asked)).collect();
        if let Some(leader) = servers.first() {
            found.leaders.push((range, leader.clone()));
        }
        found.known.extend(servers);
    }
    if found.leaders.is_empty() {
        return Err(unreadable("the cluster has no slots"));
    }
    Ok(found)
}

/// Host, port, and more that does not matter. Where a node does not know its own name, it is who was asked.
fn read_server(server: Value, asked: &Spot) -> Option<Spot> {
    let mut parts = Vec::<Value>::from_redis_value(server).ok()?.into_iter();
    let host: Option<String> = redis::from_redis_value(parts.next()?).ok()?;
    let port = redis::from_redis_value(parts.next()?).ok()?;
    let host = host.filter(|host| !host.is_empty() && host != "?");
    Some(Spot {
        host: host.unwrap_or_else(|| asked.host.clone()),
        port,
    })
}

fn unreadable(sentence: &'static str) -> RedisError {
    (ErrorKind::UnexpectedReturnType, sentence).into()
}
