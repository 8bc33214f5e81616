//! What a soak is held against.

use super::*;

fn judged(rss: impl Fn(u64) -> u64, journal: impl Fn(u64) -> u64) -> SoakReport {
    let holding = |number| Holding {
        rss_bytes: rss(number),
        descriptors: 20,
        folder_bytes: 0,
        journal_bytes: journal(number),
    };
    judge(&SoakConfig::usual("x"), (0..10).map(holding).collect(), Vec::new())
}

#[test]
fn slope_is_that_of_the_line_through_the_values() {
    assert_eq!(slope([5.0, 7.0, 9.0].into_iter()), 2.0);
    assert_eq!(slope([3.0, 3.0, 3.0].into_iter()), 0.0);
    assert_eq!(slope([1.0].into_iter()), 0.0);
}

#[test]
fn only_the_last_half_is_held_against_the_server() {
    let report = judged(|number| number.min(5) << 20, |_| 1000);
    assert_eq!((report.rss_slope_bytes, report.missed.len()), (0.0, 0));
    assert_eq!(
        judged(|number| number << 20, |_| 1000).missed,
        ["memory grows by 1024.0 KiB a sale"]
    );
    assert_eq!(judged(|_| 1, |number| number << 25).missed.len(), 1);
}
