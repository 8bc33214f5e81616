//! How a state that may be old, and is not, goes on in place.
//!
//! Of several shards all are counted together: each is as it was when its server started, or took another's place, and units move between
//! them. What proves that they belong together:
//!
//! - all are of one build;
//! - no taker has a credit that its giver has no debit for: the giver would have those units twice, and name the next debit as that one;
//! - a noted debit counts as left only until its taker has it.
//!
//! Whether units, tickets and results are those that the ledger has is for whoever confirms. A shard that went back alone differs from it, or
//! has lost only what nobody else ever saw. A step of a transfer that began before names the epoch that it saw, and comes to nothing behind.

use seckill_sale::{ActivityId, Epoch, Figures, Shards};
use seckill_stock::{Confirmed, Counted};

use crate::Error;
use crate::healing::Part;
use crate::keys::Place;
use crate::sales::merged;
use crate::script::CONFIRM;
use crate::shared::Shared;
use crate::summary::{Answer, Outcome, Summary};

/// A shard that is whole.
pub(crate) struct Stand {
    pub(crate) is_doubtful: bool,
    summary: Summary,
    /// The last debit of each other shard that it has the units of.
    credited: Vec<u64>,
}

impl Stand {
    /// Reads what `look.lua` says of a condition.
    pub(crate) fn read(summary: &Summary, said: &[String]) -> Option<Self> {
        let credited = said.get(1)?.split_whitespace().map(|id| id.parse().ok());
        Some(Self {
            is_doubtful: said.first()? == "doubtful",
            summary: summary.clone(),
            credited: credited.collect::<Option<_>>()?,
        })
    }

    pub(crate) const fn epoch(&self) -> Epoch {
        self.summary.figures.epoch
    }

    /// The last debit of `giver` that it has the units of.
    fn credit_of(&self, giver: usize) -> u64 {
        self.credited.get(giver).copied().unwrap_or(0)
    }
}

/// The figures of a sale whose shards are whole and belong together; none where they don't.
pub(crate) fn counted(shards: Shards, parts: &[Part]) -> Option<Figures> {
    let stands: Vec<_> = parts.iter().map(Part::stand).collect::<Option<_>>()?;
    let mut figures = merged(shards, stands.iter().map(|stand| &stand.summary))?;
    for (place, giver) in stands.iter().enumerate() {
        if giver.summary.builder != stands[0].summary.builder {
            return None;
        }
        if stands
            .iter()
            .any(|taker| giver.summary.transfers < taker.credit_of(place))
        {
            return None;
        }
        if let Some(out) = giver.summary.out {
            let taker = stands.get(usize::try_from(out.taker).ok()?)?;
            let has_it = out.id <= taker.credit_of(place);
            figures.stock_left -= if has_it { out.units } else { 0 };
        }
    }
    Some(figures)
}

const fn of(figures: &Figures) -> Counted {
    Counted {
        revision: figures.revision,
        left: figures.stock_left,
        applied_movement: figures.applied_movement,
    }
}

impl Shared {
    pub(crate) async fn confirm(&self, confirmed: Confirmed) -> Result<bool, Error> {
        let shards = self.shards(confirmed.activity).await?;
        let places = Place::all(confirmed.activity, shards);
        let each = match confirmed.counted {
            Some(counted) if shards.is_split() => self.as_counted(confirmed.activity, shards, counted).await?,
            counted => places.map(|place| (place, counted)).collect(),
        };
        let is_known = !each.is_empty();
        for (place, counted) in each {
            if !self.confirm_at(place, &Confirmed { counted, ..confirmed }).await? {
                return Ok(false);
            }
        }
        Ok(is_known)
    }

    /// What each of several shards has, as it stays: sound ones first, for they could change. Nothing where they are no more as they were
    /// counted together, or have other units than they should: which of them has too many, nobody knows.
    async fn as_counted(
        &self,
        activity: ActivityId,
        shards: Shards,
        wanted: Counted,
    ) -> Result<Vec<(Place, Option<Counted>)>, Error> {
        let parts = self.all_parts(activity, shards).await?;
        if counted(shards, &parts).as_ref().map(of) != Some(wanted) {
            return Ok(Vec::new());
        }
        let stands = Place::all(activity, shards).zip(parts.iter().filter_map(Part::stand));
        let mut stands: Vec<_> = stands.collect();
        stands.sort_by_key(|(_, stand)| stand.is_doubtful);
        let own = |(place, stand): (Place, &Stand)| (place, Some(of(&stand.summary.figures)));
        Ok(stands.into_iter().map(own).collect())
    }

    async fn confirm_at(&self, place: Place, confirmed: &Confirmed) -> Result<bool, Error> {
        let next_nth = place.shards.first_nth(place.shard, confirmed.next_sequence);
        let mut arguments = vec![confirmed.epoch.get().to_string(), next_nth.to_string()];
        match confirmed.counted {
            Some(counted) => {
                let numbers = [
                    counted.revision,
                    counted.left,
                    counted.applied_movement,
                    confirmed.grace_ms,
                ];
                arguments.extend(numbers.map(|number| number.to_string()));
            }
            None => arguments.push(String::new()),
        }
        let arguments = arguments.into_iter().map(String::into_bytes).collect();
        let value = self.run(&CONFIRM, &place.keys(), (0, place), arguments).await?;
        let answer = Answer::read(value, place).ok_or(Error::OutcomeUnknown)?;
        let is_confirmed = match &answer.outcome {
            Outcome::Done(_, said) => said.first().is_some_and(|said| said == "confirmed"),
            _ => return answer.done().map(|_| false),
        };
        if is_confirmed {
            self.remember(place, &answer);
        }
        Ok(is_confirmed)
    }
}
