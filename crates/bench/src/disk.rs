//! How long the disk takes to make a write durable. Every figure about accepted purchases rests on it, so it is measured beside them.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::{Error, Result};

/// Bytes of one write: about a batch of claims.
pub const WRITE_BYTES: usize = 16 * 1024;
/// Writes of a probe.
const WRITES: usize = 200;

/// The times of write + fdatasync.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DiskProbe {
    /// How many were measured.
    pub writes: usize,
    /// Bytes of each.
    pub write_bytes: usize,
    /// The fastest.
    pub min_ms: f64,
    /// Half were faster.
    pub median_ms: f64,
    /// 99 % were faster.
    pub p99_ms: f64,
    /// The slowest.
    pub max_ms: f64,
}

/// Appends to a file in `folder`, each write made durable, and deletes the file.
///
/// # Errors
/// [`Error::Io`] when the folder can't be written to.
pub fn probe(folder: &Path) -> Result<DiskProbe> {
    let mut file = tempfile::tempfile_in(folder).map_err(Error::file("make a file in", folder))?;
    let block = vec![0x5a; WRITE_BYTES];
    let mut times = Vec::with_capacity(WRITES);
    for _ in 0..WRITES {
        let begun = Instant::now();
        file.write_all(&block)
            .and_then(|()| file.sync_data())
            .map_err(Error::file("write in", folder))?;
        times.push(begun.elapsed());
    }
    Ok(summary(times))
}

fn summary(mut times: Vec<Duration>) -> DiskProbe {
    times.sort_unstable();
    let at = |quantile: f64| times[((times.len() - 1) as f64 * quantile).round() as usize].as_secs_f64() * 1000.0;
    DiskProbe {
        writes: times.len(),
        write_bytes: WRITE_BYTES,
        min_ms: at(0.0),
        median_ms: at(0.5),
        p99_ms: at(0.99),
        max_ms: at(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_orders_the_times() {
        let probe = summary((0..=100).rev().map(Duration::from_millis).collect());
        assert_eq!(
            (probe.min_ms, probe.median_ms, probe.p99_ms, probe.max_ms),
            (0.0, 50.0, 99.0, 100.0)
        );
    }

    #[test]
    fn probe_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(probe(folder.path()).unwrap().writes, WRITES);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
