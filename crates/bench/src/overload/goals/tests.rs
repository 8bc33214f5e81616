//! What an overload is held against.

use std::time::Instant;

use super::*;
use crate::bottleneck::Bottleneck;
use crate::client::{Answer, Unanswered};
use crate::outcome::Percentiles;
use crate::overload::{Memory, People};
use crate::tally::{Tally, Times};

fn ran(outcomes: &[(u16, u64)], took_ms: u64) -> LoadReport {
    let started = Instant::now();
    let mut tally = Tally::new(started);
    let times = Times {
        intended: started,
        sent: started,
        done: started + Duration::from_millis(took_ms),
    };
    for (status, count) in outcomes {
        for _ in 0..*count {
            let answer = Answer {
                status: *status,
                code: None,
                body: b"",
            };
            tally.record(
                0,
                times,
                if *status == 0 {
                    Err(Unanswered::Reset)
                } else {
                    Ok(answer)
                },
            );
        }
    }
    tally.report()
}

#[test]
fn only_orderly_refusals_are_allowed() {
    assert_eq!(
        forbidden(&ran(&[(202, 3), (429, 2), (410, 1), (503, 4)], 1)),
        [] as [&str; 0]
    );
    let said = forbidden(&ran(&[(202, 1), (500, 2), (502, 1), (0, 3)], 1));
    assert_eq!(
        said,
        [
            "2 answers 500",
            "1 answers 502",
            "3 requests without an answer: connection reset"
        ]
    );
}

/// A run whose best was 100 purchases a second.
fn of(
    bottleneck: Bottleneck,
    store_own_ms: Option<f64>,
    overload: LoadReport,
    recovered_after_s: Option<f64>,
) -> OverloadReport {
    OverloadReport {
        bottleneck,
        store_own_ms,
        capacity_per_s: 100.0,
        offered_per_s: 500.0,
        goodput: overload.accepted_per_s / 100.0,
        before: ran(&[(202, 1)], 5),
        overload,
        recovered_after_s,
        looks: Vec::new(),
        people: None,
        memory: Memory {
            before_bytes: 0,
            peak_bytes: 0,
            after_bytes: 0,
        },
        violations: Vec::new(),
        missed: Vec::new(),
    }
}

#[test]
fn goodput_and_latency_are_held_against_the_store() {
    let held = |overload| missed(&of(Bottleneck::Store { held_ms: 8 }, Some(10.0), overload, Some(0.0)));
    assert_eq!(held(ran(&[(202, 5), (503, 20)], 50)), [] as [&str; 0]);
    assert_eq!(held(ran(&[(202, 3), (503, 20)], 50)).len(), 1);
    assert_eq!(held(ran(&[(202, 50), (503, 20)], 70)).len(), 1);
}

#[test]
fn server_that_stays_slow_has_not_recovered() {
    let before = ran(&[(202, 9)], 10);
    assert!(is_normal(&ran(&[(202, 9)], 29), &before));
    assert!(!is_normal(&ran(&[(202, 9)], 40), &before));
    assert!(!is_normal(&ran(&[(202, 9), (503, 1)], 10), &before));
    let missed = missed(&of(Bottleneck::Processor, None, before, None));
    assert_eq!(missed, ["not back to normal within 10 s"]);
}

#[test]
fn rude_clients_are_held_against_the_recovery_alone() {
    let overload = ran(&[(202, 1), (503, 90)], 900);
    let rude = OverloadReport {
        people: Some(People {
            wanted: 500,
            came: 9,
            requests: 91,
            requests_each: 10.1,
            accepted: 1,
            left: 8,
            accepted_after: Percentiles::default(),
        }),
        ..of(Bottleneck::Store { held_ms: 8 }, Some(10.0), overload, Some(0.0))
    };
    assert_eq!(missed(&rude), [] as [&str; 0]);
    let late = OverloadReport {
        recovered_after_s: None,
        ..rude
    };
    assert_eq!(missed(&late), ["not back to normal within 10 s"]);
}
