//! The articles' algorithm, overload, memory, soak, restart and expiry for a terminal.

mod bots;
mod flood;
mod soak;
mod switches;

use crate::article_text::article_text;
use crate::expiry::{EXPIRED_AFTER_S_MAX, ExpiryReport};
use crate::memory::MemoryReport;
use crate::overload::{OverloadReport, People};
use crate::report::Report;
use crate::restart::{READY_AFTER_S_MAX, RestartReport};
use crate::text::{line, load_rows, row};
use crate::words::{audit_words, bottleneck_words, grouped, grown_name, percentile_words, reached_word};

pub(crate) fn overload_text(text: &mut String, overload: &OverloadReport) {
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
    if let Some(people) = &overload.people {
        people_text(text, people);
    }
    row(text, "goodput", &format!("{:.2} of the best", overload.goodput));
    let recovered = overload
        .recovered_after_s
        .map_or("not in time".to_owned(), |seconds| format!("{seconds:.1} s"));
    row(text, "back to normal after", &recovered);
    for look in overload.looks.iter().filter(|look| !look.is_normal) {
        let [accepted, requests] = [look.accepted, look.requests].map(|count| grouped(count as f64));
        row(
            text,
            &format!("  at {:.1} s", look.began_s),
            &format!("{accepted} of {requests} accepted, p99 {:.1} ms", look.p99_ms),
        );
    }
    let memory = &overload.memory;
    let [before, peak, after] = [memory.before_bytes, memory.peak_bytes, memory.after_bytes].map(mib);
    row(
        text,
        "memory",
        &format!("{before} before, {peak} at most, {after} with all orders written"),
    );
    for missed in &overload.missed {
        row(text, "missed", missed);
    }
}

/// People who asked again and again.
fn people_text(text: &mut String, people: &People) {
    let [wanted, came, accepted, left] =
        [people.wanted, people.came, people.accepted, people.left].map(|count| grouped(count as f64));
    row(
        text,
        "people",
        &format!("{came} of {wanted} found a connection, {accepted} of them bought, {left} were trying when all left"),
    );
    let requests = grouped(people.requests as f64);
    row(
        text,
        "requests",
        &format!("{requests}, {:.1} a person", people.requests_each),
    );
    row(text, "accepted after", &percentile_words(&people.accepted_after));
}

/// All but the overload, where they were measured.
pub(crate) fn of_limits(text: &mut String, report: &Report) {
    if let Some(article) = &report.article {
        article_text(text, article);
    }
    if let Some(memory) = &report.memory {
        memory_text(text, memory);
    }
    if let Some(soak) = &report.soak {
        soak::soak_text(text, soak);
    }
    if let Some(restart) = &report.restart {
        restart_text(text, restart);
    }
    if let Some(flood) = &report.flood {
        flood::flood_text(text, flood);
    }
    bots::bots_text(text, &report.bots);
    if let Some(switches) = &report.switches {
        switches::switches_text(text, switches);
    }
    for expiry in &report.expiries {
        expiry_text(text, expiry);
    }
}

fn memory_text(text: &mut String, memory: &MemoryReport) {
    line(
        text,
        "memory: resident memory of the process, as a slope between two readings at rest",
    );
    for growth in &memory.growths {
        let (from, to) = (grouped(growth.from as f64), grouped(growth.to as f64));
        row(
            text,
            grown_name(growth.grown),
            &format!("{} bytes each", grouped_signed(growth.each_bytes())),
        );
        row(
            text,
            "",
            &format!(
                "from {from} ({}) to {to} ({}); wanted: at most {}: {}",
                mib(growth.rss_from_bytes),
                mib(growth.rss_to_bytes),
                grouped(growth.grown.each_bytes_max()),
                reached_word(growth.is_reached())
            ),
        );
    }
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

fn grouped_signed(value: f64) -> String {
    let sign = if value <= -0.5 { "-" } else { "" };
    format!("{sign}{}", grouped(value.abs()))
}

fn restart_text(text: &mut String, restart: &RestartReport) {
    let (buyers, queued) = (grouped(restart.buyers as f64), grouped(restart.queued_before as f64));
    line(
        text,
        &format!(
            "restart: a sale with {buyers} buyers, killed behind the last answer with about {queued} in the queue"
        ),
    );
    let (ready_s, wanted) = (restart.ready_after_s, READY_AFTER_S_MAX);
    row(
        text,
        "ready again after",
        &format!(
            "{ready_s:.2} s; wanted: at most {wanted:.0}: {}",
            reached_word(ready_s <= wanted)
        ),
    );
    let [before, after, peak] = [
        restart.rss_before_bytes,
        restart.rss_after_bytes,
        restart.rss_peak_bytes,
    ]
    .map(mib);
    let journal = mib(restart.journal_bytes);
    row(
        text,
        "memory",
        &format!("{before} before, {after} after, {peak} at most meanwhile; journal {journal}"),
    );
    row(
        text,
        "tickets",
        &format!(
            "{} compared, {} of them with their orders",
            restart.tickets_checked, restart.orders_checked
        ),
    );
    row(text, "audit", &audit_words(&restart.audit));
}

fn expiry_text(text: &mut String, expiry: &ExpiryReport) {
    let (orders, units_to) = (grouped(expiry.orders as f64), expiry.units_to.word());
    line(
        text,
        &format!("expiry: {orders} unpaid orders due at one moment, their units to the {units_to}"),
    );
    let (after_s, wanted) = (expiry.expired_after_s, EXPIRED_AFTER_S_MAX);
    row(
        text,
        "expired after",
        &format!(
            "{after_s:.1} s; wanted: at most {wanted:.0}: {}",
            reached_word(after_s <= wanted)
        ),
    );
    let [before, peak] = [expiry.rss_before_bytes, expiry.rss_peak_bytes].map(mib);
    row(text, "memory", &format!("{before} before, {peak} at most meanwhile"));
    let (sale, product) = (
        grouped(expiry.audit.stock_left as f64),
        grouped(expiry.product_stock as f64),
    );
    row(text, "units", &format!("{sale} in the sale, {product} in the product"));
    row(text, "audit", &audit_words(&expiry.audit));
}
