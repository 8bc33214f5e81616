//! Two readings of a process's memory, and what they are held against.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::MemoryConfig;
use crate::Result;
use crate::server::Server;

/// Memory is at rest once so many readings in a row, so far apart, differ by less than the grain.
const REST_READINGS: usize = 5;
const REST_GRAIN_BYTES: u64 = 256 << 10;
const REST_LIMIT: Duration = Duration::from_secs(30);

/// What memory grows by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grown {
    /// Accepted buyers with ids of 17 bytes, settled.
    Buyers,
    /// Result streams (server-sent events) of queued tickets, idle.
    Streams,
    /// Requests with signed tokens, each of another user, from another address, for another activity that doesn't exist.
    Strangers,
    /// Requests with tokens that somebody else has signed, each from another address.
    ForgedTokens,
}

impl Grown {
    /// Bytes of each, at most.
    pub fn each_bytes_max(self) -> f64 {
        match self {
            Self::Buyers => 120.0,
            Self::Streams => 16.0 * 1024.0,
            // Nothing is kept of them: what is left is the noise of an allocator.
            Self::Strangers | Self::ForgedTokens => 8.0,
        }
    }
}

/// Two readings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Growth {
    /// What was there more of at the second.
    pub grown: Grown,
    /// How many at the first.
    pub from: usize,
    /// How many at the second.
    pub to: usize,
    /// Resident memory at the first.
    pub rss_from_bytes: u64,
    /// Resident memory at the second.
    pub rss_to_bytes: u64,
}

impl Growth {
    /// Bytes of each; below 0 where memory shrank.
    pub fn each_bytes(&self) -> f64 {
        (self.rss_to_bytes as f64 - self.rss_from_bytes as f64) / (self.to.saturating_sub(self.from)).max(1) as f64
    }

    /// Whether it is within its goal.
    pub fn is_reached(&self) -> bool {
        self.each_bytes() <= self.grown.each_bytes_max()
    }
}

pub(super) fn growth(grown: Grown, from: usize, to: usize, [rss_from_bytes, rss_to_bytes]: [u64; 2]) -> Growth {
    Growth {
        grown,
        from,
        to,
        rss_from_bytes,
        rss_to_bytes,
    }
}

/// A server's memory once it has come to rest, or what it is when the limit is over.
pub(super) fn at_rest(server: &Server, config: &MemoryConfig) -> Result<u64> {
    let end = Instant::now() + REST_LIMIT;
    let mut readings = vec![server.usage()?.rss_bytes];
    loop {
        std::thread::sleep(config.rest_every);
        readings.push(server.usage()?.rss_bytes);
        let last = &readings[readings.len().saturating_sub(REST_READINGS)..];
        let rests = last.len() == REST_READINGS
            && last.iter().max() < last.iter().min().map(|min| min + REST_GRAIN_BYTES).as_ref();
        if rests || end <= Instant::now() {
            return Ok(readings[readings.len() - 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slope_counts_what_was_added_between_the_readings() {
        let buyers = growth(Grown::Buyers, 100, 1_100, [50_000, 170_000]);
        assert_eq!(buyers.each_bytes(), 120.0);
        assert!(buyers.is_reached());
        assert!(!growth(Grown::Buyers, 100, 1_100, [50_000, 171_000]).is_reached());
        assert!(growth(Grown::ForgedTokens, 0, 1_000, [50_000, 40_000]).is_reached());
        assert!(!growth(Grown::Strangers, 0, 1_000, [0, 8_001]).is_reached());
    }
}
