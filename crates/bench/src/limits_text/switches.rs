//! The operator's switches at several nodes, for a terminal.

use crate::switches::{FOLLOWED_MS_MAX, Since, SwitchTimes, SwitchesReport};
use crate::text::{line, row};
use crate::words::{grouped, reached_word};

pub(crate) fn switches_text(text: &mut String, report: &SwitchesReport) {
    let SwitchesReport { nodes, repetitions, .. } = report;
    let (offered, capacity) = (grouped(report.offered_per_s), grouped(report.capacity_per_s));
    line(
        text,
        &format!(
            "switches: {nodes} nodes, {offered} new buyers a second come to them, of {capacity} that they can accept; each switch turned \
             {repetitions} times"
        ),
    );
    row(
        text,
        "ms behind the answer",
        "median     max  (behind the request)  at the node that was told",
    );
    for times in &report.times {
        row(text, &times.name, &times_words(times));
    }
    let reached = reached_word(report.missed.is_empty());
    row(
        text,
        "longest",
        &format!(
            "{:.0} ms; wanted: at most {FOLLOWED_MS_MAX:.0}: {reached}",
            report.longest_ms()
        ),
    );
    let counts = report.counts;
    row(
        text,
        "buyers",
        &format!(
            "{} answers, {} new buyers accepted, {} heard that a node is busy",
            grouped(counts.answers as f64),
            grouped(counts.accepted as f64),
            grouped(report.busy as f64)
        ),
    );
    for missed in &report.missed {
        row(text, "missed", missed);
    }
}

fn times_words(times: &SwitchTimes) -> String {
    let (median, max) = (times.settled_ms.median, times.settled_ms.max);
    let said = format!("{median:>6.0}  {max:>6.0}");
    match times.since {
        Since::Answer => format!("{said}  {:>20.0}  {:>23.0}", times.from_asking_ms_max, times.own_ms_max),
        Since::Moment => format!("{said}  behind the moment"),
        Since::FirstNode => format!("{said}  from the first node to the last"),
    }
}
