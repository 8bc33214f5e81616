//! When requests are sent.

use std::time::Duration;

/// When requests are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// As soon as the connection is free.
    Closed,
    /// So many a second, evenly.
    Steady {
        /// Requests a second.
        rate_per_s: f64,
    },
    /// All within `over`, most of them at its beginning: after a quarter of the time half of them have come.
    Rush {
        /// When the last one comes.
        over: Duration,
    },
}

impl Pace {
    /// How long after the start request `index` of `total` should be sent; `None` in a closed loop.
    pub(crate) fn offset(self, index: usize, total: usize) -> Option<Duration> {
        match self {
            Self::Closed => None,
            Self::Steady { rate_per_s } => Some(Duration::from_secs_f64(index as f64 / rate_per_s)),
            Self::Rush { over } => Some(over.mul_f64((index as f64 / total as f64).powi(2))),
        }
    }
}
