//! A report, and a plan, for a terminal: two columns of plain text without colours.

use std::fmt::Write as _;

use crate::canonical::SaleReport;
use crate::limits_text::{of_limits, overload_text};
use crate::outcome::LoadReport;
use crate::plan::Plan;
use crate::ratios_text::ratios_text;
use crate::report::Report;
use crate::words::{audit_words, disk_words, grouped, last_order_words, percentile_words, results_words};

/// The whole report.
pub(crate) fn of_report(report: &Report) -> String {
    let mut text = String::new();
    if let Some(sale) = &report.sale {
        sale_text(&mut text, sale);
    }
    if !report.ratios.is_empty() {
        ratios_text(&mut text, &report.ratios);
    }
    for overload in &report.overloads {
        overload_text(&mut text, overload);
    }
    of_limits(&mut text, report);
    for violation in report.violations() {
        line(&mut text, &format!("VIOLATED: {violation}"));
    }
    line(&mut text, "Client and server shared this machine's cores.");
    text
}

pub(crate) fn line(text: &mut String, said: &str) {
    text.push_str(said);
    text.push('\n');
}

/// A label and what it says, in two columns.
pub(crate) fn row(text: &mut String, label: &str, said: &str) {
    writeln!(text, "  {label:<22}{said}").expect("writing to a string can't fail");
}

fn sale_text(text: &mut String, sale: &SaleReport) {
    let load = &sale.load;
    let (rate, last_order) = (grouped(load.requests_per_s), last_order_words(sale));
    line(text, &format!("{rate} requests/s, {last_order}"));
    let (units, users) = (grouped(sale.units as f64), grouped(sale.users as f64));
    row(
        text,
        "sale",
        &format!(
            "{units} units, {users} users, {} connections, seed {}",
            sale.connections, sale.seed
        ),
    );
    load_rows(text, load);
    let seen = &sale.settlement.seen;
    let known =
        |value: Option<f64>, unit: &str| value.map_or("unknown".to_owned(), |value| format!("{value:.2}{unit}"));
    let deepest = seen.queue_depth_max.map_or("unknown".to_owned(), grouped);
    let settled_ms = sale.settlement.settled_after_ms;
    row(
        text,
        "settlement",
        &format!(
            "settled {settled_ms:.0} ms after the last answer, oldest intent {}, deepest queue {deepest}",
            known(seen.oldest_s_max, " s")
        ),
    );
    if let Some(cost) = sale.cost {
        let (before, peak) = (cost.rss_before_bytes >> 20, cost.rss_peak_bytes >> 20);
        row(
            text,
            "server",
            &format!(
                "{:.1} µs CPU a request, memory {before} MiB before, {peak} MiB at most",
                cost.cpu_us_per_request
            ),
        );
    }
    if let Some(disk) = &sale.disk {
        row(text, "disk", &disk_words(disk));
    }
    row(text, "audit", &audit_words(&sale.audit));
    row(text, "results", &results_words(sale));
    for missed in sale.missed() {
        row(text, "missed", &missed);
    }
}

pub(crate) fn load_rows(text: &mut String, load: &LoadReport) {
    let (requests, seconds) = (grouped(load.requests as f64), load.duration_s);
    row(
        text,
        "load",
        &format!(
            "{requests} requests in {seconds:.2} s, {}/s accepted",
            grouped(load.accepted_per_s)
        ),
    );
    for outcome in &load.outcomes {
        let code = outcome.code.map_or(String::new(), |code| format!(" code {code}"));
        row(
            text,
            &format!("  {}{code}", outcome.status),
            &grouped(outcome.count as f64),
        );
    }
    for unanswered in &load.unanswered {
        row(
            text,
            "  no answer",
            &format!("{} ({})", unanswered.count, unanswered.reason),
        );
    }
    row(text, "latency", &percentile_words(&load.latency));
    row(text, "latency of accepted", &percentile_words(&load.accepted_latency));
}

/// A plan for a terminal.
pub fn plan_text(plan: &Plan) -> String {
    let mut text = String::new();
    let crowd = &plan.crowd;
    let (users, total) = (grouped(crowd.users as f64), grouped(plan.requests_total));
    line(
        &mut text,
        &format!(
            "{users} users × {} clicks in {} s = {total} requests",
            crowd.clicks_per_user, crowd.seconds
        ),
    );
    row(&mut text, "average", &format!("{}/s", grouped(plan.average_per_s)));
    let (peak, head) = (grouped(plan.peak_per_s), crowd.head_seconds);
    row(
        &mut text,
        "peak",
        &format!(
            "{peak}/s in the first {head} s ({} × the average, or all of them in that time)",
            crowd.peak_factor
        ),
    );
    row(
        &mut text,
        "to prepare",
        &format!(
            "{}/s with {:.0} % margin",
            grouped(plan.prepared_per_s),
            crowd.margin * 100.0
        ),
    );
    let figures = &plan.figures;
    row(
        &mut text,
        "nodes",
        &format!("{} at {}/s each", plan.nodes, grouped(figures.node_requests_per_s)),
    );
    row(
        &mut text,
        "stores",
        &format!(
            "{} at {} claims/s each",
            plan.stores,
            grouped(figures.store_claims_per_s)
        ),
    );
    if let Some(seconds) = plan.orders_written_in_s {
        row(
            &mut text,
            "orders",
            &format!("written in {seconds:.1} s at {}/s", grouped(figures.orders_per_s)),
        );
    }
    text
}
