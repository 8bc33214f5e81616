//! Waits that end: by what was wanted, or by a panic that says what came instead.

use std::fmt::Debug;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Answer, Server, call};

/// Longest wait.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
pub(crate) const PAUSE: Duration = Duration::from_millis(10);

impl Server {
    /// Looks until what is seen is as wanted, and gives that.
    ///
    /// # Panics
    /// With what was seen last and the log, where that takes longer than a minute.
    pub fn until<T: Debug>(&self, look: impl FnMut() -> T, is_wanted: impl Fn(&T) -> bool) -> T {
        until(PATIENCE, look, is_wanted, || self.log())
    }

    /// Waits until the log has this text.
    ///
    /// # Panics
    /// With the log, where that takes longer than a minute.
    pub fn until_logged(&self, text: &str) {
        self.until(|| self.log().contains(text), |has| *has);
    }

    /// Waits until the server says that it is ready.
    ///
    /// # Panics
    /// As [`Server::until`].
    pub fn until_ready(&self) {
        let ask = || call(self.admin, "GET", "/readyz", &[], None);
        let _ready = self.until(ask, |answer| answer.as_ref().is_ok_and(|answer| answer.status == 200));
    }

    /// Waits until the public port knows an activity that was made at another node.
    ///
    /// # Panics
    /// As [`Server::until`].
    pub fn knows(&self, activity: u64) {
        let path = format!("/api/activities/{activity}");
        let ask = || call(self.public, "GET", &path, &[], None);
        let _known = self.until(ask, |answer| answer.as_ref().is_ok_and(|answer| answer.status == 200));
    }

    /// Waits until the store answers what it knows of an activity.
    ///
    /// # Panics
    /// As [`Server::until`].
    pub fn until_the_store_answers(&self, activity: u64) {
        let path = format!("/admin/api/activities/{activity}/audit");
        let _audit = self.until(|| self.as_admin("GET", &path, None), |audit| audit.status == 200);
    }

    /// The audit of an activity once nothing is queued.
    ///
    /// # Panics
    /// Where something stays queued.
    #[must_use]
    pub fn settled(&self, activity: u64) -> Value {
        let path = format!("/admin/api/activities/{activity}/audit");
        let is_settled = |audit: &Answer| audit.data()["queued"] == 0 && !audit.data()["balanced"].is_null();
        let audit = self.until(|| self.as_admin("GET", &path, None), is_settled);
        audit.data().clone()
    }
}

fn until<T: Debug>(
    limit: Duration,
    mut look: impl FnMut() -> T,
    is_wanted: impl Fn(&T) -> bool,
    log: impl Fn() -> String,
) -> T {
    let end = Instant::now() + limit;
    loop {
        let seen = look();
        if is_wanted(&seen) {
            return seen;
        }
        assert!(Instant::now() < end, "not in time; at last {seen:?}; log: {}", log());
        thread::sleep(PAUSE);
    }
}

/// How the child ended; one that does not end in time is killed.
pub(crate) fn wait(child: &mut Child) -> Option<ExitStatus> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            return Some(status);
        }
        thread::sleep(PAUSE);
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_ends_the_wait() {
        let mut seen = 0;
        let look = || {
            seen += 1;
            seen
        };
        assert_eq!(until(PATIENCE, look, |seen| *seen == 3, String::new), 3);
    }

    #[test]
    #[should_panic(expected = "not in time; at last 503; log: the disk hangs")]
    fn a_wait_in_vain_ends_and_says_what_was_seen_last_and_what_the_log_has() {
        until(
            Duration::ZERO,
            || 503,
            |status| *status == 200,
            || "the disk hangs".to_owned(),
        );
    }
}
