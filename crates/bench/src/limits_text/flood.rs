//! Buyers in a flood of forged requests, for a terminal.

use crate::flood::{FloodReport, P99_RATIO_MAX};
use crate::text::{line, row};
use crate::words::{grouped, reached_word};

pub(crate) fn flood_text(text: &mut String, report: &FloodReport) {
    let (offered, capacity) = (grouped(report.offered_per_s), grouped(report.capacity_per_s));
    line(
        text,
        &format!(
            "flood: {offered} honest purchases a second, alone and among as many forged requests; the server can do {capacity}"
        ),
    );
    let pair = |pair: &crate::flood::Pair| format!("{:.1} / {:.1}", pair.alone_ms, pair.flooded_ms);
    let pairs: Vec<String> = report.pairs.iter().map(pair).collect();
    row(text, "p99 alone / flooded", &format!("{} ms", pairs.join(", ")));
    let ratio = report.ratio();
    row(
        text,
        "ratio",
        &format!(
            "{ratio:.2} (median); wanted: at most {P99_RATIO_MAX}: {}",
            reached_word(ratio <= P99_RATIO_MAX)
        ),
    );
    let [before, after] = report.rss_bytes.map(|bytes| bytes >> 20);
    let (last, forged) = (grouped(report.last_forged as f64), grouped(report.forged as f64));
    row(
        text,
        "memory",
        &format!("{before} MiB before, {after} MiB after {last} forged requests alone; {forged} in all"),
    );
    if !report.is_whole() {
        let wanted = grouped(report.forged_wanted as f64);
        let (pairs, all) = (report.pairs.len(), report.pairs_wanted);
        row(
            text,
            "time was over",
            &format!("{pairs} of {all} pairs, {forged} of {wanted} forged requests"),
        );
    }
}
