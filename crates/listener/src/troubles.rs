//! Failed calls of accept: what they mean for the next one, and how often they are logged.

use std::io;
use std::time::Duration;

use tokio::time::Instant;

/// Errors of accept are logged at most this often.
const LOG_INTERVAL: Duration = Duration::from_secs(1);

/// What a failed accept means for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// That connection was gone before we took it.
    Gone,
    /// Descriptors or memory are used up; trying again at once would only spin.
    Starved,
}

impl Trouble {
    pub(crate) fn of(error: &io::Error) -> Self {
        use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
        match error.kind() {
            ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted => Self::Gone,
            _ => Self::Starved,
        }
    }
}

/// Keeps a storm of errors from becoming a storm of log lines.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    logged_at: Option<Instant>,
    silent: u64,
}

impl Troubles {
    /// Whether to log now, and how many errors went by without a line since the last one.
    pub(crate) fn may_log(&mut self, now: Instant) -> Option<u64> {
        if self.logged_at.is_some_and(|at| now.duration_since(at) < LOG_INTERVAL) {
            self.silent += 1;
            return None;
        }
        self.logged_at = Some(now);
        Some(std::mem::take(&mut self.silent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_up_descriptors_make_the_loop_wait() {
        let errors = [
            (rustix::io::Errno::MFILE, Trouble::Starved),
            (rustix::io::Errno::NFILE, Trouble::Starved),
            (rustix::io::Errno::NOBUFS, Trouble::Starved),
            (rustix::io::Errno::NOMEM, Trouble::Starved),
            (rustix::io::Errno::CONNABORTED, Trouble::Gone),
        ];
        for (errno, expect) in errors {
            assert_eq!(Trouble::of(&io::Error::from(errno)), expect, "{errno}");
        }
    }

    #[test]
    fn errors_are_logged_once_a_second_with_the_number_left_out() {
        let mut troubles = Troubles::default();
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(troubles.may_log(at(0)), Some(0));
        assert_eq!(troubles.may_log(at(100)), None);
        assert_eq!(troubles.may_log(at(999)), None);
        assert_eq!(troubles.may_log(at(1_000)), Some(2));
        assert_eq!(troubles.may_log(at(1_100)), None);
    }
}
