//! What outcomes add up to.

use super::*;

fn at(started: Instant, ms: u64) -> Times {
    let done = started + Duration::from_millis(ms);
    Times {
        intended: started,
        sent: started,
        done,
    }
}

fn answer(status: u16, body: &'static str) -> Result<Answer<'static>, Unanswered> {
    Ok(Answer {
        status,
        code: crate::wire::code_of(body.as_bytes()),
        body: body.as_bytes(),
    })
}

#[test]
fn threads_add_up() {
    let started = Instant::now();
    let (mut one, mut two) = (Tally::new(started), Tally::new(started));
    one.record(4, at(started, 10), answer(202, r#"{"code":0,"data":{"ticket":"t4"}}"#));
    two.record(2, at(started, 250), answer(202, r#"{"code":0,"data":{"ticket":"t2"}}"#));
    two.record(3, at(started, 500), answer(410, r#"{"code":40005}"#));
    two.record(5, at(started, 500), Err(Unanswered::Reset));
    one.merge(two);
    let report = one.report();
    assert_eq!((report.requests, report.answered, report.accepted), (4, 3, 2));
    assert_eq!(report.winners, [(2, "t2".into()), (4, "t4".into())]);
    assert_eq!(
        report.unanswered,
        [UnansweredCount {
            reason: Unanswered::Reset,
            count: 1
        }]
    );
    assert_eq!(
        report.series[0],
        Slot {
            accepted: 1,
            ..Slot::default()
        }
    );
    assert_eq!(
        report.series[5],
        Slot {
            sold_out: 1,
            unanswered: 1,
            ..Slot::default()
        }
    );
    assert_eq!(report.duration_s, 0.5);
    assert_eq!(report.last_accepted, Some(started + Duration::from_millis(250)));
}

#[test]
fn kinds_of_answers_are_bounded() {
    let started = Instant::now();
    let mut tally = Tally::new(started);
    for status in 1..=500 {
        tally.record(0, at(started, 1), answer(status, ""));
    }
    let report = tally.report();
    assert_eq!(report.outcomes.len(), KINDS_MAX + 1);
    assert_eq!(report.answered, 500);
}

#[test]
fn late_outcomes_stay_in_the_last_column() {
    let started = Instant::now();
    let mut tally = Tally::new(started);
    tally.record(0, at(started, 10_000_000), answer(200, ""));
    assert_eq!(tally.report().series.len(), SLOTS_MAX);
}
