//! What a node remembers of one sale: the last summary of each shard, and what the last readings of all of them prove.

use std::time::{Duration, Instant};

use seckill_sale::{Figures, Hold, NotReady, Shards};

use crate::reading::Reading;
use crate::summary::Summary;

/// A reading older than this refuses nobody from memory.
const FRESH: Duration = Duration::from_secs(1);
/// So long a proof that nothing is left anywhere spares another one, where an empty shard has said so again.
const PROOF_HOLDS: Duration = Duration::from_millis(200);

#[derive(Debug, Default, Clone)]
struct Part {
    read: Option<(Summary, Instant)>,
    /// Why it cannot be used, where its last answer said so.
    trouble: Option<NotReady>,
}

/// Why nobody can get a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shut {
    /// Nothing is left.
    SoldOut,
    /// It is paused.
    Held,
}

/// One sale.
#[derive(Debug)]
pub(crate) struct Known {
    shards: Shards,
    parts: Vec<Part>,
    reading: Option<Reading>,
    /// Since when it is proved that nothing was left in any of several shards.
    sold_out_at: Option<Instant>,
}

impl Known {
    pub(crate) fn new(shards: Shards) -> Self {
        Self {
            shards,
            parts: (0..shards.get()).map(|_| Part::default()).collect(),
            reading: None,
            sold_out_at: None,
        }
    }

    pub(crate) const fn shards(&self) -> Shards {
        self.shards
    }

    /// The shards that were read, by their numbers.
    pub(crate) fn read(&self) -> impl Iterator<Item = (u64, &Summary)> {
        let numbered = (0_u64..).zip(&self.parts);
        numbered.filter_map(|(shard, part)| part.read.as_ref().map(|(summary, _)| (shard, summary)))
    }

    pub(crate) fn shard(&self, index: usize) -> Option<&Summary> {
        let (summary, _) = self.parts.get(index)?.read.as_ref()?;
        Some(summary)
    }

    /// Takes a summary up; false where it is older than the one that is known: answers may overtake one another.
    pub(crate) fn take_up(&mut self, index: usize, summary: Summary) -> bool {
        let Some(part) = self.parts.get_mut(index) else {
            return false;
        };
        part.trouble = None;
        if part.read.as_ref().is_some_and(|(known, _)| is_older(&summary, known)) {
            return false;
        }
        if summary.figures.stock_left != 0 || summary.out.is_some() {
            self.sold_out_at = None;
        }
        part.read = Some((summary, Instant::now()));
        true
    }

    /// A shard of several that cannot be used: nor can the sale.
    pub(crate) fn lose(&mut self, index: usize, reason: NotReady) {
        if let Some(part) = self.parts.get_mut(index).filter(|_| self.shards.is_split()) {
            part.trouble = Some(reason);
        }
    }

    /// Whether each shard was read, can be used as far as is known, and belongs to the same build.
    pub(crate) fn is_whole(&self) -> bool {
        let builder = self.shard(0).map(|first| &first.builder);
        let fine = |part: &Part| part.trouble.is_none() && part.read.as_ref().map(|(read, _)| &read.builder) == builder;
        builder.is_some() && self.parts.iter().all(fine)
    }

    /// The last reading of several shards.
    pub(crate) const fn reading(&self) -> Option<&Reading> {
        self.reading.as_ref()
    }

    /// Remembers a reading of all shards; gives the units that there were at the most a moment ago, where this and the last one tell.
    pub(crate) fn compare(&mut self, reading: Reading) -> Option<u64> {
        let bound = self.reading.as_ref().and_then(|earlier| reading.bound_since(earlier));
        // Units may have come since: a proof is as old as its reading.
        if bound == Some(0) && self.seems_sold_out() {
            self.sold_out_at = Some(reading.asked_at);
        }
        self.reading = Some(reading);
        bound
    }

