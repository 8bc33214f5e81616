//! The lines of one core. A store that decides everything in one place has one; one that serves each sale by itself has one for each sale,
//! so that a sale whose part of the store is slow keeps nobody else waiting.
//!
//! They share the places of the core. Where all are taken, a sale that has less than half of them gets one from a sale that has more. Within
//! a line each sale has a queue of its own.

use std::iter;

use seckill_sale::{ActivityId, Claim, EpochMs, Refusal};

use crate::Batcher;
use crate::line::{Bounds, Line, Reply, Waiting};

/// Which line: that of a sale, or the only one.
pub(crate) type Key = Option<ActivityId>;

/// Batches of one line that are with the store at the same time: while it works on the one, the other gathers.
pub(crate) const UNDER_WAY_MAX: usize = 2;

/// All lines of one core.
pub(crate) struct Lines {
    /// Whether each sale has one.
    apart: bool,
    /// Those in which somebody waits, or of which the store has a batch.
    lines: Vec<(Key, Line)>,
    pub(crate) closed: bool,
}

/// What became of a claim that lined up, and of others by it.
pub(crate) struct Joined {
    /// Whether the store has to be told that claims wait.
    pub(crate) first: bool,
    /// Who has waited too long.
    pub(crate) late: [Option<Waiting>; 2],
    /// Who lost his place to it.
    pub(crate) pushed_out: Option<Waiting>,
}

/// A batch that the store takes.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) late: Vec<Waiting>,
    pub(crate) claims: Vec<Claim>,
    pub(crate) replies: Vec<Reply>,
    /// How many of which sale.
    pub(crate) of_sales: Vec<(ActivityId, usize)>,
    /// Whether claims are left in the line.
    pub(crate) more: bool,
}

impl Lines {
    pub(crate) const fn new(apart: bool) -> Self {
        Self {
            apart,
            lines: Vec::new(),
            closed: false,
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.lines.iter().map(|(_, line)| line.queues.len()).sum()
    }

    pub(crate) fn line(&mut self, key: Key) -> Option<&mut Line> {
        let found = self.lines.iter_mut().find(|(known, _)| *known == key);
        found.map(|(_, line)| line)
    }

    /// Somebody lines up.
    ///
    /// # Errors
    /// [`Refusal::Busy`].
    pub(crate) fn join(&mut self, waiting: Waiting, bounds: &Bounds) -> Result<Joined, Refusal> {
        let (activity, since) = (waiting.claim.activity, waiting.since);
        let key = self.apart.then_some(activity);
        if self.closed || self.line(key).is_some_and(|line| line.hangs) {
            return Err(Refusal::Busy);
        }
        let mut pushed_out = None;
        if bounds.waiting_max <= self.waiting() {
            pushed_out = Some(
                self.push_out_for(activity, bounds.waiting_max / 2)
                    .ok_or(Refusal::Busy)?,
            );
        }
        if self.line(key).is_none() {
            self.lines.push((key, Line::default()));
        }
        let line = self.line(key).expect("there since just now");
        line.queues.push(waiting);
        // Everybody who comes sends two late ones away, so that refusals are spread over the time and don't come in bursts.
        let late = [(); 2].map(|()| line.too_late(since, bounds.wait_ms_max));
        let first = line.queues.len() == 1 && !line.announced;
        Ok(Joined {
            first,
            late,
            pushed_out,
        })
    }

    /// Takes a place from the sale that has the most, and more than `half`, for one that has less: of the claim that came last.
    fn push_out_for(&mut self, activity: ActivityId, half: usize) -> Option<Waiting> {
        let shares = || self.lines.iter().flat_map(|(_, line)| line.queues.shares());
        let (hot, most) = shares().max_by_key(|(_, share)| *share)?;
        let own = shares()
            .find(|(known, _)| *known == activity)
            .map_or(0, |(_, share)| share);
        if most <= half || half <= own {
            return None;
        }
        self.line(self.apart.then_some(hot))?.queues.newest_leaves(hot)
    }

    /// The line whose oldest claim waits longest, of those of which the store can be told; it counts as told of. And whether there are more.
    pub(crate) fn announce(&mut self) -> Option<(Key, bool)> {
        let can_be_told = |line: &Line| !line.announced && line.under_way < UNDER_WAY_MAX;
        let mut ready = 0;
        let mut oldest: Option<(EpochMs, &mut (Key, Line))> = None;
        for entry in &mut self.lines {
            let Some(front) = entry.1.queues.oldest().filter(|_| can_be_told(&entry.1)) else {
                continue;
            };
            let since = front.since;
            ready += 1;
            if oldest.as_ref().is_none_or(|(oldest, _)| since < *oldest) {
                oldest = Some((since, entry));
            }
        }
        let (_, (key, line)) = oldest?;
        line.announced = true;
        line.under_way += 1;
        Some((*key, 1 < ready))
    }

    /// The store takes a batch of a line. Who has waited too long is not in it.
    pub(crate) fn take(&mut self, key: Key, now: EpochMs, wait_ms_max: i64) -> Taken {
        let Some(line) = self.line(key) else {
            return Taken::default();
        };
        let late: Vec<_> = iter::from_fn(|| line.too_late(now, wait_ms_max)).collect();
        let size = line.queues.len().min(Batcher::BATCH_SIZE_MAX);
        let (mut claims, mut replies) = (Vec::with_capacity(size), Vec::with_capacity(size));
        let of_sales = line.queues.leave(size, |waiting| {
            claims.push(waiting.claim);
            replies.push(waiting.reply);
        });
        line.announced = false;
        let more = !line.queues.is_empty();
        Taken {
            late,
            claims,
            replies,
            of_sales,
            more,
        }
    }

    /// The store is done with a batch; gives who waits in its line still, where it never took the batch.
    pub(crate) fn finish(&mut self, key: Key, was_taken: bool) -> Vec<Waiting> {
        let Some(at) = self.lines.iter().position(|(known, _)| *known == key) else {
            return Vec::new();
        };
        let line = &mut self.lines[at].1;
        (line.hangs, line.under_way) = (false, line.under_way - 1);
        let mut unseen = Vec::new();
        if !was_taken {
            line.announced = false;
            unseen = line.queues.empty();
        }
        if line.under_way == 0 && line.queues.is_empty() {
            self.lines.swap_remove(at);
        }
        unseen
    }

    /// Who was in a line `limit` ago already, as [`Line::overdue`].
    pub(crate) fn overdue(&mut self, key: Key, limit: std::time::Duration) -> Vec<Waiting> {
        self.line(key).map_or_else(Vec::new, |line| line.overdue(limit))
    }

    /// Nobody lines up any more, and nobody waits.
    pub(crate) fn close(&mut self) {
        *self = Self {
            closed: true,
            ..Self::new(self.apart)
        };
    }
}
