//! What the parts of a handle share: the link, the clock, and what is remembered of each sale.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::{Mutex, RwLock};
use seckill_queue::Turns;
use seckill_sale::{ActivityId, EpochMs, Figures, NotReady, Shards, UserId};
use seckill_stock::Glance;
use tokio::sync::{Mutex as Turn, Notify};

use crate::keys::Place;
use crate::link::Link;
use crate::options::Options;
use crate::pages::Walks;
use crate::remembered::Remembered;
use crate::room::Backlog;
use crate::sales::{Known, Shut};
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
    pub(crate) backlog: Backlog,
    /// The newest settled batch that is still to be noted where everything is kept that belongs to no sale; 0: none is.
    pub(crate) to_note: AtomicU64,
    /// Whose tickets are taken next.
    pub(crate) turns: Mutex<Turns>,
    /// Held while a claim call of this node is with a shard: what comes meanwhile gathers.
    lanes: Mutex<HashMap<Place, Arc<Turn<()>>>>,
    /// Wakes workers of this node when tickets can perhaps be taken.
    pub(crate) wake: Notify,
    /// Where walks over buyers go on.
    pub(crate) walks: Mutex<Walks>,
    /// Wakes the task that loads the buyers of sales that nobody can buy of.
    pub(crate) shut: Notify,
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
    /// When each sale of the ledger was created.
    pub(crate) created: RwLock<BTreeMap<ActivityId, EpochMs>>,
    pub(crate) troubles: Troubles,
    pub(crate) left_to_newer: LeftToNewer,
}

impl Shared {
    pub(crate) fn new(link: Arc<Link>, options: Options, time: Time) -> Self {
        Self {
            link,
            time,
            backlog: Backlog::new(options.backlog_max),
            to_note: AtomicU64::new(0),
            turns: Mutex::default(),
            lanes: Mutex::default(),
            wake: Notify::new(),
            walks: Mutex::default(),
            shut: Notify::new(),
            winners: AllWinners::default(),
            remembered: Remembered::default(),
            watched: RwLock::default(),
            looking: Mutex::default(),
            new_shard: Notify::new(),
            seen: Mutex::default(),
            created: RwLock::default(),
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
                self.remembered.settled(place, &summary.figures);
                let newer = self.in_sale(activity, place.shards, |sale| {
                    let is_new = sale.shard(place.index()).is_none();
                    sale.take_up(place.index(), Summary::clone(summary))
                        .then(|| (is_new, sale.seems_shut()))
                });
                let Some((is_new, seems_shut)) = newer else { return };
                if is_new {
                    self.new_shard.notify_waiters();
                }
                if seems_shut {
                    self.shut.notify_one();
                }
                if summary.takable_since(self.time.now(), self.options.waits).is_some() {
                    self.wake.notify_waiters();
                }
            }
            // Of several shards one may be lost: who looks at all tells.
            Outcome::None if place.shards.is_split() => self.lose(place, NotReady::StoreUnsafe),
            Outcome::None => self.forget(activity),
            Outcome::Preheating | Outcome::Filled => self.lose(place, NotReady::Recovering),
            Outcome::Grace => {}
            Outcome::Split(shards) => self.in_sale(activity, *shards, |_| ()),
            Outcome::Damaged => self.cannot_use(place, "damaged", NotReady::StoreUnsafe),
            Outcome::Doubtful => self.cannot_use(place, "doubtful", NotReady::Recovering),
            Outcome::Another => {
                self.cannot_use(place, "of another sale", NotReady::Recovering);
                self.forget_another(activity);
            }
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

    /// What memory alone knows of a user while nobody can get a ticket: that he has none, since nothing is left, or the sale is held.
    pub(crate) fn recall(&self, activity: ActivityId, user: &UserId) -> Glance {
        self.with_sale(activity, |sale| {
            let Some((sale, shut)) = sale.and_then(|sale| Some((sale, sale.known_shut()?))) else {
                return Glance::Ask;
            };
            let place = Place::of_user(activity, sale.shards(), user);
            let mark = sale.shard(place.index()).map(Summary::buyers_mark);
            let is_stranger = self.hears_nothing_of(activity, sale.shards())
                && mark.is_some_and(|mark| self.winners.knows_stranger(place, mark, user));
            match shut {
                _ if !is_stranger => Glance::Ask,
                Shut::SoldOut => Glance::SoldOut,
                Shut::Held => Glance::Stranger,
            }
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
}
