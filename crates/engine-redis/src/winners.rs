//! Who bought of a sold-out sale, as fingerprints: what lets a node refuse strangers from memory and still send every buyer to the store.
//!
//! ```text
//! nothing left, set not loaded ──▶ ask the store      nothing left, set loaded: not in it ──▶ sold out, in it ──▶ ask the store
//! ```
//! A set is of use while the sale's last reading names the same buyers, still says that nothing is left, and is fresh. Readings come by
//! every answer of this node's own calls, when a stream grows (so that another node's admission is known at once), and regularly. A
//! fingerprint that two users share only costs a question.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use parking_lot::RwLock;
use redis::cmd;
use seckill_sale::{ActivityId, UserId};

use crate::shared::Shared;
use crate::summary::{Mark, Outcome};
use crate::{Error, keys};

/// Buyers that one step of a load is meant to read.
const STEP_SIZE: usize = 2_000;

struct Winners {
    mark: Mark,
    fingerprints: HashSet<u64>,
}

/// The sets of all sold-out sales that this node has loaded.
#[derive(Default)]
pub(crate) struct AllWinners {
    hasher: RandomState,
    sets: RwLock<HashMap<ActivityId, Winners>>,
}

impl AllWinners {
    /// Whether the set that `mark` names is loaded and has no such user.
    pub(crate) fn knows_stranger(&self, activity: ActivityId, mark: Mark, user: &UserId) -> bool {
        let sets = self.sets.read();
        let loaded = sets.get(&activity).filter(|winners| winners.mark == mark);
        loaded.is_some_and(|winners| !winners.fingerprints.contains(&self.fingerprint(user.as_str())))
    }

    fn has(&self, activity: ActivityId, mark: Mark) -> bool {
        self.sets
            .read()
            .get(&activity)
            .is_some_and(|winners| winners.mark == mark)
    }

    fn fingerprint(&self, user: &str) -> u64 {
        self.hasher.hash_one(user)
    }
}

impl Shared {
    /// Loads the sets of sold-out sales that are not loaded, and drops those of sales that sell again or are gone.
    pub(crate) async fn load_winners(&self) -> Result<(), Error> {
        let sold_out = self.over_sales(HashMap::new(), |mut marks, activity, sale| {
            if sale.is_sold_out() {
                marks.insert(activity, sale.buyers_mark());
            }
            marks
        });
        self.winners
            .sets
            .write()
            .retain(|activity, _| sold_out.contains_key(activity));
        for (activity, mark) in sold_out {
            if !self.winners.has(activity, mark) {
                self.load(activity, mark).await?;
            }
        }
        Ok(())
    }

    /// A set counts where no buyer came while it was read: HSCAN tells everybody who was there from its first step to its last.
    async fn load(&self, activity: ActivityId, mark: Mark) -> Result<(), Error> {
        let (mut fingerprints, mut cursor) = (HashSet::new(), 0_u64);
        loop {
            let mut command = cmd("HSCAN");
            command
                .arg(keys::buyers(activity))
                .arg(cursor)
                .arg("COUNT")
                .arg(STEP_SIZE);
            let (next, pairs): (u64, Vec<(String, String)>) = self.link.command(&command).await?;
            fingerprints.extend(pairs.iter().map(|(user, _)| self.winners.fingerprint(user)));
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
        let now = self.look(activity).await?.outcome;
        if matches!(now, Outcome::Done(summary, _) if summary.is_sold_out() && summary.buyers_mark() == mark) {
            let winners = Winners { mark, fingerprints };
            self.winners.sets.write().insert(activity, winners);
        }
        Ok(())
    }
}
