//! What every script says of its shard: figures, rules and marks, as `summary` in `lua/state.lua` lists them.

use redis::{FromRedisValue, Value};
use seckill_sale::{Epoch, EpochMs, Figures, Hold, NotReady, Shards, WaitsMax};

use crate::Error;
use crate::keys::Place;

/// A shard's set of buyers, as it was when this was its next ticket, and so many units had been accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    epoch: Epoch,
    next_nth: u64,
    accepted: u64,
}

/// Units that have left a shard and have not arrived at another yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Out {
    pub(crate) id: u64,
    /// The shard that they go to.
    pub(crate) taker: u64,
    pub(crate) units: u64,
}

/// A shard as the store knew it at one moment. Sequences in its figures are those of the sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Units left are those of the shard itself, without those that are on their way.
    pub(crate) figures: Figures,
    pub(crate) starts_at: EpochMs,
    pub(crate) hold: Option<Hold>,
    /// Whether it is running and not held.
    pub(crate) is_open: bool,
    /// Whether it is closed: for good.
    is_closed: bool,
    /// The shard's own count of tickets, the next one included.
    pub(crate) next_nth: u64,
    /// When the newest ticket of all was accepted.
    pub(crate) newest_accepted_at: Option<EpochMs>,
    /// When the oldest ticket that was never taken was accepted.
    fresh_since: Option<EpochMs>,
    /// When the first of those that came back can be taken.
    due_first: Option<EpochMs>,
    /// When the oldest entry that is with a worker was taken.
    leased_at: Option<EpochMs>,
    /// Counts every arrival and departure of units from and to other shards.
    pub(crate) transfers: u64,
    pub(crate) out: Option<Out>,
    /// Which build of the sale the shard belongs to.
    pub(crate) builder: String,
    /// When the sale was created that it is of, where the state says so.
    pub(crate) created_at: Option<EpochMs>,
}

impl Summary {
    fn read(fields: &[String], place: Place) -> Option<Self> {
        let number = |at: usize| fields.get(at)?.parse::<i64>().ok();
        let natural = |at: usize| u64::try_from(number(at)?).ok();
        let moment = |at: usize| number(at).filter(|&ms| ms != 0).map(EpochMs);
        let hold = number(8).map(|held_at| Hold {
            held_at: EpochMs(held_at),
            resumes_at: number(9).map(EpochMs),
        });
        let (next_nth, oldest) = (natural(6)?, natural(16)?);
        let unsettled = if oldest == 0 { next_nth } else { oldest };
        Some(Self {
            figures: Figures {
                epoch: Epoch::new(natural(0)?).ok()?,
                stock_left: natural(5)?,
                accepted: natural(10)?,
                queued: natural(11)?,
                dead: natural(12)?,
                queued_tickets: natural(13)?,
                leased_tickets: natural(15)?,
                settled_up_to: place.sequence(unsettled).saturating_sub(1),
                dead_tickets: natural(14)?,
                oldest_accepted_at: moment(17),
                applied_movement: natural(7)?,
                next_sequence: place.sequence(next_nth),
                revision: natural(22)?,
            },
            starts_at: EpochMs(number(2)?),
            is_open: fields.get(1)? == "running" && hold.is_none(),
            is_closed: fields.get(1)? == "closed",
            hold,
            next_nth,
            newest_accepted_at: moment(18),
            fresh_since: moment(19),
            due_first: number(20).map(EpochMs),
            leased_at: number(21).map(EpochMs),
            transfers: natural(23)?,
            out: read_out(fields.get(24)?),
            builder: fields.get(25)?.clone(),
            created_at: number(26).map(EpochMs),
        })
    }

    /// Units on their way to another shard.
    pub(crate) fn units_out(&self) -> u64 {
        self.out.map_or(0, |out| out.units)
    }

    /// Whether it is open and nothing is left, nor on its way to another shard.
    pub(crate) fn is_sold_out(&self) -> bool {
        self.is_open && self.figures.stock_left == 0 && self.out.is_none()
    }

