//! Tasks behind the handle: they read the sales that other nodes change, hear of such changes, and load the buyers of sales that nobody can buy
//! of. They end with the engine's last handle.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::shared::Shared;
use crate::watch::watch;

/// How often the loader looks around without being woken.
const EVERY: Duration = Duration::from_millis(500);

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
        shared.note_acknowledged().await;
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

/// Loads the buyers of sales that have sold out or are held. It looks around now and then, too, for it ends with the handle and frees what is not needed.
async fn load_winners(shared: Weak<Shared>) {
    loop {
        let Some(shared) = shared.upgrade() else { return };
        if let Err(error) = shared.load_winners().await {
            tracing::debug!(%error, "the buyers of a sale that is sold out or held were not loaded");
        }
        let _ = tokio::time::timeout(EVERY, shared.shut.notified()).await;
    }
}
