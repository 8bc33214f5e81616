//! Moves unsold units from shard to shard: each transfer is journaled at its giver until its taker has it, and any node finishes it.
//!
//! ```text
//! debit at the giver, which notes "id taker units" ──▶ credit at the taker, once by id ──▶ clear the note
//! ```
//! A crash behind any step leaves the note, or nothing; whoever reads it does the other steps, as often as he likes. Until then its units
//! count as left.

use futures_util::future::join_all;
use seckill_sale::{ActivityId, NotReady};

use crate::Error;
use crate::keys::Place;
use crate::reading::Reading;
use crate::script::TRANSFER;
use crate::shared::Shared;
use crate::summary::{Out, Summary};

/// Debits that are tried at one giver: each finds it busy with one of somebody else and finishes that.
const DEBITS_MAX: usize = 4;
/// A giver that has more than this gives half of it, whatever is asked: who is empty will ask again.
const GENEROUS_FROM: u64 = 128;

/// Which sales units may be moved in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    /// Those that admit, so that a fenced sale stands still.
    Open,
    /// All.
    Any,
}

impl Within {
    const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Any => "",
        }
    }
}

/// What is wanted of a giver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Debit {
    pub(crate) giver: Place,
    pub(crate) taker: Place,
    /// At the most.
    pub(crate) units: u64,
    /// What stays at the least.
    pub(crate) keep: u64,
    pub(crate) within: Within,
}

impl Shared {
    /// Moves units; gives how many.
    pub(crate) async fn transfer(&self, debit: Debit) -> Result<u64, Error> {
        let Debit { giver, taker, .. } = debit;
        let arguments = [
            "debit".to_owned(),
            taker.shard.to_string(),
            debit.units.to_string(),
            debit.keep.to_string(),
            debit.within.word().to_owned(),
        ];
        for _ in 0..DEBITS_MAX {
            let (summary, said) = self.step(giver, &arguments).await?;
            let Some(out) = summary.out else { return Ok(0) };
            self.finish(giver, &summary, out).await?;
            if said == "debited" {
                return Ok(out.units);
            }
        }
        Ok(0)
    }

    /// Does what is left to do of a transfer that a giver's summary shows.
    pub(crate) async fn finish(&self, giver: Place, summary: &Summary, out: Out) -> Result<(), Error> {
        let credit = [
            "credit".to_owned(),
            out.id.to_string(),
            giver.shard.to_string(),
            out.units.to_string(),
            summary.builder.clone(),
            summary.figures.epoch.to_string(),
        ];
        let (_, said) = self.step(giver.sibling(out.taker), &credit).await?;
        match said.as_str() {
            "credited" => {}
            // Whoever reads the giver again sees what it knows of it now.
            "older" => return Err(Error::Unavailable),
            _ => {
                tracing::error!(%giver, ?out, "units on their way belong to another build of the sale than the shard that they go to");
                return Err(Error::NotReady(NotReady::StoreUnsafe));
            }
        }
        let [_, id, _, _, builder, epoch] = credit;
        self.step(giver, &["clear".to_owned(), id, builder, epoch]).await?;
        Ok(())
    }

    /// Finishes every transfer that a reading shows.
    pub(crate) async fn finish_all(&self, activity: ActivityId, reading: &Reading) -> Result<(), Error> {
        for (giver, summary) in reading.places(activity) {
            if let Some(out) = summary.out {
                self.finish(giver, summary, out).await?;
            }
        }
        Ok(())
    }

    /// Moves units to a shard until it has `wanted`, or none of the others has any that this reading shows; first from the richest, from
    /// several at once.
    pub(crate) async fn gather(
        &self,
        taker: Place,
        reading: &Reading,
        wanted: u64,
        within: Within,
    ) -> Result<(), Error> {
        self.finish_all(taker.activity, reading).await?;
        let mut need = wanted.saturating_sub(reading.shards[taker.index()].figures.stock_left);
        let debit = |(giver, units)| Debit {
            giver,
            taker,
            units,
            keep: 0,
            within,
        };
        let planned = plan(taker, reading, need);
        let first = planned.iter().map(|&giver| self.transfer(debit(giver)));
        for moved in join_all(first).await {
            need = need.saturating_sub(moved?);
        }
        // Somebody else was quicker somewhere: whoever was left out is asked, too.
        let planned: Vec<_> = planned.into_iter().map(|(giver, _)| giver).collect();
        for (giver, summary) in reading.places(taker.activity) {
            let has_units = 0 < summary.figures.stock_left + summary.units_out();
            if need == 0 {
                break;
            }
            if giver != taker && has_units && !planned.contains(&giver) {
                need = need.saturating_sub(self.transfer(debit((giver, need))).await?);
            }
        }
        Ok(())
    }

    async fn step(&self, place: Place, arguments: &[String]) -> Result<(Summary, String), Error> {
        let own = arguments.iter().map(|text| text.clone().into_bytes()).collect();
        let (summary, payload) = self.call(&TRANSFER, place, own).await?.done()?;
        Ok((summary, payload.into_iter().next().unwrap_or_default()))
    }
}

/// Who gives how much, so that `need` is met: the richest first. Among equals each taker begins behind itself, so that several that are
/// empty at once do not all ask the same one.
fn plan(taker: Place, reading: &Reading, mut need: u64) -> Vec<(Place, u64)> {
    let shards = taker.shards.get();
    let mut givers: Vec<_> = reading
        .places(taker.activity)
        .filter(|(giver, _)| *giver != taker)
        .map(|(giver, summary)| (giver, summary.figures.stock_left))
        .filter(|&(_, left)| left != 0)
        .collect();
    givers.sort_by_key(|&(giver, left)| (u64::MAX - left, (giver.shard + shards - taker.shard) % shards));
    let mut planned = Vec::new();
    for (giver, left) in givers {
        if need == 0 {
            break;
        }
        let generous = if left < GENEROUS_FROM { 0 } else { left / 2 };
        planned.push((giver, need.max(generous).min(left)));
        need = need.saturating_sub(left);
    }
    planned
}
