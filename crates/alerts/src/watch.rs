//! What has changed: from readings to alerts. Pure; the time is passed in.
//!
//! ```text
//! well ──bad for long enough──▶ told ──worse──▶ told again          at most one of these in `repeat_after_ms`;
//!   ▲                            │                                  what comes sooner is told then, if it is still so
//!   └───────────well─────────────┘ told at once
//! ```
//! What was not told when it went wrong is not told when it is well again.

use std::collections::BTreeMap;

use seckill_sale::{ActivityId, EpochMs};

use crate::{Alert, Kind, Reading, Turn};

/// Things that are remembered. With more the alerts themselves would be the trouble.
const THINGS_MAX: usize = 1_000;
/// A thing that nobody has looked at for so long is forgotten, in milliseconds: its sale is over.
const FORGET_AFTER_MS: i64 = 3_600_000;

/// When something is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// How long store or database must be down, in milliseconds; everything else is told at once.
    pub down_after_ms: i64,
    /// Least time between two alerts that the same thing went wrong, in milliseconds.
    pub repeat_after_ms: i64,
}

impl Rules {
    const fn after_ms(self, kind: Kind) -> i64 {
        match kind {
            Kind::StoreDown | Kind::DatabaseDown => self.down_after_ms,
            Kind::DeadLetters | Kind::AuditDrift | Kind::ActivityFenced => 0,
        }
    }
}

/// What is remembered of one thing.
#[derive(Debug, Clone, Copy)]
struct State {
    /// Since when it is bad.
    bad_since: Option<EpochMs>,
    /// The level that was told; 0 where nothing was told since it was last well.
    told_level: u64,
    /// When it was last told that it is bad.
    told_at: Option<EpochMs>,
    looked_at: EpochMs,
}

/// Watches what may go wrong.
#[derive(Debug)]
pub struct Watch {
    rules: Rules,
    things: BTreeMap<(Kind, Option<ActivityId>), State>,
}

impl Watch {
    /// One that takes everything to be well.
    #[must_use]
    pub const fn new(rules: Rules) -> Self {
        Self {
            rules,
            things: BTreeMap::new(),
        }
    }

    /// Takes the readings of a moment and says what is to be told.
    pub fn observe(&mut self, now: EpochMs, readings: &[Reading]) -> Vec<Alert> {
        self.things
            .retain(|_, state| now.since(state.looked_at) < FORGET_AFTER_MS);
        readings.iter().filter_map(|reading| self.look(now, reading)).collect()
    }

    fn look(&mut self, now: EpochMs, reading: &Reading) -> Option<Alert> {
        let thing = (reading.kind, reading.activity);
        let has_room = self.things.len() < THINGS_MAX || self.things.contains_key(&thing);
        if !has_room || (reading.level == 0 && !self.things.contains_key(&thing)) {
            return None;
        }
        let rules = self.rules;
        let state = self.things.entry(thing).or_insert(State {
            bad_since: None,
            told_level: 0,
            told_at: None,
            looked_at: now,
        });
        state.looked_at = now;
        let alert = |turn, since| {
            Some(Alert {
                kind: reading.kind,
                activity: reading.activity,
                turn,
                since,
                at: now,
                said: reading.said.clone(),
            })
        };
        if reading.level == 0 {
            let since = state.bad_since.take().unwrap_or(now);
            let was_told = std::mem::take(&mut state.told_level) != 0;
            return if was_told { alert(Turn::Resolved, since) } else { None };
        }
        let since = *state.bad_since.get_or_insert(now);
        let is_due = rules.after_ms(reading.kind) <= now.since(since);
        let is_news = state.told_level < reading.level;
        // A clock that went back must not silence anything.
        let may_repeat = state
            .told_at
            .is_none_or(|at| rules.repeat_after_ms <= now.since(at) || now < at);
        if !(is_due && is_news && may_repeat) {
            return None;
        }
        state.told_level = reading.level;
        state.told_at = Some(now);
        alert(Turn::Raised, since)
    }
}

#[cfg(test)]
mod tests;
