//! Facts about shares that are lowered and raised again.

use super::*;

const RULE: AutoAdmitRule = AutoAdmitRule {
    slow_us: 1_000,
    step: 0.1,
};
const SLOW: StoreReading = StoreReading {
    steps: 10,
    slow: 1,
    late: 1,
    busy: 1.0,
    claims: 100,
};
const BETWEEN: StoreReading = StoreReading { slow: 0, ..SLOW };
const QUICK: StoreReading = StoreReading {
    slow: 0,
    late: 0,
    ..SLOW
};

fn activity(id: u64) -> ActivityId {
    ActivityId::new(id).expect("in range")
}

/// The shares of two sales after each second, in hundredths.
fn shares_of_two(seconds: &[[StoreReading; 2]]) -> Vec<[u64; 2]> {
    let mut ratios = AutoAdmitRatios::default();
    let mut second = |sales: &[StoreReading; 2]| {
        let sales = BTreeMap::from([(activity(1), sales[0]), (activity(2), sales[1])]);
        let shares = ratios.second(Some(RULE), true, &sales);
        [1, 2].map(|id| (shares.get(&activity(id)).unwrap_or(&1.0) * 100.0).round() as u64)
    };
    seconds.iter().map(&mut second).collect()
}

/// The same of a sale that is alone.
fn shares(seconds: &[StoreReading]) -> Vec<u64> {
    let seconds: Vec<_> = seconds
        .iter()
        .map(|reading| [*reading, StoreReading::default()])
        .collect();
    shares_of_two(&seconds).into_iter().map(|[share, _]| share).collect()
}

#[test]
fn a_slow_store_halves_the_share_down_to_a_floor_from_the_second_second_on() {
    assert_eq!(shares(&[SLOW; 7]), [100, 50, 25, 13, 6, 5, 5]);
}

#[test]
fn one_slow_second_changes_nothing() {
    assert_eq!(shares(&[SLOW, BETWEEN, SLOW, QUICK, SLOW]), [100; 5]);
}

#[test]
fn the_share_rises_step_by_step_once_the_store_is_quick_and_falls_at_once_where_it_is_slow_again() {
    let idle = StoreReading::default();
    let seconds = [
        SLOW, SLOW, BETWEEN, BETWEEN, QUICK, idle, QUICK, SLOW, idle, idle, idle, idle, idle, idle, idle,
    ];
    let expect = [100, 50, 50, 50, 60, 70, 80, 40, 50, 60, 70, 80, 90, 100, 100];
    assert_eq!(shares(&seconds), expect);
}

#[test]
fn a_store_with_little_to_do_is_not_relieved() {
    let lazy = StoreReading { busy: 0.4, ..SLOW };
    assert_eq!(shares(&[lazy, lazy, lazy]), [100, 100, 100]);
    assert_eq!(shares(&[SLOW, SLOW, lazy]), [100, 50, 60]);
}

#[test]
fn one_step_in_a_hundred_may_take_long() {
    let of = |steps, slow| StoreReading { steps, slow, ..SLOW };
    assert_eq!(shares(&[of(200, 2); 2]), [100, 100]);
    assert_eq!(shares(&[of(200, 3); 2]), [100, 50]);
    assert_eq!(
        [999, 1_000, 1_001].map(|us| RULE.is_slow(Duration::from_micros(us))),
        [false, false, true]
    );
    assert_eq!(
        [700, 701].map(|us| RULE.is_late(Duration::from_micros(us))),
        [false, true]
    );
}

#[test]
fn a_sale_whose_server_is_slow_lowers_the_share_of_no_other() {
    assert_eq!(shares_of_two(&[[SLOW, QUICK]; 3]), [[100, 100], [50, 100], [25, 100]]);
}

#[test]
fn of_sales_on_one_slow_server_those_pay_that_bring_most_claims() {
    let calm = StoreReading { claims: 10, ..SLOW };
    assert_eq!(shares_of_two(&[[SLOW, calm]; 3]), [[100, 100], [50, 100], [25, 100]]);
    assert_eq!(shares_of_two(&[[SLOW, SLOW]; 3]), [[100, 100], [50, 50], [25, 25]]);
    // The hot one has been lowered to what the other has, and that does not do.
    let tamed = StoreReading { claims: 9, ..SLOW };
    let seconds = [[SLOW, calm], [SLOW, calm], [tamed, calm]];
    assert_eq!(shares_of_two(&seconds), [[100, 100], [50, 100], [50, 50]]);
}

#[test]
fn nothing_is_learned_from_a_store_that_does_not_answer() {
    let mut ratios = AutoAdmitRatios::default();
    let mut second = |is_up, reading| {
        let sales = BTreeMap::from([(activity(1), reading)]);
        let shares = ratios.second(Some(RULE), is_up, &sales);
        shares.get(&activity(1)).copied()
    };
    assert_eq!([second(true, SLOW), second(false, SLOW), second(true, SLOW)], [None; 3]);
    assert_eq!(second(true, SLOW), Some(0.5));
    assert_eq!([second(false, SLOW), second(false, QUICK)], [Some(0.5); 2]);
    assert_eq!(second(true, QUICK), Some(0.6));
}

#[test]
fn without_a_rule_everybody_is_let_in_at_once() {
    let mut ratios = AutoAdmitRatios::default();
    let sales = BTreeMap::from([(activity(1), SLOW)]);
    for _ in 0..3 {
        ratios.second(Some(RULE), true, &sales);
    }
    assert!(ratios.second(None, true, &sales).is_empty());
    let first = ratios.second(Some(RULE), true, &sales);
    assert!(first.is_empty(), "what was before is forgotten: {first:?}");
}
