//! What other nodes change, as the servers tell it.
//!
//! Every script that changes a shard publishes so once, on the shard's channel (`tell` in `lua/state.lua`), which is in the slot of its keys.
//! One connection to each server that leads listens; whoever hears of a revision that is not known here looks at the shard, once at a time
//! for each. A shard counts as watched from its first look behind the subscription until the connection is lost, the slot has moved, or the
//! server no longer leads; a sale does where all of its shards do.

mod hearing;
mod looking;

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{RedisResult, Value};
use seckill_sale::{ActivityId, Shards};
use tokio::time::Instant;

use crate::keys::Place;
use crate::link::{Node, slot};
use crate::script::LOOK;
use crate::shared::Shared;
use hearing::{Ear, Heard, hear};
pub(crate) use looking::Looking;

/// Between two signs of life of a connection that tells nothing.
const EVERY: Duration = Duration::from_millis(500);
/// Before another attempt to listen; doubled up to [`EVERY`] while attempts end at once.
const PAUSE_MIN: Duration = Duration::from_millis(5);

/// Listens to every server that leads.
pub(crate) async fn watch(shared: Weak<Shared>) {
    let mut listening: Vec<Weak<Node>> = Vec::new();
    let mut count = 0;
    while let Some(known) = shared.upgrade() {
        let remapped = known.link.remapped.notified();
        let leaders = known.link.leaders();
        listening.retain(|node| node.strong_count() != 0);
        for node in leaders {
            if !listening.iter().any(|other| other.as_ptr() == Arc::as_ptr(&node)) {
                count += 1;
                listening.push(Arc::downgrade(&node));
                tokio::spawn(listen(shared.clone(), Arc::downgrade(&node), count));
            }
        }
        let _ = tokio::time::timeout(EVERY, remapped).await;
    }
}

/// Listens to one server as long as it leads. `by` names this listener.
async fn listen(shared: Weak<Shared>, node: Weak<Node>, by: u64) {
    let mut pause = PAUSE_MIN;
    loop {
        let (Some(known), Some(server)) = (shared.upgrade(), node.upgrade()) else {
            return;
        };
        if !server.came_up(EVERY).await {
            continue;
        }
        let began = Instant::now();
        let ear = Arc::new(Ear::of(by));
        let told = {
            let (shared, ear) = (shared.clone(), ear.clone());
            move |push| hear(&shared, &push, &ear)
        };
        let connected = server.connector.connect_told(&server.spot, told).await;
        drop((known, server));
        match connected {
            Ok(connection) => {
                let ended = attend(&shared, &node, connection, &ear).await;
                if let Some(shared) = shared.upgrade() {
                    shared.unwatch(by);
                }
                if let Err(error) = ended {
                    tracing::debug!(%error, "a server tells nothing more of its sales");
                }
            }
            Err(error) => tracing::debug!(%error, "a server cannot be listened to"),
        }
        // A server that refuses is not asked all the time.
        let lasted = EVERY <= began.elapsed();
        pause = if lasted { PAUSE_MIN } else { (pause * 2).min(EVERY) };
        tokio::time::sleep(pause).await;
    }
}

/// Subscribes to the server's shards, old and new, until it is over.
async fn attend(
    shared: &Weak<Shared>,
    node: &Weak<Node>,
    mut connection: MultiplexedConnection,
    ear: &Ear,
) -> RedisResult<()> {
    let mut heard = Heard::new();
    loop {
        let (Some(known), Some(server)) = (shared.upgrade(), node.upgrade()) else {
            return Ok(());
        };
        let new_shard = known.new_shard.notified();
        tokio::pin!(new_shard);
        new_shard.as_mut().enable();
        for place in ear.over(&mut heard, |place| {
            known.shards_known(place.activity) == Some(place.shards)
        }) {
            known.watched.write().remove(&place);
            let mut unsubscribe = redis::cmd("SUNSUBSCRIBE");
            unsubscribe.arg(place.changed());
            let _confirmed: Value = unsubscribe.query_async(&mut connection).await?;
            ear.has_left(place);
        }
        for place in known.places_of(&server) {
            if heard.insert(place, None).is_none() {
                let mut subscribe = redis::cmd("SSUBSCRIBE");
                subscribe.arg(place.changed());
                let _confirmed: Value = subscribe.query_async(&mut connection).await?;
            }
            // What came before the subscription is seen by a look behind it.
            if !known.watched.read().contains_key(&place) {
                let looked = known.call(&LOOK, place, vec![b"summary".to_vec()]).await;
                if looked.is_ok() {
                    known.watched.write().insert(place, ear.by);
                }
            }
        }
        let went_down = server.went_down();
        tokio::select! {
            () = ear.lost.notified() => return Ok(()),
            () = went_down => return Ok(()),
            () = new_shard => {}
            () = tokio::time::sleep(EVERY) => {
                let _alive: Value = redis::cmd("PING").query_async(&mut connection).await?;
            }
        }
    }
}

/// Shards of which messages are told, each with the listener that hears them.
pub(crate) type Watched = HashMap<Place, u64>;

impl Shared {
    fn places_of(&self, server: &Arc<Node>) -> Vec<Place> {
        let leads = |place: &Place| {
            let leader = self.link.leader(slot(place.changed().as_bytes()));
            leader.is_some_and(|leader| Arc::ptr_eq(&leader, server))
        };
        self.over_shards(Vec::new(), |mut places, place, _| {
            places.extend(Some(place).filter(leads));
            places
        })
    }

    /// Whether every shard of a sale is watched, and nothing was told of any that may mean that it sells.
    pub(crate) fn hears_nothing_of(&self, activity: ActivityId, shards: Shards) -> bool {
        let mut places = Place::all(activity, shards);
        let watched = self.watched.read();
        let looking = self.looking.lock();
        places.all(|place| watched.contains_key(&place) && looking.get(&place).is_none_or(|look| !look.may_sell))
    }

    fn unwatch(&self, by: u64) {
        self.watched.write().retain(|_, watcher| *watcher != by);
    }
}
