//! What every script says of its sale: figures, rules and marks, as `summary` in `lua/state.lua` lists them.

use redis::{FromRedisValue, Value};
use seckill_sale::{Epoch, EpochMs, Figures, Hold, NotReady, WaitsMax};

use crate::Error;

/// A sale's set of buyers, as it was when this was the next sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    epoch: Epoch,
    next_sequence: u64,
}

/// A sale as the store knew it at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) figures: Figures,
    pub(crate) starts_at: EpochMs,
    pub(crate) hold: Option<Hold>,
    /// Whether it is running and not held.
    is_open: bool,
    /// When the newest ticket of all was accepted.
    pub(crate) newest_accepted_at: Option<EpochMs>,
    /// When the oldest ticket that was never taken was accepted.
    fresh_since: Option<EpochMs>,
    /// When the first of those that came back can be taken.
    due_first: Option<EpochMs>,
    /// When the oldest entry that is with a worker was taken.
    leased_at: Option<EpochMs>,
}

impl Summary {
    fn read(fields: &[String]) -> Option<Self> {
        let number = |at: usize| fields.get(at)?.parse::<i64>().ok();
        let natural = |at: usize| u64::try_from(number(at)?).ok();
        let moment = |at: usize| number(at).filter(|&ms| ms != 0).map(EpochMs);
        let hold = number(8).map(|held_at| Hold {
            held_at: EpochMs(held_at),
            resumes_at: number(9).map(EpochMs),
        });
        let (next_sequence, oldest) = (natural(6)?, natural(16)?);
        Some(Self {
            figures: Figures {
                epoch: Epoch::new(natural(0)?).ok()?,
                stock_left: natural(5)?,
                accepted: natural(10)?,
                queued: natural(11)?,
                dead: natural(12)?,
                queued_tickets: natural(13)?,
                leased_tickets: natural(15)?,
                settled_up_to: if oldest == 0 { next_sequence } else { oldest }.saturating_sub(1),
                dead_tickets: natural(14)?,
                oldest_accepted_at: moment(17),
                applied_movement: natural(7)?,
                next_sequence,
                revision: natural(22)?,
            },
            starts_at: EpochMs(number(2)?),
            is_open: fields.get(1)? == "running" && hold.is_none(),
            hold,
            newest_accepted_at: moment(18),
            fresh_since: moment(19),
            due_first: number(20).map(EpochMs),
            leased_at: number(21).map(EpochMs),
        })
    }

    /// Whether it is open and nothing is left.
    pub(crate) const fn is_sold_out(&self) -> bool {
        self.is_open && self.figures.stock_left == 0
    }

    /// What names the set of its buyers: each new one takes the next sequence.
    pub(crate) const fn buyers_mark(&self) -> Mark {
        Mark {
            epoch: self.figures.epoch,
            next_sequence: self.figures.next_sequence,
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
    /// A state that cannot be used.
    Unusable(NotReady),
}

impl Answer {
    /// Reads the answer of a script; none where it is not one of ours.
    pub(crate) fn read(value: Value) -> Option<Self> {
        let parts = Vec::<Value>::from_redis_value(value).ok()?;
        let mut parts = parts.into_iter();
        let status = String::from_redis_value(parts.next()?).ok()?;
        let now = EpochMs(String::from_redis_value(parts.next()?).ok()?.parse().ok()?);
        let outcome = match status.as_str() {
            "ok" => {
                let summary = Vec::<String>::from_redis_value(parts.next()?).ok()?;
                let payload = Vec::<String>::from_redis_value(parts.next()?).ok()?;
                Outcome::Done(Box::new(Summary::read(&summary)?), payload)
            }
            "none" => Outcome::None,
            "building" | "damaged" | "doubtful" | "behind" => Outcome::Unusable(NotReady::Recovering),
            _ => Outcome::Unusable(NotReady::StoreUnsafe),
        };
        Some(Self { now, outcome })
    }

    /// Summary and payload of a sale that has a state.
    pub(crate) fn done(self) -> Result<(Summary, Vec<String>), Error> {
        match self.outcome {
            Outcome::Done(summary, payload) => Ok((*summary, payload)),
            Outcome::None => Err(Error::NotReady(NotReady::NotPreheated)),
            Outcome::Unusable(reason) => Err(Error::NotReady(reason)),
        }
    }
}
