//! The grammar of limits, and which of two is the narrower one.

use super::*;

#[test]
fn limits_read_back_as_written() {
    for text in ["50/s burst 100", "30/min burst 5", "1000000/s burst 1000000", "off"] {
        assert_eq!(text.parse::<Limit>().expect("a limit").to_string(), text);
    }
    assert_eq!(
        "2/s".parse(),
        Ok(Limit::Rate(Rate::per_second(2, 2).expect("in range")))
    );
}

#[test]
fn whatever_is_no_limit_is_refused() {
    let bad = [
        "",
        "on",
        "OFF",
        "50",
        "/s",
        "0/s",
        "-1/s",
        "+1/s",
        "1.5/s",
        "5/h",
        "5/s burst",
        "5/s burst 0",
    ];
    for text in bad.into_iter().chain([
        "5/s burst 3 4",
        "5/s 3",
        "1000001/s",
        "5 /s",
        "99999999999/s",
        "5/s burst x",
    ]) {
        assert_eq!(text.parse::<Limit>(), Err(Error), "{text:?}");
    }
}

#[test]
fn interval_is_the_time_of_one_permit() {
    let interval = |text: &str| match text.parse().expect("a limit") {
        Limit::Rate(rate) => rate.interval_us(),
        Limit::Off => 0,
    };
    assert_eq!(interval("50/s"), 20_000);
    assert_eq!(interval("1/min"), 60_000_000);
    assert_eq!(interval("1000000/s"), 1);
    assert_eq!(interval("3/s"), 333_333);
}

#[test]
fn limit_is_narrower_where_it_lets_through_less_and_never_more() {
    let limit = |text: &str| text.parse::<Limit>().expect("a limit");
    let all = [
        "off",
        "50/s burst 100",
        "50/s burst 99",
        "49/s burst 100",
        "1/min burst 1",
    ]
    .map(limit);
    for (at, narrower) in [(1, 0), (2, 1), (3, 1), (4, 3), (4, 2), (4, 0)] {
        assert!(all[at].is_narrower_than(all[narrower]), "{at} {narrower}");
        assert!(!all[narrower].is_narrower_than(all[at]), "{narrower} {at}");
    }
    assert!(
        !all[2].is_narrower_than(all[3]) && !all[3].is_narrower_than(all[2]),
        "neither"
    );
    assert!(all.iter().all(|limit| !limit.is_narrower_than(*limit)));
}
