//! What a benchmark says at its end: as text for a terminal, as one JSON document, as a page. It decides the exit code, too.

use std::fmt::Write as _;

use serde::Serialize;

use crate::canonical::SaleReport;
use crate::comparison::{Comparison, RatioReport};
use crate::disk::DiskProbe;
use crate::html;
use crate::outcome::{LoadReport, Percentiles};
use crate::overload::{Bottleneck, OverloadReport};
use crate::plan::Plan;

/// Everything that one call of the benchmark has measured.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// The sale.
    pub sale: Option<SaleReport>,
    /// Comparisons with the bare listener.
    pub ratios: Vec<RatioReport>,
    /// Overloads.
    pub overloads: Vec<OverloadReport>,
}

impl Report {
    /// What must hold and doesn't, of all parts.
    pub fn violations(&self) -> Vec<&str> {
        let sale = self.sale.iter().flat_map(|sale| &sale.violations);
        let ratios = self.ratios.iter().flat_map(|ratio| &ratio.violations);
        let overloads = self.overloads.iter().flat_map(|overload| &overload.violations);
        sale.chain(ratios).chain(overloads).map(String::as_str).collect()
    }

    /// 3 where a checked condition is violated, else 0. A missed speed alone is no violation.
    pub fn exit_code(&self) -> u8 {
        if self.violations().is_empty() { 0 } else { 3 }
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if let Some(sale) = &self.sale {
            sale_text(&mut text, sale);
        }
        if !self.ratios.is_empty() {
            ratios_text(&mut text, &self.ratios);
        }
        for overload in &self.overloads {
            overload_text(&mut text, overload);
        }
        for violation in self.violations() {
            line(&mut text, &format!("VIOLATED: {violation}"));
        }
        line(&mut text, "Client and server shared this machine's cores.");
        text
    }

    /// One JSON document; `violations` and `exit_code` stand at its top.
    pub fn json(&self) -> String {
        let whole = serde_json::json!({"exit_code": self.exit_code(), "violations": self.violations(), "report": self});
        format!("{whole:#}\n")
    }

    /// A page that needs nothing but itself: no script, no font, no image from elsewhere.
    pub fn html(&self) -> String {
        html::page(self)
    }
}

fn line(text: &mut String, said: &str) {
    text.push_str(said);
    text.push('\n');
}

/// A label and what it says, in two columns.
fn row(text: &mut String, label: &str, said: &str) {
    writeln!(text, "  {label:<22}{said}").expect("writing to a string can't fail");
}

fn sale_text(text: &mut String, sale: &SaleReport) {
    let load = &sale.load;
    let last_order = sale
        .settlement
        .last_order_after_ms
        .map_or("unknown".to_owned(), |ms| format!("{ms:.0} ms"));
    line(
        text,
        &format!(
            "{}/s, last order {last_order} after the last acceptance",
            grouped(load.requests_per_s)
        ),
    );
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
    let audit = &sale.audit;
    row(
        text,
        "audit",
        &format!(
            "total {} = left {} + queued {} + dead {} + live orders {} + returned {}; balanced: {}",
            audit.stock_total,
            audit.stock_left,
            audit.queued,
            audit.dead,
            audit.orders_live,
            audit.returned,
            audit
                .balanced
                .map_or("unknown", |balanced| if balanced { "yes" } else { "no" })
        ),
    );
    row(text, "results", &format!("{} fetched", sale.results_checked));
    for missed in sale.missed() {
        row(text, "missed", &missed);
    }
}

fn load_rows(text: &mut String, load: &LoadReport) {
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
            &format!("{} ({:?})", unanswered.count, unanswered.reason),
        );
    }
    row(text, "latency", &percentile_words(&load.latency));
    row(text, "latency of accepted", &percentile_words(&load.accepted_latency));
}

fn ratios_text(text: &mut String, ratios: &[RatioReport]) {
    line(
        text,
        "against the bare listener: median (min to max) of interleaved pairs",
    );
    for ratio in ratios {
        let RatioWords { rate, cpu } = RatioWords::of(ratio);
        let wanted_cpu = ratio
            .goal
            .cpu_max
            .map_or(String::new(), |most| format!(", CPU at most {most:.2}"));
        let reached = if ratio.reached { "reached" } else { "missed" };
        row(
            text,
            comparison_name(ratio.comparison),
            &format!("rate × {rate}, CPU a request × {cpu}"),
        );
        row(
            text,
            "",
            &format!(
                "wanted: rate at least {:.2}{wanted_cpu}: {reached}",
                ratio.goal.rate_min
            ),
        );
        let (pairs, requests) = (ratio.pairs.len(), grouped(ratio.requests as f64));
        row(
            text,
            "",
            &format!(
                "{pairs} pairs of {requests} requests, {} connections; {}",
                ratio.connections,
                disk_words(&ratio.disk)
            ),
        );
    }
}

/// Rate and CPU as "median (min to max)".
pub(crate) struct RatioWords {
    pub(crate) rate: String,
    pub(crate) cpu: String,
}

impl RatioWords {
    pub(crate) fn of(ratio: &RatioReport) -> Self {
        let words = |spread: crate::comparison::Spread| {
            format!("{:.2} ({:.2} to {:.2})", spread.median, spread.min, spread.max)
        };
        Self {
            rate: words(ratio.rate),
            cpu: words(ratio.cpu),
        }
    }
}

fn overload_text(text: &mut String, overload: &OverloadReport) {
    let (offered, capacity) = (grouped(overload.offered_per_s), grouped(overload.capacity_per_s));
    line(
        text,
        &format!(
            "overload: {offered}/s offered to a server whose {} {capacity}/s",
            bottleneck_words(overload.bottleneck)
        ),
    );
    load_rows(text, &overload.overload);
    row(
        text,
        "usual latency",
        &percentile_words(&overload.before.accepted_latency),
    );
    row(text, "goodput", &format!("{:.2} of the best", overload.goodput));
    let recovered = overload
        .recovered_after_s
        .map_or("not in time".to_owned(), |seconds| format!("{seconds:.1} s"));
    row(text, "back to normal after", &recovered);
    for missed in &overload.missed {
        row(text, "missed", missed);
    }
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

/// What a comparison is called.
pub(crate) fn comparison_name(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Refusals => "refusals",
        Comparison::Acceptances => "accepted purchases",
        Comparison::ActivityPage => "activity page",
        Comparison::ResultPoll => "result poll",
    }
}

fn bottleneck_words(bottleneck: Bottleneck) -> String {
    match bottleneck {
        Bottleneck::Store { own_ms } => format!("store ({own_ms:.1} ms a step) carries"),
        Bottleneck::Processor => "processor carries".to_owned(),
    }
}

pub(crate) fn disk_words(disk: &DiskProbe) -> String {
    let DiskProbe {
        median_ms,
        p99_ms,
        write_bytes,
        ..
    } = disk;
    format!(
        "{} KiB + fdatasync: median {median_ms:.2} ms, p99 {p99_ms:.2} ms",
        write_bytes / 1024
    )
}

pub(crate) fn percentile_words(of: &Percentiles) -> String {
    format!(
        "p50 {:.1} · p90 {:.1} · p99 {:.1} · p99.9 {:.1} · max {:.1} ms",
        of.p50_ms, of.p90_ms, of.p99_ms, of.p999_ms, of.max_ms
    )
}

/// A whole number with a comma at every thousand.
pub(crate) fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if 0 < index && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
