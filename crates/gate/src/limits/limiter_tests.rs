//! What a limiter lets through, in bounded memory.

use super::*;
use crate::limits::rate::Rate;

const T0: EpochMs = EpochMs(1_750_000_000_000);

fn limiter(limit: &str, slots: usize) -> Limiter {
    Limiter::new(limit.parse().expect("a limit"), slots)
}

/// How many of `count` requests at `now` pass.
fn passed(limiter: &Limiter, key: &str, now: EpochMs, count: usize) -> usize {
    (0..count).filter(|_| limiter.check(key, now).is_ok()).count()
}

#[test]
fn burst_passes_at_once_and_then_the_rate() {
    let limiter = limiter("2/s burst 5", 1024);
    assert_eq!(passed(&limiter, "a", T0, 20), 5);
    let quota = Quota { burst: 5, window_s: 3 };
    assert_eq!(limiter.check("a", T0), Err(Wait { ms: 500, quota }));
    assert_eq!(limiter.check("a", T0.plus(499)), Err(Wait { ms: 1, quota }));
    assert_eq!(passed(&limiter, "a", T0.plus(500), 20), 1);
    assert_eq!(passed(&limiter, "a", T0.plus(100_000), 20), 5);
    assert_eq!(passed(&limiter, "b", T0, 20), 5);
}

#[test]
fn refused_requests_do_not_prolong_the_wait() {
    let limiter = limiter("1/s burst 1", 1024);
    assert_eq!(passed(&limiter, "a", T0, 1000), 1);
    assert_eq!(passed(&limiter, "a", T0.plus(1000), 1), 1);
}

#[test]
fn limit_changes_while_running() {
    let limiter = limiter("1/min burst 60", 1024);
    assert_eq!(passed(&limiter, "a", T0, 100), 60);
    limiter.set("1/s burst 3".parse().expect("a limit"));
    assert_eq!(passed(&limiter, "a", T0, 100), 3);
    limiter.set(Limit::Off);
    assert_eq!(passed(&limiter, "a", T0, 100), 100);
    limiter.set("1/s burst 3".parse().expect("a limit"));
    assert_eq!(passed(&limiter, "a", T0, 100), 0);
}

#[test]
fn clock_set_back_does_not_lock_a_key_out() {
    let limiter = limiter("1/s burst 3", 1024);
    assert_eq!(passed(&limiter, "a", T0, 3), 3);
    assert_eq!(passed(&limiter, "a", T0.plus(-3_600_000), 9), 3);
    assert_eq!(passed(&limiter, "a", T0.plus(40 * 86_400_000), 9), 3);
}

#[test]
fn flood_of_made_up_keys_does_not_free_a_limited_one() {
    let limiter = limiter("1/s burst 3", 64);
    assert_eq!(passed(&limiter, "greedy", T0, 9), 3);
    let newcomers = (0..100_000).filter(|n| limiter.check(n, T0).is_ok()).count();
    // A handful may share the word of the greedy one; none is refused for want of room.
    assert!(99_990 < newcomers, "{newcomers}");
    assert_eq!(passed(&limiter, "greedy", T0, 9), 0);
}

#[test]
fn keys_are_kept_while_the_table_is_a_third_full() {
    let limiter = limiter("1/min burst 1", 1 << 16);
    let pass = |now| (0..20_000).filter(|n| limiter.check(n, now).is_ok()).count();
    assert!(19_990 < pass(T0));
    assert!(pass(T0) < 100);
    assert!(19_990 < pass(T0.plus(60_000)));
}

#[test]
fn cores_share_one_burst() {
    let limiter = limiter("1/min burst 1000", 1024);
    let count = || passed(&limiter, "a", T0, 1000);
    let total: usize = std::thread::scope(|scope| {
        let cores: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
        cores.into_iter().map(|core| core.join().expect("no panic")).sum()
    });
    // A check that loses 64 swaps in a row refuses without taking a permit: never more than the burst, seldom fewer.
    assert!(total <= 1000 && 900 < total, "{total}");
}

proptest::proptest! {
    /// The promise of a rate with a burst, over every stretch of time: at most the burst and what the rate yields meanwhile.
    #[test]
    fn no_stretch_of_time_passes_more_than_burst_and_rate(
        steps_ms in proptest::collection::vec(0_i64..400, 1..200), per_s in 1_u32..20, burst in 1_u32..10,
    ) {
        let limiter = Limiter::new(Limit::Rate(Rate::per_second(per_s, burst).expect("in range")), 8);
        let mut now = T0;
        let mut passes = Vec::new();
        for step_ms in steps_ms {
            now = now.plus(step_ms);
            if limiter.check("a", now).is_ok() {
                passes.push(now);
            }
        }
        for (at, first) in passes.iter().enumerate() {
            for (count, last) in passes[at..].iter().enumerate() {
                let yielded = last.since(*first) as f64 * f64::from(per_s) / 1000.0;
                proptest::prop_assert!(count as f64 + 1.0 <= f64::from(burst) + yielded + 0.001);
            }
        }
    }
}

#[test]
fn largest_limits_do_not_overflow() {
    for limit in ["1/min burst 1000000", "1000000/s burst 1000000"] {
        let limiter = limiter(limit, 8);
        assert_eq!(passed(&limiter, "a", T0, 10_000), 10_000, "{limit}");
    }
}
