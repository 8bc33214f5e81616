//! Ratios of pairs, and what they are held against.

use super::*;
use crate::figures::RunFigures;

fn pair(rate: f64, cpu: f64) -> Pair {
    let figures = |requests_per_s, cpu_us_per_request| RunFigures {
        requests_per_s,
        cpu_us_per_request,
        p50_ms: 1.0,
        p99_ms: 2.0,
    };
    Pair {
        bare: figures(1000.0, 10.0),
        product: figures(1000.0 * rate, 10.0 * cpu),
    }
}

fn of_pairs(pairs: Vec<Pair>) -> RatioReport {
    let run = RunSize {
        requests: 100,
        connections: 4,
    };
    let disk = DiskProbe {
        writes: 1,
        write_bytes: 1,
        min_ms: 1.0,
        median_ms: 1.0,
        p99_ms: 1.0,
        max_ms: 1.0,
    };
    RatioReport::of(Comparison::Refusals, run, pairs, Beneath::Disk(disk), Vec::new())
}

#[test]
fn median_and_spread_come_from_the_pairs() {
    let report = of_pairs(vec![
        pair(0.9, 1.0),
        pair(0.5, 1.5),
        pair(0.85, 1.2),
        pair(0.81, 1.1),
        pair(1.0, 1.0),
    ]);
    assert_eq!((report.rate.min, report.rate.median, report.rate.max), (0.5, 0.85, 1.0));
    assert!(report.reached);
}

#[test]
fn either_missed_goal_is_a_miss() {
    assert!(!of_pairs(vec![pair(0.79, 1.0)]).reached);
    assert!(!of_pairs(vec![pair(0.9, 1.3)]).reached);
}

#[test]
fn even_number_of_values_has_the_mean_of_the_middle() {
    assert_eq!(
        Spread::of([4.0, 1.0, 2.0, 3.0].into_iter()),
        Spread {
            min: 1.0,
            median: 2.5,
            max: 4.0
        }
    );
}
