//! A soak for a terminal.

use super::{grouped_signed, mib};
use crate::soak::{
    Holding, JOURNAL_BYTES_MAX, ORDER_DISK_BYTES_MAX, RSS_SLOPE_BYTES_MAX, SALES_JUDGED_MIN, SoakReport, Trend,
};
use crate::text::{line, row};
use crate::words::{grouped, reached_word};

/// Holdings of a soak that are shown, evenly spread.
const HOLDINGS_SHOWN: usize = 9;

pub(super) fn soak_text(text: &mut String, soak: &SoakReport) {
    let (sales, units, users) = (
        soak.holdings.len(),
        grouped(soak.units as f64),
        grouped(soak.users as f64),
    );
    let over = soak.over_s.map_or("one after another".to_owned(), |over_s| {
        format!("spread over {over_s:.0} s")
    });
    let took_s = soak.took_s;
    line(
        text,
        &format!("soak: {sales} sales of {units} units and {users} users, {over}, on one process; {took_s:.0} s"),
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
        let (rss, folder, journal) = (mib(rss_bytes), mib(folder_bytes), mib(journal_bytes));
        row(
            text,
            &format!("after {number}"),
            &format!("memory {rss}, {descriptors} descriptors, data {folder}, of it journal {journal}"),
        );
    }
    trend_text(text, &soak.trend);
    for missed in &soak.missed {
        row(text, "missed", missed);
    }
}

fn trend_text(text: &mut String, trend: &Trend) {
    let judged = |reached: bool| match trend.is_rss_judged {
        true => reached_word(reached).to_owned(),
        false => format!("not judged, fewer than {SALES_JUDGED_MIN} sales"),
    };
    let (slope, most) = (trend.rss_slope_bytes / 1024.0, RSS_SLOPE_BYTES_MAX / 1024.0);
    row(
        text,
        "memory a sale",
        &format!(
            "{slope:.2} KiB ± {:.2} ({:.4} % of it) over the last half; wanted: at most {most:.1}: {}",
            2.0 * trend.rss_slope_error_bytes / 1024.0,
            trend.rss_slope_share * 100.0,
            judged(trend.is_level())
        ),
    );
    row(
        text,
        "database an order",
        &format!(
            "{} bytes over the last half; wanted: at most {}: {}",
            grouped_signed(trend.order_disk_bytes),
            grouped(ORDER_DISK_BYTES_MAX),
            judged(trend.order_disk_bytes <= ORDER_DISK_BYTES_MAX)
        ),
    );
    let (peak, most) = (mib(trend.journal_bytes_peak), JOURNAL_BYTES_MAX);
    row(
        text,
        "journal",
        &format!(
            "{peak} at most; wanted: at most {}: {}",
            mib(most),
            reached_word(trend.journal_bytes_peak <= most)
        ),
    );
}
