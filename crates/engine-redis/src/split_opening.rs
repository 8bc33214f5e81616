//! Builds a sale of several shards. The first shard is the arbiter: who has begun it last builds the sale, and it is built from the step
//! on that opens it; the others are filled before.
//!
//! ```text
//! look at all ──▶ begin the first ──▶ each: begin, add, filled ──▶ the first: built ──▶ the others: built
//!      └──a whole sale stands, or one that only waits for its last steps: they are done──▶ exists
//! ```

use seckill_sale::{ActivityId, Epoch, NotReady, Restored, Shards};
use seckill_stock::{OpenOutcome, Opening};

use crate::Error;
use crate::keys::Place;
use crate::opening::{STEP_SIZE_MAX, begin_arguments, buyer_arguments};
use crate::script::LOOK;
use crate::shared::Shared;
use crate::standing::Standing;
use crate::summary::{Outcome, Summary};

/// How often a shard is begun anew where another builder, who had to give way, has been at it.
const BEGINNINGS_MAX: usize = 4;

/// One build.
struct Build<'a> {
    opening: &'a Opening,
    builder: Vec<u8>,
    /// Epoch of what stands in each shard and gives way.
    replaced: Vec<Option<Epoch>>,
}

impl Shared {
    /// As [`Shared::open`], where the sale has several shards.
    pub(crate) async fn open_split(&self, opening: &Opening) -> Result<OpenOutcome, Error> {
        let (activity, shards) = (opening.opened.terms.activity, opening.shards);
        let replaced = match self.standing(opening).await? {
            Standing::Exists(epoch) => return Ok(OpenOutcome::Exists { epoch }),
            Standing::Gives(replaced) => replaced,
        };
        check_tickets(opening)?;
        self.list(activity, shards).await?;
        tracing::debug!(%activity, %shards, "a sale is opened");
        let build = Build {
            opening,
            builder: self.builder(),
            replaced,
        };
        let first = Place::of(activity, shards, 0);
        if let Some(epoch) = self.begin(&build, first).await? {
            return Ok(OpenOutcome::Exists { epoch });
        }
        for place in Place::all(activity, shards) {
            self.fill(&build, place).await?;
        }
        for place in Place::all(activity, shards) {
            self.complete(&build, place).await?;
        }
        Ok(OpenOutcome::Created)
    }

    /// Does the last step for shards that are filled while the first stands; gives the epoch, or none where the first does not.
    pub(crate) async fn finish_building(&self, activity: ActivityId, shards: Shards) -> Result<Option<Epoch>, Error> {
        let first = Place::of(activity, shards, 0);
        let Outcome::Done(summary, _) = self.call(&LOOK, first, vec![b"summary".to_vec()]).await?.outcome else {
            return Ok(None);
        };
        let Summary { builder, figures, .. } = *summary;
        for place in Place::all(activity, shards) {
            let own = vec![b"finish".to_vec(), builder.clone().into_bytes()];
            let (_, said) = self.call_open(place, own).await?.done()?;
            if said.first().is_none_or(|said| said != "created") {
                return Err(Error::NotReady(NotReady::StoreUnsafe));
            }
        }
        Ok(Some(figures.epoch))
    }

    /// Begins a shard; gives the epoch of a state that stands there and does not give way.
    async fn begin(&self, build: &Build<'_>, place: Place) -> Result<Option<Epoch>, Error> {
        let opened = &build.opening.opened;
        let left = place.shards.share(place.shard, opened.left);
        let next_nth = place.shards.first_nth(place.shard, opened.next_sequence);
        let own = begin_arguments(build.opening, left, next_nth, build.replaced[place.index()]);
        let mut arguments = vec![b"begin".to_vec(), build.builder.clone()];
        arguments.extend(own);
        let (summary, said) = self.call_open(place, arguments).await?.done()?;
        let exists = said.first().is_some_and(|said| said == "exists");
        Ok(exists.then_some(summary.figures.epoch))
    }

    /// Fills a shard with its buyers. Whoever has lost the first shard to another builder stops.
    async fn fill(&self, build: &Build<'_>, place: Place) -> Result<(), Error> {
        let shards = place.shards;
        let mine: Vec<&Restored> = build
            .opening
            .buyers
            .iter()
            .filter(|buyer| shards.of(&buyer.user) == place.shard)
            .collect();
        for _ in 0..BEGINNINGS_MAX {
            // The first is begun already. Adding nobody to it tells whose it is.
            if self.build_step(build, place.sibling(0), "add", Vec::new()).await? == "lost" {
                break;
            }
            if place.shard != 0 && self.begin(build, place).await?.is_some() {
                return Err(Error::NotReady(NotReady::StoreUnsafe));
            }
            let mut is_mine = true;
            for part in mine.chunks(STEP_SIZE_MAX) {
                let nth = |buyer: &Restored| shards.place(buyer.sequence).1;
                let more = part
                    .iter()
                    .flat_map(|buyer| buyer_arguments(buyer, nth(buyer)))
                    .collect();
                is_mine &= self.build_step(build, place, "add", more).await? != "lost";
            }
            if is_mine && self.build_step(build, place, "filled", Vec::new()).await? == "filled" {
                return Ok(());
            }
        }
        Err(Error::NotReady(NotReady::Recovering))
    }

    /// The last step of a shard. One that was begun by a builder who did not know yet that he had lost the first is filled once more.
    async fn complete(&self, build: &Build<'_>, place: Place) -> Result<(), Error> {
        for _ in 0..BEGINNINGS_MAX {
            if self.build_step(build, place, "built", Vec::new()).await? == "created" {
                return Ok(());
            }
            if place.shard == 0 {
                break;
            }
            self.fill(build, place).await?;
        }
        Err(Error::NotReady(NotReady::Recovering))
    }

    async fn build_step(
        &self,
        build: &Build<'_>,
        place: Place,
        name: &str,
        more: Vec<Vec<u8>>,
    ) -> Result<String, Error> {
        let own = [vec![name.as_bytes().to_vec(), build.builder.clone()], more].concat();
        let (_, said) = self.call_open(place, own).await?.done()?;
        Ok(said.into_iter().next().unwrap_or_default())
    }
}

/// A ticket is found by its sequence, and its buyer by his name: both must name the same shard.
fn check_tickets(opening: &Opening) -> Result<(), Error> {
    let astray = |buyer: &&Restored| opening.shards.place(buyer.sequence).0 != opening.shards.of(&buyer.user);
    match opening.buyers.iter().find(astray) {
        None => Ok(()),
        Some(Restored { user, sequence, .. }) => {
            tracing::error!(%user, sequence, "a ticket belongs to another shard than its buyer: the sale had another number of shards");
            Err(Error::NotReady(NotReady::StoreUnsafe))
        }
    }
}
