//! What an overload is held against.

use super::*;
use crate::client::{Answer, Unanswered};
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
        ["2 answers 500", "1 answers 502", "3 requests without an answer: Reset"]
    );
}

#[test]
fn goodput_and_latency_are_held_against_the_store() {
    let held = |overload| {
        judge(
            Bottleneck::Store { held_ms: 8 },
            2.0,
            100.0,
            500.0,
            ran(&[(202, 1)], 5),
            overload,
            Some(0.0),
            Vec::new(),
        )
    };
    assert_eq!(held(ran(&[(202, 5), (503, 20)], 50)).missed, [] as [&str; 0]);
    assert_eq!(held(ran(&[(202, 3), (503, 20)], 50)).missed.len(), 1);
    assert_eq!(held(ran(&[(202, 50), (503, 20)], 70)).missed.len(), 1);
}

#[test]
fn server_that_stays_slow_has_not_recovered() {
    let before = ran(&[(202, 9)], 10);
    assert!(is_normal(&ran(&[(202, 9)], 29), &before));
    assert!(!is_normal(&ran(&[(202, 9)], 40), &before));
    assert!(!is_normal(&ran(&[(202, 9), (503, 1)], 10), &before));
    let report = judge(
        Bottleneck::Processor,
        2.0,
        1.0,
        2.0,
        before.clone(),
        before,
        None,
        Vec::new(),
    );
    assert_eq!(report.missed, ["not back to normal within 10 s"]);
}