    /// Whether it is paused: nobody gets a ticket before it is resumed.
    pub(crate) const fn is_held(&self) -> bool {
        !self.is_open && !self.is_closed
    }

    /// What names the set of its buyers: each new one is the shard's next ticket, or has an older one that was adopted.
    pub(crate) const fn buyers_mark(&self) -> Mark {
        Mark {
            epoch: self.figures.epoch,
            next_nth: self.next_nth,
            accepted: self.figures.accepted,
        }
    }

    /// When what came back, or is with a worker, can be taken first.
    pub(crate) fn next_due(&self, waits: WaitsMax) -> Option<EpochMs> {
        let lease_ends = self.leased_at.map(|at| at.plus(waits.lease_ms));
        self.due_first.into_iter().chain(lease_ends).min()
    }

    /// Since when something waits that can be taken at `now`.
    pub(crate) fn takable_since(&self, now: EpochMs, waits: WaitsMax) -> Option<EpochMs> {
        let due = self.next_due(waits).filter(|&at| at <= now);
        self.fresh_since.into_iter().chain(due).min()
    }
}

fn read_out(text: &str) -> Option<Out> {
    let mut fields = text.split(' ').map(|field| field.parse().ok());
    Some(Out {
        id: fields.next()??,
        taker: fields.next()??,
        units: fields.next()??,
    })
}

/// An answer of a script.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The moment of the decision.
    pub(crate) now: EpochMs,
    pub(crate) outcome: Outcome,
}

/// What a script found.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The state was there and whole.
    Done(Box<Summary>, Vec<String>),
    /// No state.
    None,
    /// The sale has another number of shards.
    Split(Shards),
    /// Being built for the first time, or where no ticket can have been lost.
    Preheating,
    /// Built but for the last step, which any node may do once the first shard is there.
    Filled,
    /// A part of it is lost, or is none of ours.
    Damaged,
    /// Perhaps older than what was promised: of another server, or of an earlier life of this one.
    Doubtful,
    /// In use, and for a moment only for those who had a ticket of the state before it.
    Grace,
    /// Of another sale that had the number.
    Another,
    /// A state that cannot be used.
    Unusable(NotReady),
}

impl Answer {
    /// Reads the answer of a script; none where it is not one of ours.
    pub(crate) fn read(value: Value, place: Place) -> Option<Self> {
        let parts = Vec::<Value>::from_redis_value(value).ok()?;
        let mut parts = parts.into_iter();
        let status = String::from_redis_value(parts.next()?).ok()?;
        let now = EpochMs(String::from_redis_value(parts.next()?).ok()?.parse().ok()?);
        let outcome = match status.as_str() {
            "ok" => {
                let summary = Vec::<String>::from_redis_value(parts.next()?).ok()?;
                let payload = Vec::<String>::from_redis_value(parts.next()?).ok()?;
                Outcome::Done(Box::new(Summary::read(&summary, place)?), payload)
            }
            "none" => Outcome::None,
            "preheating" => Outcome::Preheating,
            "filled" => Outcome::Filled,
            "damaged" => Outcome::Damaged,
            "doubtful" => Outcome::Doubtful,
            "grace" => Outcome::Grace,
            "another" => Outcome::Another,
            "building" | "behind" => Outcome::Unusable(NotReady::Recovering),
            other => match other.strip_prefix("split").and_then(|shards| shards.parse().ok()) {
                Some(shards) => Outcome::Split(shards),
                None => Outcome::Unusable(NotReady::StoreUnsafe),
            },
        };
        Some(Self { now, outcome })
    }

    /// Summary and payload of a shard that has a state.
    pub(crate) fn done(self) -> Result<(Summary, Vec<String>), Error> {
        match self.outcome {
            Outcome::Done(summary, payload) => Ok((*summary, payload)),
            Outcome::None => Err(Error::NotReady(NotReady::NotPreheated)),
            // The node has learned of it meanwhile.
            Outcome::Split(_) => Err(Error::Unavailable),
            Outcome::Unusable(reason) => Err(Error::NotReady(reason)),
            // It heals.
            _ => Err(Error::NotReady(NotReady::Recovering)),
        }
    }
}
