//! Overload, memory and soak for a terminal.

use crate::memory::MemoryReport;
use crate::overload::OverloadReport;
use crate::report::Report;
use crate::soak::{Holding, RSS_SLOPE_BYTES_MAX, SoakReport};
use crate::text::{line, load_rows, row};
use crate::words::{bottleneck_words, grouped, grown_name, percentile_words, reached_word};

/// Holdings of a soak that are shown, evenly spread.
const HOLDINGS_SHOWN: usize = 9;

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
    row(text, "goodput", &format!("{:.2} of the best", overload.goodput));
    let recovered = overload
        .recovered_after_s
        .map_or("not in time".to_owned(), |seconds| format!("{seconds:.1} s"));
    row(text, "back to normal after", &recovered);
    for missed in &overload.missed {
        row(text, "missed", missed);
    }
}

/// Both, where they were measured.
pub(crate) fn memory_and_soak(text: &mut String, report: &Report) {
    if let Some(memory) = &report.memory {
        memory_text(text, memory);
    }
    if let Some(soak) = &report.soak {
        soak_text(text, soak);
    }
}

fn memory_text(text: &mut String, memory: &MemoryReport) {
    line(
        text,
        "memory: resident memory of the process, as a slope between two readings at rest",
    );
    for growth in &memory.growths {
        let (from, to) = (grouped(growth.from as f64), grouped(growth.to as f64));
        let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
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

fn grouped_signed(value: f64) -> String {
    let sign = if value <= -0.5 { "-" } else { "" };
    format!("{sign}{}", grouped(value.abs()))
}

fn soak_text(text: &mut String, soak: &SoakReport) {
    let (sales, units, users) = (
        soak.holdings.len(),
        grouped(soak.units as f64),
        grouped(soak.users as f64),
    );
    line(
        text,
        &format!("soak: {sales} sales of {units} units and {users} users, one after another on one process"),
    );
    let shown = HOLDINGS_SHOWN.min(sales);
    for step in 1..=shown {
        let number = sales * step / shown;
        let Holding {
            rss_bytes,
            descriptors,
            folder_bytes,
            journal_bytes,
        } = soak.holdings[number - 1];
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        row(
            text,
            &format!("after {number}"),
            &format!(
                "memory {:.1} MiB, {descriptors} descriptors, data {:.1} MiB, of it journal {:.1} MiB",
                mib(rss_bytes),
                mib(folder_bytes),
                mib(journal_bytes)
            ),
        );
    }
    row(
        text,
        "memory a sale",
        &format!(
            "{:.2} KiB over the last half; wanted: at most {:.0}: {}",
            soak.rss_slope_bytes / 1024.0,
            RSS_SLOPE_BYTES_MAX / 1024.0,
            reached_word(soak.rss_slope_bytes <= RSS_SLOPE_BYTES_MAX)
        ),
    );
    for missed in &soak.missed {
        row(text, "missed", missed);
    }
}
