//! The end of a process within a bound: whatever still waits for a disk that does not answer is left behind.
//!
//! Nothing that was answered is lost by that: an answer leaves after its frame is durable, and the next start reads the journal as after a
//! crash.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// What house and layers may take in any case once the ports are through, and what of the grace is kept for them.
const CLOSING: Duration = Duration::from_secs(1);

/// How long open requests may go on, where everything is to end within `grace`. A short one is theirs alone.
pub(crate) fn ports_grace(grace: Duration) -> Duration {
    if grace < 2 * CLOSING { grace } else { grace - CLOSING }
}

/// Does `closing` on a thread of its own, and waits for it until `grace` after `began`; false where it was left behind.
pub(crate) fn close_within(began: Instant, grace: Duration, closing: impl FnOnce() + Send + 'static) -> bool {
    let (ended, waits) = sync_channel::<()>(1);
    let closing = thread::Builder::new().name("closing".to_owned()).spawn(move || {
        closing();
        drop(ended);
    });
    if let Err(error) = closing {
        tracing::error!(%error, "no thread to close with");
        return false;
    }
    let left = grace.saturating_sub(began.elapsed()).max(CLOSING);
    waits.recv_timeout(left) == Err(RecvTimeoutError::Disconnected)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn what_hangs_is_left_behind_and_what_ends_is_waited_for() {
        let grace = Duration::from_secs(3600);
        assert!(close_within(Instant::now(), grace, || ()));
        let (_held, hangs) = sync_channel::<()>(1);
        let hang = move || _ = hangs.recv();
        assert!(!close_within(Instant::now(), Duration::ZERO, hang));
    }

    #[test]
    fn a_part_of_the_grace_is_kept_for_closing() {
        assert_eq!(ports_grace(Duration::from_secs(10)), Duration::from_secs(9));
        assert_eq!(ports_grace(Duration::from_millis(1_500)), Duration::from_millis(1_500));
    }
}
