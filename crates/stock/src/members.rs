//! Contract of what nodes know of one another: who lives, and who does what only one should.
//!
//! A node beats about once a second; whoever does not beat for a while counts as gone, by the store's clock. What is kept here may be lost at
//! any time: the next beat and the next renewal bring it back, and nothing about a sale depends on it. A lease names at most one holder at a
//! time by the store's clock, but it is no fence: whoever loses it learns so when he renews it, and may be in the middle of something then.

pub mod conformance;

use std::cmp::Ordering;

use async_trait::async_trait;
use seckill_sale::EpochMs;

use crate::Error;

/// Most bytes of [`Member::figures`].
pub const FIGURES_BYTES_MAX: usize = 32_768;
/// Longest lease, in milliseconds. One that lies further ahead is left from before the store's clock went back, and counts as over.
pub const LEASE_MS_MAX: i64 = 60_000;
/// The lease of whoever runs the scheduler.
pub const SCHEDULER_LEASE: &str = "scheduler";

/// What a node says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Member {
    /// Its name, which no other process has or will have.
    pub id: String,
    /// What it does, such as `api`, `worker`, `scheduler`. A newer version may have others.
    pub roles: Vec<String>,
    /// Version of its build.
    pub version: String,
    /// Where its admin port listens; empty where it has none.
    pub admin: String,
    /// When it started, by its own clock.
    pub started_at: EpochMs,
    /// When it said this, by its own clock: beside the store's time of the beat it shows how far the two are apart.
    pub sent_at: EpochMs,
    /// What tells whether it belongs with the others.
    pub fingerprints: Fingerprints,
    /// Its figures as one JSON text that the store does not read, at most [`FIGURES_BYTES_MAX`].
    pub figures: String,
}

/// Short digests of what the nodes of a store must share: they tell whether two are the same, and nothing of what they are. Each is empty
/// where it is not told, as by an older version, and says nothing then.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fingerprints {
    /// Of the database's identity.
    pub database: String,
    /// Of the keys that check buyers' tokens.
    pub user_keys: String,
    /// Of the secret that signs purchase tokens.
    pub purchase_tokens: String,
}

/// A member and when it was last heard of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Living {
    /// What it said of itself.
    pub member: Member,
    /// When, by the store's clock.
    pub beat_at: EpochMs,
    /// How long ago that was when it was asked for, in milliseconds.
    pub age_ms: i64,
}

impl Living {
    /// How far the member's clock is ahead of the store's, in milliseconds; negative where it is behind. The way to the store counts as behind.
    #[must_use]
    pub const fn clock_ahead_ms(&self) -> i64 {
        self.member.sent_at.since(self.beat_at)
    }

    /// The order in which they are listed.
    #[must_use]
    pub fn order(a: &Self, b: &Self) -> Ordering {
        let place = |living: &Self| (living.member.started_at, living.member.id.clone());
        place(a).cmp(&place(b))
    }
}

/// The nodes that share a store. Everything may be asked for twice.
#[async_trait]
pub trait Members: Send + Sync + 'static {
    /// Says that a node lives, and what it is; takes the place of what it said before. Members that were not heard of for long are forgotten.
    ///
    /// # Errors
    /// As every command of a store; [`seckill_sale::NotReady::StoreFull`] where the figures are too long.
    async fn beat(&self, member: Member) -> Result<(), Error>;

    /// Those whose last beat is younger than `age_ms_max`, the longest-lived first.
    ///
    /// # Errors
    /// As every command of a store.
    async fn members(&self, age_ms_max: i64) -> Result<Vec<Living>, Error>;

    /// Says that a node is about to end.
    ///
    /// # Errors
    /// As every command of a store.
    async fn leave(&self, id: &str) -> Result<(), Error>;

    /// Takes a lease that nobody holds, or renews the holder's own, from now for `for_ms` and at most [`LEASE_MS_MAX`]; whether `holder` has
    /// it now.
    ///
    /// # Errors
    /// As every command of a store. He may have it all the same, where the outcome is unknown, and should not count on it.
    async fn lease(&self, name: &str, holder: &str, for_ms: i64) -> Result<bool, Error>;

    /// Gives a lease back before its time; another's is left alone.
    ///
    /// # Errors
    /// As every command of a store.
    async fn release(&self, name: &str, holder: &str) -> Result<(), Error>;

    /// Who holds a lease.
    ///
    /// # Errors
    /// As every command of a store.
    async fn holder(&self, name: &str) -> Result<Option<String>, Error>;
}
