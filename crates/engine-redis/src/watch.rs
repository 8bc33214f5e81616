//! What other nodes change, as the servers tell it.
//!
//! Every script that changes a sale publishes so on the sale's shard channel (`save` in `lua/state.lua`). One connection to each server that
//! leads listens; whoever hears of a revision that is not known here looks at the sale, once at a time for each sale. A sale counts as
//! watched from its first look behind the subscription until the connection is lost, the slot has moved, or the server no longer leads.

mod looking;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{PushInfo, PushKind, RedisResult, Value};
use seckill_sale::ActivityId;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::keys;
use crate::link::{Node, slot};
use crate::shared::Shared;
pub(crate) use looking::{Looking, Told};

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
        let lost = Arc::new(Notify::new());
        let told = {
            let (shared, lost) = (shared.clone(), lost.clone());
            move |push| hear(&shared, &push, by, &lost)
        };
        let connected = server.connector.connect_told(&server.spot, told).await;
        drop((known, server));
        match connected {
            Ok(connection) => {
                let ended = attend(&shared, &node, connection, by, &lost).await;
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

/// Subscribes to the server's sales, old and new, until it is over.
async fn attend(
    shared: &Weak<Shared>,
    node: &Weak<Node>,
    mut connection: MultiplexedConnection,
    by: u64,
    lost: &Notify,
) -> RedisResult<()> {
    let mut heard = HashSet::new();
    loop {
        let (Some(known), Some(server)) = (shared.upgrade(), node.upgrade()) else {
            return Ok(());
        };
        let new_sale = known.new_sale.notified();
        tokio::pin!(new_sale);
        new_sale.as_mut().enable();
        for activity in known.sales_of(&server) {
            if heard.insert(activity) {
                let mut subscribe = redis::cmd("SSUBSCRIBE");
                subscribe.arg(keys::changed(activity));
                let _confirmed: Value = subscribe.query_async(&mut connection).await?;
            }
            // What came before the subscription is seen by a look behind it.
            if !known.watched.read().contains_key(&activity) && known.look(activity).await.is_ok() {
                known.watched.write().insert(activity, by);
            }
        }
        let went_down = server.went_down();
        tokio::select! {
            () = lost.notified() => return Ok(()),
            () = went_down => return Ok(()),
            () = new_sale => {}
            () = tokio::time::sleep(EVERY) => {
                let _alive: Value = redis::cmd("PING").query_async(&mut connection).await?;
            }
        }
    }
}

/// Takes a message. The connection is over where it is lost, or where the server has given a slot away: it ends subscriptions then.
fn hear(shared: &Weak<Shared>, push: &PushInfo, by: u64, lost: &Notify) {
    let Some(shared) = shared.upgrade() else { return };
    match push.kind {
        PushKind::SMessage => {
            let mut words = push.data.iter().filter_map(|word| match word {
                Value::BulkString(word) => std::str::from_utf8(word).ok(),
                _ => None,
            });
            let activity = words.next().and_then(keys::changed_sale);
            if let (Some(activity), Some(told)) = (activity, words.next().and_then(Told::read)) {
                shared.hear(activity, told);
            }
        }
        PushKind::Disconnection | PushKind::SUnsubscribe => {
            shared.unwatch(by);
            lost.notify_one();
        }
        _ => {}
    }
}

/// Sales of which messages are told, each with the listener that hears them.
pub(crate) type Watched = HashMap<ActivityId, u64>;

impl Shared {
    fn sales_of(&self, server: &Arc<Node>) -> Vec<ActivityId> {
        let leads = |activity: &ActivityId| {
            let leader = self.link.leader(slot(keys::changed(*activity).as_bytes()));
            leader.is_some_and(|leader| Arc::ptr_eq(&leader, server))
        };
        self.over_sales(Vec::new(), |mut sales, activity, _| {
            sales.extend(Some(activity).filter(leads));
            sales
        })
    }

    fn unwatch(&self, by: u64) {
        self.watched.write().retain(|_, watcher| *watcher != by);
    }
}
