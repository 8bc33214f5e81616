//! What a process takes of the machine, as `/proc` tells it.

use serde::Serialize;

use crate::{Error, Result};

/// The kernel counts a process's CPU time in this unit in `/proc` on every architecture that we build for.
const TICKS_PER_S: u64 = 100;

/// What a process has used since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Usage {
    /// User and system CPU time, in seconds; steps of 10 ms.
    pub cpu_s: f64,
    /// Resident memory now.
    pub rss_bytes: u64,
    /// The largest resident memory so far.
    pub rss_peak_bytes: u64,
}

/// CPU time and memory of any process of ours.
///
/// # Errors
/// [`Error::Io`] where there is no such process or no `/proc`.
pub fn usage_of(id: u32) -> Result<Usage> {
    let read = |name: &str| {
        let path = format!("/proc/{id}/{name}");
        std::fs::read_to_string(&path).map_err(Error::file("read", path))
    };
    let ticks = ticks_of(&read("stat")?).ok_or_else(|| Error::Malformed {
        what: format!("/proc/{id}/stat"),
    })?;
    let status = read("status")?;
    Ok(Usage {
        cpu_s: ticks as f64 / TICKS_PER_S as f64,
        rss_bytes: kilobytes_of(&status, "VmRSS:") * 1024,
        rss_peak_bytes: kilobytes_of(&status, "VmHWM:") * 1024,
    })
}

/// Open descriptors of any process of ours.
///
/// # Errors
/// [`Error::Io`] where there is no such process or no `/proc`.
pub fn descriptors_of(id: u32) -> Result<usize> {
    let folder = format!("/proc/{id}/fd");
    Ok(std::fs::read_dir(&folder).map_err(Error::file("read", folder))?.count())
}

/// utime + stime. The program's name stands in brackets before them and may hold anything, so counting begins behind the last one.
fn ticks_of(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

fn kilobytes_of(status: &str, field: &str) -> u64 {
    let value = status.lines().find_map(|line| line.strip_prefix(field));
    value
        .and_then(|value| value.split_ascii_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_found_behind_a_strange_name() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 1 0 5 6 7";
        assert_eq!(ticks_of(stat), Some(300));
        assert_eq!(ticks_of("7 (a"), None);
        assert_eq!(kilobytes_of("VmHWM:\t  20 kB\nVmRSS:\t  12 kB\n", "VmRSS:"), 12);
    }

    #[test]
    fn own_usage_can_be_read() {
        let usage = usage_of(std::process::id()).unwrap();
        assert!(0 < usage.rss_bytes && usage.rss_bytes <= usage.rss_peak_bytes);
        assert!(0 < descriptors_of(std::process::id()).unwrap());
    }
}
