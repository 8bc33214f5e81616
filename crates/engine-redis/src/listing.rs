//! Which sales the store has: a list beside them, by which a node that has just started finds them and the numbers of their shards.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use futures_util::future::join_all;
use redis::{Cmd, FromRedisValue};
use seckill_sale::{ActivityId, NotReady, Shards};

use crate::Error;
use crate::keys::{self, Place};
use crate::link::Spot;
use crate::shared::Shared;

/// How long a list that is none of ours is kept aside, in seconds: 7 days.
const ASIDE_KEPT_S: u32 = 7 * 24 * 3600;

impl Shared {
    /// Reads all sales again; those that have a state, whole or not. Where the list can't be read, those are read that are known without it:
    /// the server that has it keeps the sales of no other waiting.
    pub(crate) async fn refresh(&self) -> Result<Vec<ActivityId>, Error> {
        let (all, mut broken) = match self.listed().await {
            Ok(listed) => (listed.0, None),
            Err(error) => (self.known_unlisted(), Some(error)),
        };
        let mut servers: HashMap<Option<Spot>, Vec<ActivityId>> = HashMap::new();
        for (activity, shards) in all {
            if self.shards_known(activity).is_none() && shards.is_split() {
                self.in_sale(activity, shards, |_| ());
            }
            let server = self.link.spot(&Place::of(activity, shards, 0).buyers());
            servers.entry(server).or_default().push(activity);
        }
        let mut sales = Vec::new();
        for read in join_all(servers.into_values().map(|of_server| self.read_in_turn(of_server))).await {
            let (of_server, error) = read;
            sales.extend(of_server);
            broken = broken.or(error);
        }
        sales.sort_unstable();
        broken.map_or(Ok(sales), Err)
    }

    /// Sales that were read before, and those that the ledger has, with the numbers of their shards where these are known: whoever looks at
    /// one is told its number.
    fn known_unlisted(&self) -> Vec<(ActivityId, Shards)> {
        let mut known = self.over_shards(BTreeMap::new(), |mut known, place, _| {
            known.insert(place.activity, place.shards);
            known
        });
        for &activity in self.created.read().keys() {
            known.entry(activity).or_insert(Shards::ONE);
        }
        known.into_iter().collect()
    }

    /// Reads sales one after another, so that a server is never asked for all of them at once; those that have a state, and the last error.
    /// A server that is slow or gone keeps the sales of no other from being read.
    async fn read_in_turn(&self, listed: Vec<ActivityId>) -> (Vec<ActivityId>, Option<Error>) {
        let (mut sales, mut broken) = (Vec::new(), None);
        for activity in listed {
            match self.look(activity).await {
                Ok(None) => {}
                Ok(Some(reading)) => {
                    self.compare(activity, reading);
                    sales.push(activity);
                }
                Err(Error::NotReady(_)) => sales.push(activity),
                Err(error) => broken = Some(error),
            }
        }
        (sales, broken)
    }

    /// Lists a sale, where it is not: nodes that start find it there.
    pub(crate) async fn list(&self, activity: ActivityId, shards: Shards) -> Result<(), Error> {
        let mut list = redis::cmd("SADD");
        list.arg(keys::SALES).arg(keys::listed(activity, shards));
        let _added: u64 = self.of_list(&list).await?;
        Ok(())
    }

    /// Asks something of the list. What lies in its place and is none is put aside: a sale is listed again when it is looked at next.
    async fn of_list<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Error> {
        let asked = self.link.command(command).await;
        if !matches!(asked, Err(Error::NotReady(NotReady::StoreUnsafe))) {
            return asked;
        }
        let kind: String = self.link.command(redis::cmd("TYPE").arg(keys::SALES)).await?;
        if kind == "set" || kind == "none" {
            return asked;
        }
        let aside = format!("{}:foreign", keys::SALES);
        tracing::error!(
            key = keys::SALES,
            kind,
            aside,
            "the list of sales is none of ours; it is put aside and made anew"
        );
        let _renamed: String = self
            .link
            .command(redis::cmd("RENAME").arg(keys::SALES).arg(&aside))
            .await?;
        // Kept for whoever put it there, and not for ever.
        let mut expire = redis::cmd("EXPIRE");
        expire.arg(&aside).arg(ASIDE_KEPT_S);
        if let Err(error) = self.link.command::<u64>(&expire).await {
            tracing::warn!(key = aside, %error, "what was put aside stays until it is deleted by hand");
        }
        self.link.command(command).await
    }

    /// Sales that are listed, in their order.
    pub(crate) async fn listed(&self) -> Result<Listed, Error> {
        let members: Vec<String> = self.of_list(redis::cmd("SMEMBERS").arg(keys::SALES)).await?;
        let mut listed: Vec<_> = members.iter().filter_map(|member| keys::read_listed(member)).collect();
        // Where somebody has listed a sale with another number by mistake, its shards tell; a lost first one could not.
        listed.sort_unstable_by_key(|&(activity, shards)| (activity, Reverse(shards)));
        listed.dedup_by_key(|&mut (activity, _)| activity);
        Ok(Listed(listed))
    }
}

/// Sales and the numbers of their shards.
pub(crate) struct Listed(Vec<(ActivityId, Shards)>);

impl Listed {
    pub(crate) fn shards(&self, activity: ActivityId) -> Shards {
        let of = |&&(listed, _): &&(ActivityId, Shards)| listed == activity;
        self.0.iter().find(of).map_or(Shards::ONE, |&(_, shards)| shards)
    }
}
