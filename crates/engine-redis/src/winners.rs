//! Who bought of a sale that nobody can buy of now, sold out or paused, as fingerprints: what lets a node answer strangers from memory and
//! still send every buyer to the store.
//!
//! ```text
//! nothing left, set not loaded ──▶ ask the store      nothing left, set loaded: not in it ──▶ sold out, in it ──▶ ask the store
//! ```
//! There is one set a shard: a buyer is in the one that he belongs to. A set is of use while the shard's last reading names the same
//! buyers, still says that nothing is left or that it is paused, and is fresh. Readings come by every answer of this node's own calls, when a stream grows (so
//! that another node's admission is known at once), and regularly. A fingerprint that two users share only costs a question.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use parking_lot::RwLock;
use seckill_sale::UserId;

use crate::Error;
use crate::keys::Place;
use crate::script::LOOK;
use crate::shared::Shared;
use crate::summary::{Mark, Outcome, Summary};
use crate::walk::Walk;

/// Buyers that one step of a load is meant to read.
const STEP_SIZE: usize = 2_000;

struct Winners {
    mark: Mark,
    fingerprints: HashSet<u64>,
}

/// The sets of all such sales that this node has loaded.
#[derive(Default)]
pub(crate) struct AllWinners {
    hasher: RandomState,
    sets: RwLock<HashMap<Place, Winners>>,
}

impl AllWinners {
    /// Whether the set that `mark` names is loaded and has no such user.
    pub(crate) fn knows_stranger(&self, place: Place, mark: Mark, user: &UserId) -> bool {
        let sets = self.sets.read();
        let loaded = sets.get(&place).filter(|winners| winners.mark == mark);
        loaded.is_some_and(|winners| !winners.fingerprints.contains(&self.fingerprint(user.as_str())))
    }

    fn has(&self, place: Place, mark: Mark) -> bool {
        self.sets.read().get(&place).is_some_and(|winners| winners.mark == mark)
    }

    fn fingerprint(&self, user: &str) -> u64 {
        self.hasher.hash_one(user)
    }
}

impl Shared {
    /// Loads the sets of shards that nobody can buy of and that are not loaded, and drops those of shards that sell again or are gone. One whose server
    /// does not answer keeps the others from nothing.
    pub(crate) async fn load_winners(&self) -> Result<(), Error> {
        let shut = self.over_shards(HashMap::new(), |mut marks, place, shard| {
            if is_shut(shard) {
                marks.insert(place, shard.buyers_mark());
            }
            marks
        });
        self.winners.sets.write().retain(|place, _| shut.contains_key(place));
        let mut failed = None;
        for (place, mark) in shut {
            let seems_shut = self.with_sale(place.activity, |sale| sale.is_some_and(|sale| sale.seems_shut()));
            if seems_shut && !self.winners.has(place, mark) {
                failed = failed.or(self.load(place, mark).await.err());
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// A set counts where no buyer came while it was read: a walk tells everybody who was there from its first step to its last.
    async fn load(&self, place: Place, mark: Mark) -> Result<(), Error> {
        let (mut fingerprints, mut walk) = (HashSet::new(), Walk::over(place.buyers()));
        loop {
            let step = self.walk_on(&mut walk, STEP_SIZE).await?;
            let users = step.pairs.iter().map(|(user, _)| String::from_utf8_lossy(user));
            fingerprints.extend(users.map(|user| self.winners.fingerprint(&user)));
            if step.is_last {
                break;
            }
        }
        let now = self.call(&LOOK, place, vec![b"summary".to_vec()]).await?.outcome;
        if matches!(now, Outcome::Done(summary, _) if is_shut(&summary) && summary.buyers_mark() == mark) {
            let winners = Winners { mark, fingerprints };
            self.winners.sets.write().insert(place, winners);
        }
        Ok(())
    }
}

/// Whether nobody gets a ticket of it.
fn is_shut(shard: &Summary) -> bool {
    shard.is_sold_out() || shard.is_held()
}
