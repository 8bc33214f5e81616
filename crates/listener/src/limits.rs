//! Every deadline and cap of a connection, with its default and its reason.

use std::time::Duration;

use crate::Error;
use crate::full::WhenFull;

/// Heads and the read buffer can't be smaller than this: it is the size of hyper's first read.
const HEADER_BYTES_MIN: usize = 8 * 1024;
/// hyper parses at most this many header lines without allocating for them.
const HEADERS_MAX_MAX: usize = 100;
/// Descriptors kept for files, databases and the other listeners.
const DESCRIPTORS_KEPT_MAX: usize = 256;

/// Every deadline and cap of a connection.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Open connections of this listener. One more is accepted, and who goes then is said by `when_full`.
    pub connections_max: usize,
    /// Who goes when one more comes than there are places.
    pub when_full: WhenFull,
    /// Open connections of one IPv4 address or one IPv6 /64.
    pub connections_per_ip: usize,
    /// How long a fresh connection may stay silent. As long as an idle one must live: a page may
    /// connect ahead of the start of a sale.
    pub first_byte_timeout: Duration,
    /// How long a started head may take until its last byte; then 408.
    pub header_timeout: Duration,
    /// How long a kept-alive connection may stay silent between two requests.
    pub idle_timeout: Duration,
    /// How long a whole request body may take; then reading it fails with [`crate::BodyTimeout`].
    pub body_timeout: Duration,
    /// How long a pending write may make no progress at all; then the connection is reset.
    pub write_stall_timeout: Duration,
    /// Largest head (request line and headers), in bytes; above it 431. At least 8 KiB.
    pub header_bytes_max: usize,
    /// Most header lines of a request; above it 431. At most 100.
    pub headers_max: usize,
    /// How long open requests may take after the shutdown began; then they are cut off.
    pub shutdown_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 20_000,
            when_full: WhenFull::RefuseNewest,
            connections_per_ip: 1_000,
            first_byte_timeout: Duration::from_secs(30),
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(10),
            write_stall_timeout: Duration::from_secs(20),
            header_bytes_max: 16 * 1024,
            headers_max: 64,
            shutdown_grace: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// How often a core looks at its connections: a fraction of the shortest deadline, so that each
    /// is kept to within a quarter.
    pub(crate) fn sweep_interval(&self) -> Duration {
        let shortest = [
            self.first_byte_timeout,
            self.header_timeout,
            self.idle_timeout,
            self.body_timeout,
            self.write_stall_timeout,
        ]
        .into_iter()
        .min()
        .unwrap_or_default();
        (shortest / 8).clamp(Duration::from_millis(5), Duration::from_millis(250))
    }

    /// How long silent connections live on after the shutdown began: long enough for a request
    /// that was already on its way when the process was told to stop.
    pub(crate) fn drain_idle(&self) -> Duration {
        (self.shutdown_grace / 4).min(Duration::from_millis(500))
    }

    /// The limits as far as `descriptors` open files allow: connections must not use up what the
    /// journal and the database need.
    pub(crate) fn fitted_to(mut self, descriptors: u64) -> Self {
        let descriptors = usize::try_from(descriptors).unwrap_or(usize::MAX);
        let kept = DESCRIPTORS_KEPT_MAX.min(descriptors / 2);
        self.connections_max = self.connections_max.min(descriptors - kept);
        self
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let refuse = |name, reason| Err(Error::Limit { name, reason });
        if self.connections_max == 0 {
            return refuse("connections_max", "must be at least 1");
        }
        if self.connections_per_ip == 0 {
            return refuse("connections_per_ip", "must be at least 1");
        }
        if self.header_bytes_max < HEADER_BYTES_MIN {
            return refuse("header_bytes_max", "must be at least 8192");
        }
        if self.headers_max == 0 || HEADERS_MAX_MAX < self.headers_max {
            return refuse("headers_max", "must lie between 1 and 100");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_the_rest_of_the_process() {
        let limits = Limits::default();
        assert_eq!(limits.clone().fitted_to(1_000_000).connections_max, 20_000);
        assert_eq!(limits.clone().fitted_to(1_024).connections_max, 768);
        assert_eq!(limits.fitted_to(64).connections_max, 32);
    }

    #[test]
    fn default_limits_are_accepted() {
        assert!(Limits::default().check().is_ok());
    }

    #[test]
    fn a_limit_that_serves_nobody_is_refused_by_name() {
        let limits = Limits {
            headers_max: 101,
            ..Limits::default()
        };
        let message = limits.check().expect_err("101 is too many").to_string();
        assert_eq!(message, "limit `headers_max` must lie between 1 and 100");
    }

    #[test]
    fn idle_connections_outlive_a_warm_up_of_thirty_seconds() {
        let limits = Limits::default();
        assert!(Duration::from_secs(30) <= limits.first_byte_timeout);
        assert!(Duration::from_secs(30) <= limits.idle_timeout);
    }
}
