//! The page's part on an overload.

use super::{legend, load_tables, put, table};
use crate::chart::{self, KINDS};
use crate::overload::OverloadReport;
use crate::words::grouped;

pub(super) fn section(page: &mut String, overload: &OverloadReport) {
    let (offered, capacity) = (grouped(overload.offered_per_s), grouped(overload.capacity_per_s));
    put(
        page,
        format_args!("<section><h2>Overload: {offered}/s offered, {capacity}/s carried</h2>\n"),
    );
    page.push_str(&chart::outcomes(&overload.overload.series));
    legend(page, &KINDS.map(|(name, class, _)| (name, class)));
    load_tables(page, &overload.overload);
    let recovered = overload
        .recovered_after_s
        .map_or("not in time".to_owned(), |seconds| format!("{seconds:.1} s"));
    let mut facts = vec![
        ("goodput over the best", format!("{:.2}", overload.goodput)),
        ("back to normal after", recovered),
    ];
    facts.extend(overload.people.iter().map(|people| {
        let (requests, came) = (grouped(people.requests as f64), grouped(people.came as f64));
        ("requests", format!("{requests} by {came} people"))
    }));
    facts.extend(overload.missed.iter().map(|missed| ("missed", missed.clone())));
    table(
        page,
        &["", ""],
        facts.into_iter().map(|(label, said)| vec![label.to_owned(), said]),
    );
    page.push_str("</section>\n");
}
