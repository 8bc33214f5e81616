//! How figures are put into words, the same in every form of a report.

use std::fmt;

use crate::audit::Audit;
use crate::bottleneck::Bottleneck;
use crate::canonical::SaleReport;
use crate::client::Unanswered;
use crate::comparison::{Comparison, RatioReport};
use crate::disk::DiskProbe;
use crate::figures::Spread;
use crate::memory::Grown;
use crate::outcome::Percentiles;

/// Rate and CPU as "median (min to max)".
pub(crate) struct RatioWords {
    pub(crate) rate: String,
    pub(crate) cpu: String,
}

impl RatioWords {
    pub(crate) fn of(ratio: &RatioReport) -> Self {
        Self {
            rate: spread_words(ratio.rate),
            cpu: spread_words(ratio.cpu),
        }
    }
}

/// Median, smallest and largest.
pub(crate) fn spread_words(spread: Spread) -> String {
    format!("{:.2} ({:.2} to {:.2})", spread.median, spread.min, spread.max)
}

/// What a comparison is called.
pub(crate) fn comparison_name(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Refusals => "refusals",
        Comparison::FirstRefusals => "refusals, token new",
        Comparison::Acceptances => "accepted purchases",
        Comparison::ActivityPage => "activity page",
        Comparison::ResultPoll => "result poll",
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(comparison_name(*self))
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "no connection",
            Self::Closed => "closed before a whole answer came",
            Self::Reset => "connection reset",
            Self::Timeout => "too late",
            Self::Malformed => "no HTTP answer",
        })
    }
}

/// When the last order was written, as far as it was seen.
pub(crate) fn last_order_words(sale: &SaleReport) -> String {
    match (sale.settlement.last_order_after_ms, sale.load.accepted) {
        (Some(ms), _) => format!("last order {ms:.0} ms after the last acceptance"),
        (None, 0) => "nothing was accepted, so no order was written".to_owned(),
        (None, _) => "when the last order was written was not seen in the server's metrics".to_owned(),
    }
}

/// How many buyers were asked for their results.
pub(crate) fn results_words(sale: &SaleReport) -> String {
    format!(
        "{} buyers asked afterwards, winners for their order and losers that they have none",
        sale.results_checked
    )
}

pub(crate) fn bottleneck_words(bottleneck: Bottleneck) -> String {
    match bottleneck {
        Bottleneck::Store { held_ms } => format!("store (each sync held for {held_ms} ms) carries"),
        Bottleneck::RemoteStore { delay_ms } => format!("store (each answer of it {delay_ms} ms late) carries"),
        Bottleneck::Processor => "processor carries".to_owned(),
    }
}

pub(crate) fn grown_name(grown: Grown) -> &'static str {
    match grown {
        Grown::Buyers => "buyers",
        Grown::Streams => "idle result streams",
        Grown::Strangers => "users, addresses, ids",
        Grown::ForgedTokens => "forged tokens",
    }
}

pub(crate) fn reached_word(reached: bool) -> &'static str {
    if reached { "reached" } else { "missed" }
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

/// What a comparison's product stands on.
pub(crate) fn beneath_words(ratio: &RatioReport) -> String {
    let disk = ratio.disk.as_ref().map(disk_words);
    let store = ratio.store.as_ref().map(|store| {
        format!(
            "Redis with {}, {:.2} µs of its CPU a request",
            store.durability,
            store.cpu_us_per_request()
        )
    });
    disk.or(store).unwrap_or_default()
}

pub(crate) fn audit_words(audit: &Audit) -> String {
    format!(
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
