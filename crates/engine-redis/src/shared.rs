//! What the parts of a handle share: the link, the clock, and what is remembered of each sale.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use seckill_sale::{ActivityId, Figures, NotReady, Shards, UserId};
use tokio::sync::{Mutex as Turn, Notify};

use crate::keys::Place;
use crate::link::Link;
use crate::options::Options;
use crate::pages::Walks;
use crate::remembered::Remembered;
use crate::sales::Known;
use crate::summary::{Answer, Outcome, Summary};
use crate::time::Time;
use crate::troubles::Troubles;
use crate::waiting::LeftToNewer;
use crate::watch::{Looking, Watched};
use crate::winners::AllWinners;

pub(crate) struct Shared {
    pub(crate) link: Arc<Link>,
    pub(crate) options: Options,
    pub(crate) time: Time,
    pub(crate) backlog_max: AtomicU64,
    /// Held while a claim call of this node is with a shard: what comes meanwhile gathers.
    lanes: Mutex<HashMap<Place, Arc<Turn<()>>>>,
    /// Wakes workers of this node when tickets can perhaps be taken.
    pub(crate) wake: Notify,
    /// Where walks over buyers go on.
    pub(crate) walks: Mutex<Walks>,
    /// Wakes the task that loads the buyers of sold-out sales.
    pub(crate) sold_out: Notify,
    pub(crate) winners: AllWinners,
    /// Shards whose changes by other nodes are told to this one as they happen.
    pub(crate) watched: RwLock<Watched>,
    /// Shards that are being looked at, for a change was told.
    pub(crate) looking: Mutex<HashMap<Place, Looking>>,
    /// Wakes whoever listens to servers: there is one more shard.
    pub(crate) new_shard: Notify,
    pub(crate) remembered: Remembered,
    /// The last figures of states that are no more.
    pub(crate) seen: Mutex<HashMap<ActivityId, Figures>>,
    sales: RwLock<HashMap<ActivityId, Known>>,
    pub(crate) troubles: Troubles,
    pub(crate) left_to_newer: LeftToNewer,
}

impl Shared {
    pub(crate) fn new(link: Arc<Link>, options: Options, time: Time) -> Self {
        Self {
            link,
            time,
            backlog_max: AtomicU64::new(options.backlog_max),
            lanes: Mutex::default(),
            wake: Notify::new(),
            walks: Mutex::default(),
            sold_out: Notify::new(),
            winners: AllWinners::default(),
            remembered: Remembered::default(),
            watched: RwLock::default(),
            looking: Mutex::default(),
            new_shard: Notify::new(),
            seen: Mutex::default(),
            troubles: Troubles::default(),
            left_to_newer: LeftToNewer::default(),
            sales: RwLock::default(),
            options,
        }
    }

    pub(crate) fn remember(&self, place: Place, answer: &Answer) {
        let activity = place.activity;
        if matches!(answer.outcome, Outcome::Done(..) | Outcome::None) {
            self.can_use(place);
        }
        match &answer.outcome {
            Outcome::Done(summary, _) => {
                self.remembered.settled(place, summary);
                let newer = self.in_sale(activity, place.shards, |sale| {
                    let is_new = sale.shard(place.index()).is_none();
                    sale.take_up(place.index(), Summary::clone(summary))
                        .then(|| (is_new, sale.seems_sold_out()))
                });
                let Some((is_new, seems_sold_out)) = newer else { return };
                if is_new {
                    self.new_shard.notify_waiters();
                }
                if seems_sold_out {
                    self.sold_out.notify_one();
                }
                if summary.takable_since(self.time.now(), self.options.waits).is_some() {
                    self.wake.notify_waiters();
                }
            }
            // Of several shards one may be lost: who looks at all tells.
            Outcome::None if place.shards.is_split() => self.lose(place, NotReady::StoreUnsafe),
            Outcome::None => self.forget(activity),
            Outcome::Filled => self.lose(place, NotReady::Recovering),
            Outcome::Grace => {}
            Outcome::Split(shards) => self.in_sale(activity, *shards, |_| ()),
            Outcome::Damaged => self.cannot_use(place, "damaged", NotReady::StoreUnsafe),
            Outcome::Doubtful => self.cannot_use(place, "doubtful", NotReady::Recovering),
            Outcome::Unusable(reason) => self.cannot_use(place, reason.as_str(), *reason),
        }
    }

    pub(crate) fn lose(&self, place: Place, reason: NotReady) {
        if let Some(sale) = self.sales.write().get_mut(&place.activity)
            && sale.shards() == place.shards
        {
            sale.lose(place.index(), reason);
        }
    }

    /// Changes what is known of a sale that has so many shards.
    pub(crate) fn in_sale<T>(&self, activity: ActivityId, shards: Shards, change: impl FnOnce(&mut Known) -> T) -> T {
        let mut sales = self.sales.write();
        let sale = sales.entry(activity).or_insert_with(|| Known::new(shards));
        if sale.shards() != shards {
            *sale = Known::new(shards);
        }
        change(sale)
    }

    pub(crate) fn forget(&self, activity: ActivityId) {
        let known = self.sales.write().remove(&activity);
        if let Some(figures) = known.and_then(|known| known.figures()) {
            self.seen.lock().insert(activity, figures);
        }
        self.lanes.lock().retain(|place, _| place.activity != activity);
    }

    /// Looks at what is known of a sale.
    pub(crate) fn with_sale<T>(&self, activity: ActivityId, look: impl FnOnce(Option<&Known>) -> T) -> T {
        look(self.sales.read().get(&activity))
    }

    /// The number of its shards, as far as it is known.
    pub(crate) fn shards_known(&self, activity: ActivityId) -> Option<Shards> {
        self.with_sale(activity, |sale| sale.map(Known::shards))
    }

    /// Whose turn it is with a shard.
    pub(crate) fn lane(&self, place: Place) -> Arc<Turn<()>> {
        self.lanes.lock().entry(place).or_default().clone()
    }

    /// Whether memory alone knows that this user has no ticket and that nothing is left for him.
    pub(crate) fn knows_sold_out(&self, activity: ActivityId, user: &UserId) -> bool {
        self.with_sale(activity, |sale| {
            let Some(sale) = sale.filter(|sale| sale.is_known_sold_out()) else {
                return false;
            };
            let place = Place::of_user(activity, sale.shards(), user);
            let mark = sale.shard(place.index()).map(Summary::buyers_mark);
            self.hears_nothing_of(activity, sale.shards())
                && mark.is_some_and(|mark| self.winners.knows_stranger(place, mark, user))
        })
    }

    /// Folds over the last summaries of all shards of all sales.
    pub(crate) fn over_shards<T>(&self, start: T, mut fold: impl FnMut(T, Place, &Summary) -> T) -> T {
        let sales = self.sales.read();
        let shards = sales.iter().flat_map(|(&activity, sale)| {
            let place = move |shard| Place::of(activity, sale.shards(), shard);
            sale.read().map(move |(shard, summary)| (place(shard), summary))
        });
        let mut sum = start;
        for (place, summary) in shards {
            sum = fold(sum, place, summary);
        }
        sum
    }

    /// Tickets that the queue may hold of this shard while the others hold what they were last seen to.
    pub(crate) fn room(&self, place: Place) -> u64 {
        let others = self.over_shards(0, |sum, other, shard| {
            sum + if other == place {
                0
            } else {
                shard.figures.queued_tickets
            }
        });
        self.backlog_max.load(Ordering::Relaxed).saturating_sub(others)
    }
}