    /// Whether it was proved just now that nothing is left in any shard.
    pub(crate) fn has_sold_out(&self) -> bool {
        self.sold_out_at.is_some_and(|at| at.elapsed() < PROOF_HOLDS)
    }

    /// Why nobody can get a ticket, where memory alone may say so.
    pub(crate) fn known_shut(&self) -> Option<Shut> {
        let now = Instant::now();
        let is_fresh = |at: Instant| now.saturating_duration_since(at) < FRESH;
        let all = |is_so: fn(&Summary) -> bool| {
            let mut parts = self.parts.iter();
            parts.all(|part| {
                let read = part.read.as_ref();
                part.trouble.is_none() && read.is_some_and(|(read, at)| is_so(read) && is_fresh(*at))
            })
        };
        if all(Summary::is_sold_out) {
            let proved = !self.shards.is_split() || self.sold_out_at.is_some_and(is_fresh);
            return proved.then_some(Shut::SoldOut);
        }
        all(Summary::is_held).then_some(Shut::Held)
    }

    /// Whether every shard was open and had nothing left when it was read last.
    pub(crate) fn seems_sold_out(&self) -> bool {
        let sold_out = |part: &Part| part.read.as_ref().is_some_and(|(read, _)| read.is_sold_out());
        self.parts.iter().all(sold_out)
    }

    /// Whether nobody could get a ticket in any shard when it was read last.
    pub(crate) fn seems_shut(&self) -> bool {
        let held = |part: &Part| part.read.as_ref().is_some_and(|(read, _)| read.is_held());
        self.seems_sold_out() || self.parts.iter().all(held)
    }

    /// The figures of the sale as its shards were last read; none before all were.
    pub(crate) fn figures(&self) -> Option<Figures> {
        (self.read().count() == self.parts.len())
            .then(|| merged(self.shards, self.read().map(|(_, summary)| summary)))?
    }

    /// The newest hold that any shard knows: they are told one by one.
    pub(crate) fn hold(&self) -> Option<Hold> {
        let holds = self.read().filter_map(|(_, summary)| summary.hold);
        holds.max_by_key(|hold| hold.held_at)
    }
}

/// Each build counts its changes from the beginning.
fn is_older(summary: &Summary, known: &Summary) -> bool {
    let (new, old) = (&summary.figures, &known.figures);
    let same_build = summary.builder == known.builder;
    new.epoch < old.epoch || new.epoch == old.epoch && same_build && new.revision < old.revision
}

/// The figures of a sale from those of its shards. Units on their way from one to another are left.
pub(crate) fn merged<'a>(shards: Shards, parts: impl Iterator<Item = &'a Summary>) -> Option<Figures> {
    let with_out = |part: &Summary| Figures {
        stock_left: part.figures.stock_left + part.units_out(),
        ..part.figures
    };
    let sum = parts.map(with_out).reduce(|sum, part| Figures {
        // They differ while a sale is being brought in line with the ledger.
        epoch: sum.epoch.max(part.epoch),
        stock_left: sum.stock_left + part.stock_left,
        accepted: sum.accepted + part.accepted,
        queued: sum.queued + part.queued,
        dead: sum.dead + part.dead,
        queued_tickets: sum.queued_tickets + part.queued_tickets,
        leased_tickets: sum.leased_tickets + part.leased_tickets,
        settled_up_to: sum.settled_up_to.min(part.settled_up_to),
        dead_tickets: sum.dead_tickets + part.dead_tickets,
        oldest_accepted_at: sum.oldest_accepted_at.into_iter().chain(part.oldest_accepted_at).min(),
        // Each is applied in one shard, in their order.
        applied_movement: sum.applied_movement.max(part.applied_movement),
        next_sequence: sum.next_sequence.max(part.next_sequence),
        revision: sum.revision + part.revision,
    });
    // Past the newest ticket; the next one of its own shard is a row further.
    sum.map(|sum| Figures {
        next_sequence: sum.next_sequence.saturating_sub(shards.get() - 1),
        ..sum
    })
}
