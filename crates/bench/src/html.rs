//! The page of a report: tables, charts, a style sheet. Everything is in the one file; whatever a server said is escaped.

mod overload;

use std::fmt::Write as _;

use crate::canonical::SaleReport;
use crate::chart::{self, KINDS, Line};
use crate::limits_text;
use crate::outcome::{LoadReport, Percentiles, SLOT_MS};
use crate::report::Report;
use crate::words::{RatioWords, beneath_words, comparison_name, disk_words, grouped};

const STYLE: &str = include_str!("page.css");

/// The whole page.
pub(crate) fn page(report: &Report) -> String {
    let mut page = String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    page.push_str(
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>seckill bench</title>",
    );
    put(
        &mut page,
        format_args!("<style>\n{STYLE}</style></head><body><main><h1>seckill bench</h1>\n"),
    );
    verdict(&mut page, &report.violations());
    if let Some(sale) = &report.sale {
        sale_section(&mut page, sale);
    }
    if !report.ratios.is_empty() {
        ratios_section(&mut page, report);
    }
    for overload in &report.overloads {
        overload::section(&mut page, overload);
    }
    let mut limits = String::new();
    limits_text::of_limits(&mut limits, report);
    if !limits.is_empty() {
        put(&mut page, format_args!("<pre>{}</pre>\n", escaped(&limits)));
    }
    page.push_str("<p class=\"note\">Client and server shared one machine's cores.</p></main></body></html>\n");
    page
}

fn verdict(page: &mut String, violations: &[&str]) {
    if violations.is_empty() {
        page.push_str("<p class=\"verdict fine\">Everything that must hold held.</p>\n");
        return;
    }
    page.push_str("<div class=\"verdict violated\"><p>Violated:</p><ul>");
    for violation in violations {
        put(page, format_args!("<li>{}</li>", escaped(violation)));
    }
    page.push_str("</ul></div>\n");
}

fn sale_section(page: &mut String, sale: &SaleReport) {
    let (units, users) = (grouped(sale.units as f64), grouped(sale.users as f64));
    put(
        page,
        format_args!("<section><h2>The sale: {units} units, {users} users</h2>\n"),
    );
    page.push_str(&chart::outcomes(&sale.load.series));
    legend(page, &KINDS.map(|(name, class, _)| (name, class)));
    page.push_str(&chart::lines(
        "Accepted purchases and written orders over time",
        &running_totals(sale),
    ));
    legend(
        page,
        &[
            ("accepted", "accepted"),
            ("orders written", "written"),
            ("queued", "limited"),
        ],
    );
    load_tables(page, &sale.load);
    let unknown = || "unknown".to_owned();
    let seen = &sale.settlement.seen;
    let mut facts = vec![
        ("requests a second", grouped(sale.load.requests_per_s)),
        ("connections", grouped(sale.connections as f64)),
        ("seed", sale.seed.to_string()),
        (
            "last order after the last acceptance",
            sale.settlement
                .last_order_after_ms
                .map_or_else(unknown, |ms| format!("{ms:.0} ms")),
        ),
        (
            "oldest intent",
            seen.oldest_s_max
                .map_or_else(unknown, |seconds| format!("{seconds:.2} s")),
        ),
        ("deepest queue", seen.queue_depth_max.map_or_else(unknown, grouped)),
        ("results fetched", grouped(sale.results_checked as f64)),
    ];
    if let Some(cost) = sale.cost {
        facts.push(("server CPU a request", format!("{:.1} µs", cost.cpu_us_per_request)));
        facts.push(("server memory at most", format!("{} MiB", cost.rss_peak_bytes >> 20)));
    }
    facts.extend(sale.disk.iter().map(|disk| ("disk", disk_words(disk))));
    let audit = &sale.audit;
    facts.push((
        "audit",
        format!(
            "{} = {} left + {} queued + {} dead + {} live orders + {} returned",
            audit.stock_total, audit.stock_left, audit.queued, audit.dead, audit.orders_live, audit.returned
        ),
    ));
    facts.extend(sale.missed().into_iter().map(|missed| ("missed", missed)));
    table(
        page,
        &["", ""],
        facts.into_iter().map(|(label, said)| vec![label.to_owned(), said]),
    );
    page.push_str("</section>\n");
}

