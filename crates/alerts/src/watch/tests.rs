//! What is told, and when.

use super::*;

const RULES: Rules = Rules {
    down_after_ms: 5_000,
    repeat_after_ms: 60_000,
};

fn reading(kind: Kind, level: u64) -> Reading {
    Reading {
        kind,
        activity: None,
        level,
        said: format!("level {level}"),
    }
}

/// What is told of levels at moments: `+` raised, `-` resolved, `.` nothing.
fn check(kind: Kind, levels: &[(i64, u64)], expect: &str) {
    let mut watch = Watch::new(RULES);
    let told = levels.iter().map(|(at, level)| {
        let alerts = watch.observe(EpochMs(*at), &[reading(kind, *level)]);
        match alerts.as_slice() {
            [] => '.',
            [alert] if alert.turn == Turn::Raised => '+',
            [_] => '-',
            _ => '?',
        }
    });
    assert_eq!(told.collect::<String>(), expect, "{kind:?} {levels:?}");
}

#[test]
fn an_outage_is_told_once_it_has_lasted_and_once_when_it_is_over() {
    for kind in [Kind::StoreDown, Kind::DatabaseDown] {
        check(
            kind,
            &[
                (0, 1),
                (4_999, 1),
                (5_000, 1),
                (6_000, 1),
                (900_000, 1),
                (900_001, 0),
                (900_002, 0),
            ],
            "..+..-.",
        );
        check(
            kind,
            &[(0, 1), (4_999, 1), (5_000, 0), (5_001, 1), (10_000, 1), (10_001, 1)],
            ".....+",
        );
    }
}

#[test]
fn everything_else_is_told_at_once() {
    for kind in [Kind::DeadLetters, Kind::AuditDrift, Kind::ActivityFenced] {
        check(kind, &[(0, 0), (1, 1), (2, 1), (3, 0), (4, 0)], ".+.-.");
    }
}

#[test]
fn more_dead_letters_are_news_and_fewer_are_not() {
    check(
        Kind::DeadLetters,
        &[
            (0, 1),
            (60_000, 1),
            (60_001, 2),
            (120_001, 1),
            (120_002, 2),
            (120_003, 3),
        ],
        "+.+..+",
    );
}

#[test]
fn what_comes_and_goes_is_told_once_in_a_while_and_at_last_if_it_stays() {
    check(
        Kind::StoreDown,
        &[
            (0, 1),
            (5_000, 1),
            (6_000, 0),
            (7_000, 1),
            (12_000, 1),
            (13_000, 0),
            (14_000, 1),
            (64_999, 1),
            (65_000, 1),
            (66_000, 0),
        ],
        ".+-.....+-",
    );
}

#[test]
fn a_clock_that_goes_back_silences_nothing() {
    check(
        Kind::DeadLetters,
        &[(1_000_000, 1), (1_000_001, 0), (500_000, 1)],
        "+-+",
    );
}

#[test]
fn sales_are_told_apart_and_an_alert_says_since_when() {
    let mut watch = Watch::new(RULES);
    let of = |id, level| Reading {
        activity: ActivityId::new(id).ok(),
        ..reading(Kind::ActivityFenced, level)
    };
    assert_eq!(watch.observe(EpochMs(1), &[of(7, 1), of(8, 0)]).len(), 1);
    assert_eq!(
        watch.observe(EpochMs(2), &[of(7, 1), of(8, 1)])[0].activity,
        ActivityId::new(8).ok()
    );
    let over = watch.observe(EpochMs(9), &[of(7, 0), of(8, 1)]);
    assert_eq!(
        (over.len(), over[0].since, over[0].at, over[0].turn),
        (1, EpochMs(1), EpochMs(9), Turn::Resolved)
    );
}

#[test]
fn what_is_remembered_is_bounded_and_forgotten_in_the_end() {
    let mut watch = Watch::new(RULES);
    let all: Vec<_> = (1..=2_000)
        .map(|id| Reading {
            activity: ActivityId::new(id).ok(),
            ..reading(Kind::AuditDrift, 1)
        })
        .collect();
    assert_eq!(watch.observe(EpochMs(0), &all).len(), THINGS_MAX);
    assert_eq!(watch.observe(EpochMs(FORGET_AFTER_MS), &[]), []);
    assert_eq!(watch.things.len(), 0);
}
