//! Tasks behind the handle: one reads the sales that other nodes change, one waits for tickets that other nodes admit. Both end with the
//! engine's last handle.

use std::sync::{Arc, Weak};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{RedisResult, Value, cmd};
use seckill_sale::ActivityId;

use crate::keys;
use crate::shared::Shared;

/// Longest block of the wait for tickets; a sale that is new to this node is waited for from the next on.
const BLOCK: Duration = Duration::from_millis(500);

pub(crate) fn start(shared: &Arc<Shared>) {
    tokio::spawn(refresh(Arc::downgrade(shared), shared.options.refresh_every));
    tokio::spawn(watch(Arc::downgrade(shared)));
    tokio::spawn(load_winners(Arc::downgrade(shared)));
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
                *shared.watched.write() = places.iter().map(|(activity, _)| *activity).collect();
                for activity in grown {
                    // Its answer wakes the workers.
                    let _ = shared.look(activity).await;
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

/// Each sale, and its next sequence: an entry from there on is one that this node does not know.
fn places(shared: &Shared) -> Vec<(ActivityId, u64)> {
    shared.over_sales(Vec::new(), |mut places, activity, sale| {
        places.push((activity, sale.figures.next_sequence));
        places
    })
}

/// Sales whose streams have entries that this node does not know; none where there came none within [`BLOCK`].
async fn wait(connection: &mut MultiplexedConnection, places: &[(ActivityId, u64)]) -> RedisResult<Vec<ActivityId>> {
    let mut command = cmd("XREAD");
    command
        .arg("COUNT")
        .arg(1)
        .arg("BLOCK")
        .arg(BLOCK.as_millis() as u64)
        .arg("STREAMS");
    for (activity, _) in places {
        command.arg(keys::fresh(*activity));
    }
    for (_, next) in places {
        command.arg(format!("{}-{}", next.saturating_sub(1), u64::MAX));
    }
    let grown: Option<Vec<(String, Value)>> = command.query_async(connection).await?;
    let names: Vec<_> = grown.into_iter().flatten().map(|(name, _)| name).collect();
    let is_grown = |activity: &ActivityId| names.contains(&keys::fresh(*activity));
    Ok(places.iter().map(|(activity, _)| *activity).filter(is_grown).collect())
}