/// Acceptances as the buyers saw them, orders and queue as the metrics told.
fn running_totals(sale: &SaleReport) -> Vec<Line> {
    let mut total = 0.0;
    let accepted = sale.load.series.iter().enumerate().map(|(number, slot)| {
        total += slot.accepted as f64;
        ((number as u64 + 1) * SLOT_MS, total)
    });
    let accepted = std::iter::once((0, 0.0)).chain(accepted).collect();
    let looks = &sale.settlement.seen.looks;
    vec![
        Line {
            name: "accepted",
            class: "accepted",
            points: accepted,
        },
        Line {
            name: "orders written",
            class: "written",
            points: looks.iter().map(|look| (look.at_ms, look.orders_written)).collect(),
        },
        Line {
            name: "queued",
            class: "limited",
            points: looks.iter().map(|look| (look.at_ms, look.queue_depth)).collect(),
        },
    ]
}

fn load_tables(page: &mut String, load: &LoadReport) {
    let answered = load.outcomes.iter().map(|outcome| {
        let code = outcome.code.map_or(String::new(), |code| code.to_string());
        vec![outcome.status.to_string(), code, grouped(outcome.count as f64)]
    });
    let silent = load.unanswered.iter().map(|silent| {
        vec![
            "none".to_owned(),
            silent.reason.to_string(),
            grouped(silent.count as f64),
        ]
    });
    table(page, &["status", "code", "answers"], answered.chain(silent));
    let latency = |name: &str, of: &Percentiles| {
        let times = [of.p50_ms, of.p90_ms, of.p99_ms, of.p999_ms, of.max_ms];
        std::iter::once(name.to_owned())
            .chain(times.map(|ms| format!("{ms:.2}")))
            .collect()
    };
    let rows = [
        latency("all", &load.latency),
        latency("accepted", &load.accepted_latency),
        latency("accepted, from sending", &load.accepted_service),
    ];
    table(
        page,
        &["latency in ms", "p50", "p90", "p99", "p99.9", "max"],
        rows.into_iter(),
    );
}

fn ratios_section(page: &mut String, report: &Report) {
    page.push_str(
        "<section><h2>Against the bare listener</h2><p>Median (smallest to largest) of interleaved pairs.</p>\n",
    );
    let rows = report.ratios.iter().map(|ratio| {
        let RatioWords { rate, cpu } = RatioWords::of(ratio);
        let wanted = ratio
            .goal
            .cpu_max
            .map_or(String::new(), |most| format!(", CPU ≤ {most:.2}"));
        vec![
            comparison_name(ratio.comparison).to_owned(),
            rate,
            cpu,
            format!("rate ≥ {:.2}{wanted}", ratio.goal.rate_min),
            if ratio.reached { "reached" } else { "missed" }.to_owned(),
            format!("{} × {}", ratio.pairs.len(), grouped(ratio.requests as f64)),
            ratio.connections.to_string(),
            beneath_words(ratio),
        ]
    });
    table(
        page,
        &[
            "",
            "rate",
            "CPU a request",
            "wanted",
            "",
            "pairs × requests",
            "connections",
            "store",
        ],
        rows,
    );
    page.push_str("</section>\n");
}

fn legend(page: &mut String, entries: &[(&str, &str)]) {
    page.push_str("<p class=\"legend\">");
    for (name, class) in entries {
        put(page, format_args!("<span><i class=\"{class}\"></i>{name}</span> "));
    }
    page.push_str("</p>\n");
}

fn table(page: &mut String, heads: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    page.push_str("<div class=\"wide\"><table>");
    if heads.iter().any(|head| !head.is_empty()) {
        page.push_str("<tr>");
        heads.iter().for_each(|head| put(page, format_args!("<th>{head}</th>")));
        page.push_str("</tr>");
    }
    for row in rows {
        page.push_str("<tr>");
        row.iter()
            .for_each(|cell| put(page, format_args!("<td>{}</td>", escaped(cell))));
        page.push_str("</tr>");
    }
    page.push_str("</table></div>\n");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("writing to a string can't fail");
}
