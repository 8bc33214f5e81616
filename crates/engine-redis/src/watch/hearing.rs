//! What a connection that listens hears, and which channels it leaves.

use std::collections::{HashMap, HashSet};
use std::sync::Weak;
use std::time::Duration;

use parking_lot::Mutex;
use redis::{PushInfo, PushKind, Value};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::looking::Told;
use crate::keys::{self, Place};
use crate::shared::Shared;

/// A sale that was not known for so long is over; one that was lost is built anew before.
const OVER_AFTER: Duration = Duration::from_secs(5);

/// Shards that a connection is told of, each with the moment since when its sale is not known.
pub(super) type Heard = HashMap<Place, Option<Instant>>;

/// What a connection that listens shares with whoever takes its messages.
pub(super) struct Ear {
    /// Names the listener.
    pub(super) by: u64,
    /// The connection is over.
    pub(super) lost: Notify,
    /// Channels that were left since their sales are over; the server is still to confirm it.
    left: Mutex<HashSet<String>>,
}

impl Ear {
    pub(super) fn of(by: u64) -> Self {
        Self {
            by,
            lost: Notify::new(),
            left: Mutex::default(),
        }
    }

    /// Shards whose sales are over, since they have not been `known` for a while: they are heard no more. One that was lost comes back before.
    pub(super) fn over(&self, heard: &mut Heard, known: impl Fn(&Place) -> bool) -> Vec<Place> {
        let mut over = Vec::new();
        for (place, unknown_since) in heard.iter_mut() {
            *unknown_since = match known(place) {
                true => None,
                false => unknown_since.or_else(|| Some(Instant::now())),
            };
            if unknown_since.is_some_and(|since| OVER_AFTER <= since.elapsed()) {
                over.push(*place);
            }
        }
        for place in &over {
            heard.remove(place);
            self.left.lock().insert(place.changed());
        }
        over
    }

    /// The server has confirmed it.
    pub(super) fn has_left(&self, place: Place) {
        self.left.lock().remove(&place.changed());
    }
}

/// Takes a message. The connection is over where it is lost, or where the server has given a slot away: it ends subscriptions then.
pub(super) fn hear(shared: &Weak<Shared>, push: &PushInfo, ear: &Ear) {
    let Some(shared) = shared.upgrade() else { return };
    let words = || {
        push.data.iter().filter_map(|word| match word {
            Value::BulkString(word) => std::str::from_utf8(word).ok(),
            _ => None,
        })
    };
    match push.kind {
        PushKind::SMessage => {
            let mut words = words();
            let shard = words.next().and_then(keys::read_changed);
            if let (Some((activity, shard)), Some(told)) = (shard, words.next().and_then(Told::read)) {
                shared.hear(activity, shard, told);
            }
        }
        PushKind::SUnsubscribe if words().next().is_some_and(|channel| ear.left.lock().contains(channel)) => {}
        PushKind::Disconnection | PushKind::SUnsubscribe => {
            shared.unwatch(ear.by);
            ear.lost.notify_one();
        }
        _ => {}
    }
}
