//! Which answer says what, and when a node has followed.

use std::time::Duration;

use super::*;

const SHUT: Turn = Turn {
    switch: Switch::Entrance,
    on: true,
};

fn said(code: i32) -> Said {
    Said::of(Some(code), b"{}")
}

/// A new buyer's answer at node 0, sent and come at these milliseconds.
fn heard(begun: Instant, code: i32, sent_ms: u64, at_ms: u64) -> Heard {
    Heard {
        node: 0,
        who: Who::New,
        said: said(code),
        sent: begun + Duration::from_millis(sent_ms),
        at: begun + Duration::from_millis(at_ms),
    }
}

#[test]
fn a_node_has_settled_with_the_first_answer_behind_the_last_that_contradicts() {
    let begun = Instant::now();
    let ms = |ms| Some(begun + Duration::from_millis(ms));
    let answers = [
        heard(begun, 40_006, 0, 9),
        heard(begun, 0, 10, 20),
        heard(begun, 40_006, 30, 40),
        heard(begun, 0, 50, 60),
        heard(begun, 40_006, 45, 65),
        heard(begun, 40_006, 70, 80),
        // Sent before the change was asked for: it may have been on its way.
        heard(begun, 0, 5, 90),
    ];
    let since = begun + Duration::from_millis(10);
    let at = AtNode::of(&answers, SHUT, 0, since);
    let expected = AtNode {
        shown: ms(40),
        settled: ms(80),
        contradicted: ms(50),
        contradictions: 2,
    };
    assert_eq!(at, expected);
    assert_eq!(AtNode::of(&answers, SHUT, 1, since), AtNode::default());
}

#[test]
fn an_answer_shows_a_switch_contradicts_it_or_is_wrong() {
    let now = Instant::now();
    let verdict = |turn: Turn, who, code| {
        turn.verdict(&Heard {
            who,
            ..heard(now, code, 0, 0)
        })
    };
    let turn = |switch, on| Turn { switch, on };
    for (turn, who, code, expected) in [
        (SHUT, Who::New, 40_006, Verdict::Shows),
        (SHUT, Who::New, 0, Verdict::Contradicts),
        (SHUT, Who::New, 50_300, Verdict::Busy),
        (SHUT, Who::New, 40_005, Verdict::Wrong),
        (SHUT, Who::Marked, 40_006, Verdict::Unrelated),
        (turn(Switch::Entrance, false), Who::New, 0, Verdict::Shows),
        (turn(Switch::Entrance, false), Who::New, 40_004, Verdict::Wrong),
        (turn(Switch::Pause, true), Who::Marked, 40_006, Verdict::Wrong),
        (turn(Switch::Pause, true), Who::Marked, 40_004, Verdict::Unrelated),
        (turn(Switch::BlockUser, true), Who::Marked, 40_300, Verdict::Shows),
        (turn(Switch::BlockUser, true), Who::New, 40_300, Verdict::Wrong),
        (turn(Switch::BlockUser, false), Who::Marked, 40_004, Verdict::Shows),
        (turn(Switch::AdmitRatio, true), Who::New, 50_300, Verdict::Shows),
        // A limit that does not say whom it counts is not the one that was set.
        (turn(Switch::LimitUser, true), Who::Marked, 40_003, Verdict::Wrong),
    ] {
        assert_eq!(verdict(turn, who, code), expected, "{turn} {who:?} {code}");
    }
}

#[test]
fn a_limit_says_whom_it_counts() {
    let said = Said::of(Some(40_003), br#"{"code":40003,"data":{"scope":"activity"}}"#);
    assert_eq!(said, Switch::LimitActivity.says());
    assert_eq!(Said::of(None, b"<html>").code, -1);
}
