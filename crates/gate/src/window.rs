//! Early look at status and window, so that a rush before the start never reaches the store. The store itself decides.

use seckill_sale::{Activity, EpochMs, Refusal, Status};

/// The store's time as a node knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Best estimate of the store's time. Tokens, blocks and limits go by it too.
    pub now: EpochMs,
    /// The store's time is at most so many milliseconds earlier or later; 0 where the store reads the same clock.
    pub uncertainty_ms: u32,
}

impl Moment {
    /// A moment that is known exactly: the embedded store.
    #[must_use]
    pub const fn exact(now: EpochMs) -> Self {
        Self { now, uncertainty_ms: 0 }
    }

    const fn earliest(self) -> EpochMs {
        self.now.plus(-(self.uncertainty_ms as i64))
    }

    const fn latest(self) -> EpochMs {
        self.now.plus(self.uncertainty_ms as i64)
    }
}

/// Whether the operator holds the sale. A closed one is not held, it has ended. One whose pause ends by itself is the store's to decide from
/// that moment on: so it goes on for all nodes at once, and for none only when it has read that it does.
///
/// # Errors
/// [`Refusal::Paused`].
pub(crate) fn check_status(activity: &Activity, moment: Moment) -> Result<(), Refusal> {
    match activity.status {
        Status::Paused if activity.resumes_at.is_some_and(|at| at <= moment.latest()) => Ok(()),
        Status::Paused | Status::Draft => Err(Refusal::Paused {
            resumes_at: activity.resumes_at,
        }),
        Status::Running | Status::Closed => Ok(()),
    }
}

/// Whether the sale is surely not over yet.
///
/// # Errors
/// [`Refusal::Ended`] where it was closed or its window has passed even by the earliest time that it may be.
fn check_not_ended(activity: &Activity, moment: Moment) -> Result<(), Refusal> {
    let over = activity.status == Status::Closed || activity.window.ends_at <= moment.earliest();
    if over { Err(Refusal::Ended) } else { Ok(()) }
}

/// Whether the sale may admit by now, as far as this node can tell; the benefit of the doubt goes to the buyer.
///
/// `lead_ms` is how long before the start the route answers already: 0 for a purchase.
///
/// # Errors
/// [`Refusal::NotStarted`], [`Refusal::Ended`].
pub(crate) fn check_window(activity: &Activity, moment: Moment, lead_ms: u32) -> Result<(), Refusal> {
    check_not_ended(activity, moment)?;
    let starts_at = activity.window.starts_at;
    if moment.latest() < starts_at.plus(-i64::from(lead_ms)) {
        return Err(Refusal::NotStarted { starts_at });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::activity;

    #[test]
    fn doubt_goes_to_the_buyer() {
        let activity = activity(1);
        let (starts_at, ends_at) = (activity.window.starts_at, activity.window.ends_at);
        let at = |now, uncertainty_ms| check_window(&activity, Moment { now, uncertainty_ms }, 0);
        let early = Err(Refusal::NotStarted { starts_at });
        assert_eq!(at(starts_at.plus(-1), 0), early);
        assert_eq!(at(starts_at, 0), Ok(()));
        assert_eq!(at(starts_at.plus(-20), 20), Ok(()));
        assert_eq!(at(starts_at.plus(-21), 20), early);
        assert_eq!(at(ends_at.plus(-1), 0), Ok(()));
        assert_eq!(at(ends_at, 0), Err(Refusal::Ended));
        assert_eq!(at(ends_at.plus(19), 20), Ok(()));
        assert_eq!(at(ends_at.plus(20), 20), Err(Refusal::Ended));
    }

    #[test]
    fn closed_sale_has_ended_and_is_not_paused() {
        let mut activity = activity(1);
        activity.status = Status::Closed;
        let now = Moment::exact(EpochMs(0));
        assert_eq!(check_status(&activity, now), Ok(()));
        assert_eq!(check_window(&activity, now, 0), Err(Refusal::Ended));
        activity.status = Status::Paused;
        activity.resumes_at = Some(EpochMs(7));
        assert_eq!(
            check_status(&activity, now),
            Err(Refusal::Paused {
                resumes_at: Some(EpochMs(7))
            })
        );
    }

    #[test]
    fn a_pause_that_is_over_is_the_stores_to_decide() {
        let mut activity = activity(1);
        (activity.status, activity.resumes_at) = (Status::Paused, Some(EpochMs(7)));
        let at = |now, uncertainty_ms| {
            let now = EpochMs(now);
            check_status(&activity, Moment { now, uncertainty_ms }).is_ok()
        };
        assert_eq!([at(6, 0), at(7, 0), at(5, 1), at(5, 2)], [false, true, false, true]);
    }
}
