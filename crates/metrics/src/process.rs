//! What the system says about this process, by the names that every Prometheus client uses. Read from `/proc` at each scrape;
//! where there is none, the metrics are not shown.

use std::fs;

use crate::Registry;

/// Ticks of `/proc/self/stat` in a second. It is 100 on every Linux that Rust's server targets run on, whatever the kernel's own
/// frequency; asking the C library for it would need unsafe code.
const TICKS_PER_SECOND: f64 = 100.0;
/// Places of fields behind the program's name in `/proc/self/stat`.
const USER_TICKS: usize = 11;
const SYSTEM_TICKS: usize = 12;
const START_TICKS: usize = 19;

pub(crate) fn register(registry: &Registry) {
    registry.counter_fn_maybe(
        "process_cpu_seconds_total",
        "Processor time of this process in seconds.",
        || {
            let stat = read("/proc/self/stat")?;
            Some((field(&stat, USER_TICKS)? + field(&stat, SYSTEM_TICKS)?) / TICKS_PER_SECOND)
        },
    );
    registry.gauge_fn_maybe(
        "process_resident_memory_bytes",
        "Memory of this process in RAM, in bytes.",
        || kilobytes(&read("/proc/self/status")?, "VmRSS:"),
    );
    registry.gauge_fn_maybe(
        "process_virtual_memory_bytes",
        "Address space of this process in bytes.",
        || kilobytes(&read("/proc/self/status")?, "VmSize:"),
    );
    // The folder that is being read is itself one of its entries.
    registry.gauge_fn_maybe("process_open_fds", "Open file descriptors.", || {
        Some(fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1) as f64)
    });
    registry.gauge_fn_maybe("process_max_fds", "File descriptors this process may open.", || {
        descriptors_max(&read("/proc/self/limits")?)
    });
    registry.gauge_fn_maybe("process_threads", "Threads of this process.", || {
        number(&read("/proc/self/status")?, "Threads:")
    });
    let start = start_seconds();
    registry.gauge_fn_maybe(
        "process_start_time_seconds",
        "When this process started, in seconds since 1970.",
        move || start,
    );
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn start_seconds() -> Option<f64> {
    let boot = number(&read("/proc/stat")?, "btime")?;
    Some(boot + field(&read("/proc/self/stat")?, START_TICKS)? / TICKS_PER_SECOND)
}

/// A field behind the program's name, which may itself hold blanks and parentheses.
fn field(stat: &str, place: usize) -> Option<f64> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(place)?.parse().ok()
}

/// The number behind a word at the beginning of a line.
fn number(text: &str, word: &str) -> Option<f64> {
    text.lines()
        .find_map(|line| line.strip_prefix(word))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

fn kilobytes(status: &str, word: &str) -> Option<f64> {
    Some(number(status, word)? * 1024.0)
}

fn descriptors_max(limits: &str) -> Option<f64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(f64::INFINITY),
        number => number.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_a_name_with_blanks_and_parentheses() {
        let stat = "4711 (a ) (b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 4 0 123456 1 2";
        assert_eq!(field(stat, USER_TICKS), Some(250.0));
        assert_eq!(field(stat, SYSTEM_TICKS), Some(50.0));
        assert_eq!(field(stat, START_TICKS), Some(123_456.0));
        assert_eq!(field("4711 (a", USER_TICKS), None);
    }

    #[test]
    fn sizes_and_limits_are_read() {
        assert_eq!(
            kilobytes("Name:\ta\nVmRSS:\t    2048 kB\n", "VmRSS:"),
            Some(2_097_152.0)
        );
        assert_eq!(
            descriptors_max("Limit  Soft  Hard\nMax open files            1024                 4096  files\n"),
            Some(1024.0)
        );
        assert_eq!(
            descriptors_max("Max open files  unlimited  unlimited  files\n"),
            Some(f64::INFINITY)
        );
    }
}
