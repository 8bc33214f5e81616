//! The keeper: finds the servers that lead again when something was noticed, and now and then. It ends with the link.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::Link;
use super::address::Place;
use super::connector::{PAUSE_MAX, PAUSE_MIN};
use super::find::find;

/// Between two looks while all is well. A master that was cut off from its sentinels, but not from us, is left after so long; a cluster's
/// says so itself.
const EVERY: Duration = Duration::from_secs(1);

pub(super) fn start(link: &Arc<Link>) {
    if !matches!(link.address.place, Place::One(_)) {
        tokio::spawn(keep(Arc::downgrade(link)));
    }
}

async fn keep(link: Weak<Link>) {
    let mut pause = PAUSE_MIN;
    while let Some(known) = link.upgrade() {
        let is_well = known.find_again().await;
        let keeper = known.keeper.clone();
        drop(known);
        if is_well {
            pause = PAUSE_MIN;
            let _ = tokio::time::timeout(EVERY, keeper.notified()).await;
        } else {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

impl Link {
    /// Whether every server that leads can be asked.
    async fn find_again(&self) -> bool {
        let known = self.map.read().known.clone();
        match find(&self.address, &self.connector, known).await {
            Ok(found) => {
                let is_new = self.map.write().apply(&found, |spot| self.connect_to(spot));
                if is_new {
                    let leaders: Vec<_> = found.leaders.iter().map(|(_, spot)| spot.to_string()).collect();
                    tracing::info!(?leaders, "these servers lead");
                    self.remapped.notify_waiters();
                }
            }
            Err(error) => tracing::debug!(%error, "nobody says which servers lead"),
        }
        let map = self.map.read();
        map.nodes().all(|node| node.is_up())
    }
}
