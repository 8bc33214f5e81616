//! Bots against people, for a terminal.

use crate::bots::{BOTS, BotsReport, PRESSES};
use crate::text::{line, row};
use crate::words::{grouped, percentile_words};

pub(crate) fn bots_text(text: &mut String, reports: &[BotsReport]) {
    let Some(first) = reports.first() else {
        return;
    };
    let (units, honest) = (grouped(first.units as f64), grouped(first.honest as f64));
    line(
        text,
        &format!(
            "bots: {units} units, {BOTS} accounts of one /24 that press {PRESSES} times each, {honest} people once each"
        ),
    );
    for report in reports {
        let share = report.honest_share() * 100.0;
        let (people, bots) = (report.units_of_honest, report.units_of_bots);
        row(
            text,
            report.rules.words(),
            &format!("{share:.0} % of the units went to people ({people}, the farm {bots})"),
        );
        let [_, limited, sold_out] = report.bots_heard.map(|count| grouped(count as f64));
        row(text, "", &format!("the farm heard {limited} × 429, {sold_out} × 410"));
        row(
            text,
            "",
            &format!("people waited {}", percentile_words(&report.honest_latency)),
        );
    }
}
