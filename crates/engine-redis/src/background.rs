//! Tasks behind the handle: one reads the sales that other nodes change, one waits for tickets that other nodes admit. Both end with the
//! engine's last handle.

use std::sync::{Arc, Weak};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{RedisResult, Value, cmd};

use crate::keys::Place;
use crate::script::LOOK;
use crate::shared::Shared;

/// Longest block of the wait for tickets; a sale that is new to this node is waited for from the next on.
const BLOCK: Duration = Duration::from_millis(500);

pub(crate) fn start(shared: &Arc<Shared>) {
    tokio::spawn(refresh(Arc::downgrade(shared), shared.options.refresh_every));
    tokio::spawn(watch(Arc::downgrade(shared)));
    tokio::spawn(load_winners(Arc::downgrade(shared)));
    tokio::spawn(rebalance(Arc::downgrade(shared), shared.options.refresh_every));
}

async fn refresh(shared: Weak<Shared>, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        let Some(shared) = shared.upgrade() else { return };
        if let Err(error) = shared.refresh().await {
            tracing::debug!(%error, "the sales of the store were not read");
        }
    }
}

/// Levels the shards of sales that have several.
async fn rebalance(shared: Weak<Shared>, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        let Some(shared) = shared.upgrade() else { return };
        if let Err(error) = shared.rebalance().await {
            tracing::debug!(%error, "the shards of a sale were not levelled");
        }
    }
}

/// Loads the buyers of sales that have sold out. It looks around now and then, too, for it ends with the handle and frees what is not needed.
async fn load_winners(shared: Weak<Shared>) {
    loop {
        let Some(shared) = shared.upgrade() else { return };
        if let Err(error) = shared.load_winners().await {
            tracing::debug!(%error, "the buyers of a sold-out sale were not loaded");
        }
        let _ = tokio::time::timeout(BLOCK, shared.sold_out.notified()).await;
    }
}

/// Blocks on a connection of its own, for it would block everybody on a shared one. It reads and takes nothing: it only looks.
async fn watch(shared: Weak<Shared>) {
    let mut connection: Option<MultiplexedConnection> = None;
    loop {
        let Some(known) = shared.upgrade() else { return };
        let places = places(&known);
        if connection.is_none() {
            connection = known.link.connect_apart(BLOCK).await.ok();
        }
        drop(known);
        let grown = match &mut connection {
            Some(connection) if !places.is_empty() => wait(connection, &places).await,
            _ => {
                tokio::time::sleep(BLOCK).await;
                continue;
            }
        };
        let Some(shared) = shared.upgrade() else { return };
        match grown {
            Ok(grown) => {
                *shared.watched.write() = places.iter().map(|(place, _)| place.activity).collect();
                for place in grown {
                    // Its answer wakes the workers.
                    let _ = shared.call(&LOOK, place, vec![b"summary".to_vec()]).await;
                }
            }
            Err(error) => {
                tracing::debug!(%error, "the wait for tickets was cut short");
                shared.watched.write().clear();
                connection = None;
            }
        }
    }
}

/// Each shard, and its next ticket: an entry from there on is one that this node does not know.
fn places(shared: &Shared) -> Vec<(Place, u64)> {
    shared.over_shards(Vec::new(), |mut places, place, shard| {
        places.push((place, shard.next_nth));
        places
    })
}

/// Shards whose streams have entries that this node does not know; none where there came none within [`BLOCK`].
async fn wait(connection: &mut MultiplexedConnection, places: &[(Place, u64)]) -> RedisResult<Vec<Place>> {
    let mut command = cmd("XREAD");
    command
        .arg("COUNT")
        .arg(1)
        .arg("BLOCK")
        .arg(BLOCK.as_millis() as u64)
        .arg("STREAMS");
    for (place, _) in places {
        command.arg(place.fresh());
    }
    for (_, next) in places {
        command.arg(format!("{}-{}", next.saturating_sub(1), u64::MAX));
    }
    let grown: Option<Vec<(String, Value)>> = command.query_async(connection).await?;
    let names: Vec<_> = grown.into_iter().flatten().map(|(name, _)| name).collect();
    let is_grown = |place: &Place| names.contains(&place.fresh());
    Ok(places.iter().map(|(place, _)| *place).filter(is_grown).collect())
}
