//! Rates that all nodes count together.

use crate::{Quota, Refusal, Scope};

/// One permit that a purchase takes of a rate which all nodes count together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedRate {
    /// Whose limit it is.
    pub scope: Scope,
    /// What is counted, the same text on every node: letters, digits and `.`, `_`, `:`, `@`, `-`.
    pub key: String,
    /// Microseconds from one permit to the next, at least 1.
    pub interval_us: u64,
    /// Permits that may be taken at once, at least 1.
    pub burst: u32,
}

impl SharedRate {
    /// The refusal of whoever has to wait for so many milliseconds.
    #[must_use]
    pub fn refusal(&self, retry_after_ms: u64) -> Refusal {
        Refusal::Limited {
            scope: self.scope,
            retry_after_ms,
            quota: Quota::of_rate(self.interval_us, self.burst),
        }
    }
}
