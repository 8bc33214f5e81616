//! Phases against their deadlines, in core time that the tests set.

use std::task::Waker;
use std::time::Duration;

use super::*;
use crate::deadlines::Deadlines;
use crate::limits::Limits;

fn watch() -> (Watch, Deadlines) {
    let limits = Limits {
        first_byte_timeout: Duration::from_secs(4),
        header_timeout: Duration::from_secs(2),
        idle_timeout: Duration::from_secs(8),
        body_timeout: Duration::from_secs(2),
        write_stall_timeout: Duration::from_secs(3),
        ..Limits::default()
    };
    (Watch::new(Arc::default()), Deadlines::new(&limits))
}

fn advance(watch: &Watch, ms: u64) {
    watch.core.alive_ms.fetch_add(ms, Relaxed);
}

#[test]
fn each_phase_has_its_own_deadline() {
    let (watch, deadlines) = watch();
    advance(&watch, 4_000);
    assert_eq!(watch.judge(&deadlines), None);
    watch.received(b"G");
    advance(&watch, 2_000);
    assert_eq!(watch.judge(&deadlines), None);
    watch.begin_request();
    advance(&watch, 1_000_000);
    assert_eq!(watch.judge(&deadlines), None, "a handler has its own limits");
    watch.end_answer();
    advance(&watch, 8_000);
    assert_eq!(watch.judge(&deadlines), None);
    advance(&watch, 251);
    assert_eq!(watch.judge(&deadlines), Some(Verdict::Silent));
    assert_eq!(watch.judge(&deadlines), None, "judged once");
}

#[test]
fn a_trickled_head_gains_no_time() {
    let (watch, deadlines) = watch();
    for _ in 0..3 {
        watch.received(b"G");
        assert_eq!(watch.judge(&deadlines), None);
        advance(&watch, 751);
    }
    assert_eq!(watch.judge(&deadlines), Some(Verdict::SlowHead));
}

#[test]
fn any_progress_ends_a_stall() {
    let (watch, deadlines) = watch();
    let context = Context::from_waker(Waker::noop());
    watch.received(b"G");
    watch.begin_request();
    watch.write_waits(&context);
    advance(&watch, 3_000);
    watch.write_waits(&context);
    assert_eq!(watch.judge(&deadlines), None);
    watch.write_moved();
    advance(&watch, 1_000);
    assert_eq!(watch.judge(&deadlines), None);
    watch.write_waits(&context);
    advance(&watch, 3_251);
    assert_eq!(watch.judge(&deadlines), Some(Verdict::Stalled));
}

#[test]
fn a_late_body_fails_its_reader_once() {
    let (watch, deadlines) = watch();
    watch.begin_body();
    advance(&watch, 2_250);
    assert!(!watch.judge_body(&deadlines));
    advance(&watch, 1);
    assert!(watch.judge_body(&deadlines));
    assert!(watch.body_expired());
    assert!(!watch.judge_body(&deadlines));
}

#[test]
fn draining_waits_silence_out_only_briefly() {
    let (watch, deadlines) = watch();
    advance(&watch, 501);
    assert_eq!(watch.judge(&deadlines), None);
    let cut = deadlines.cut(Duration::from_millis(500));
    assert_eq!(watch.judge(&cut), Some(Verdict::Silent));
}
