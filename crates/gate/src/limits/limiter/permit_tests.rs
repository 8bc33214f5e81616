//! Permits that are given back.

use super::*;
use crate::limits::rate::{Limit, Rate};

const T0: EpochMs = EpochMs(1_750_000_000_000);

fn limiter(limit: &str) -> Limiter {
    Limiter::new(limit.parse().expect("a limit"), 8)
}

/// How many of 10 requests at `now` pass.
fn passed(limiter: &Limiter, now: EpochMs) -> usize {
    (0..10).filter(|_| limiter.check("a", now).is_ok()).count()
}

#[test]
fn what_is_given_back_was_never_taken() {
    let limiter = limiter("2/s burst 2");
    for _ in 0..10 {
        let permit = limiter.take("a", T0).expect("nothing was taken for good");
        limiter.give_back("a", permit, T0);
    }
    assert_eq!(passed(&limiter, T0), 2);
}

#[test]
fn permits_that_are_held_are_as_many_as_the_burst() {
    let limiter = limiter("2/s burst 2");
    let held = [limiter.take("a", T0), limiter.take("a", T0)].map(|taken| taken.expect("a burst of two"));
    assert!(limiter.take("a", T0).is_err() && limiter.check("a", T0).is_err());
    held.into_iter().for_each(|permit| limiter.give_back("a", permit, T0));
    assert_eq!(passed(&limiter, T0), 2);
}

#[test]
fn what_time_has_paid_is_not_paid_twice() {
    let limiter = limiter("1/s burst 2");
    let permit = limiter.take("a", T0).expect("the first");
    assert_eq!(passed(&limiter, T0.plus(1_000)), 2, "time has paid it");
    limiter.give_back("a", permit, T0.plus(1_000));
    assert_eq!(passed(&limiter, T0.plus(1_000)), 0);
}

#[test]
fn nothing_comes_back_to_a_key_that_was_pushed_out() {
    let limiter = limiter("1/min burst 2");
    let permit = limiter.take("a", T0).expect("the first");
    // Each owes more than the one.
    for key in 0..1_000 {
        let _taken = (limiter.check(key, T0), limiter.check(key, T0));
    }
    limiter.give_back("a", permit, T0);
    assert_eq!(passed(&limiter, T0), 2);
}

#[test]
fn where_nothing_was_limited_nothing_comes_back() {
    let limiter = limiter("off");
    let permit = limiter.take("a", T0).expect("no limit");
    limiter.set("1/min burst 1".parse().expect("a limit"));
    assert_eq!(passed(&limiter, T0), 1);
    limiter.give_back("a", permit, T0);
    assert_eq!(passed(&limiter, T0), 0);
}

proptest::proptest! {
    /// Of those that are kept, over every stretch of time: at most the burst, what the rate yields meanwhile, and what it yields while one
    /// that comes back is held.
    #[test]
    fn permits_that_come_back_bring_nobody_more_than_the_time_they_were_held(
        steps in proptest::collection::vec((0_i64..200, 0_usize..4), 1..200), per_s in 1_u32..20, burst in 1_u32..10,
    ) {
        let limiter = Limiter::new(Limit::Rate(Rate::per_second(per_s, burst).expect("in range")), 8);
        let (mut now, mut kept, mut held, mut held_ms_max) = (T0, Vec::new(), Vec::new(), 0);
        for (step_ms, action) in steps {
            now = now.plus(step_ms);
            match (action, held.pop()) {
                (0, last) => {
                    held.extend(last);
                    held.extend(limiter.take("a", now).map(|permit| (permit, now)));
                }
                (1, Some((permit, taken))) => {
                    held_ms_max = held_ms_max.max(now.since(taken));
                    limiter.give_back("a", permit, now);
                }
                (_, last) => {
                    held.extend(last);
                    kept.extend(limiter.check("a", now).map(|()| now));
                }
            }
        }
        for (at, first) in kept.iter().enumerate() {
            for (count, last) in kept[at..].iter().enumerate() {
                let yielded = (last.since(*first) + held_ms_max) as f64 * f64::from(per_s) / 1000.0;
                proptest::prop_assert!(count as f64 + 1.0 <= f64::from(burst) + yielded + 0.001);
            }
        }
    }
}
