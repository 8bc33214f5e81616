//! Tests of the three forms of a report, on a sale that a stub has run.

use super::*;
use crate::comparison::{Beneath, Comparison, RunSize};
use crate::disk::DiskProbe;
use crate::figures::{Pair, RunFigures};
use crate::plan::{Crowd, Figures, plan};
use crate::verdict::tests::{Lie, sale};
use crate::words::grouped;

fn ratio(comparison: Comparison, rate: f64) -> RatioReport {
    let disk = DiskProbe {
        writes: 200,
        write_bytes: 16_384,
        min_ms: 0.1,
        median_ms: 0.5,
        p99_ms: 2.0,
        max_ms: 3.0,
    };
    let figures = |requests_per_s| RunFigures {
        requests_per_s,
        cpu_us_per_request: 10.0,
        p50_ms: 1.0,
        p99_ms: 2.0,
    };
    let pair = Pair {
        bare: figures(100.0),
        product: figures(100.0 * rate),
    };
    RatioReport::of(
        comparison,
        RunSize {
            requests: 60_000,
            connections: 64,
        },
        vec![pair; 5],
        Beneath::Disk(disk),
        Vec::new(),
    )
}

fn report(lie: Lie) -> Report {
    let ratios = vec![ratio(Comparison::Refusals, 0.9), ratio(Comparison::Acceptances, 0.5)];
    Report {
        sale: Some(sale(lie)),
        ratios,
        ..Report::default()
    }
}

#[test]
fn violation_decides_the_exit_code_and_stands_in_every_form() {
    let report = report(Lie::GivesALoserAResult);
    assert_eq!(report.exit_code(), 3);
    assert!(report.text().contains("VIOLATED: loser "));
    assert!(report.html().contains("<li>loser "));
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(
        (
            json["exit_code"].as_u64(),
            json["report"]["sale"]["audit"]["accepted"].as_u64()
        ),
        (Some(3), Some(5))
    );
}

#[test]
fn missed_speed_alone_is_no_violation() {
    let report = report(Lie::None);
    assert_eq!(report.exit_code(), 0);
    let text = report.text();
    assert!(
        text.contains("wanted: rate at least 0.80, CPU at most 1.25: reached"),
        "{text}"
    );
    assert!(text.contains("wanted: rate at least 0.60: missed"), "{text}");
    assert!(
        text.contains("total 5 = left 0 + queued 0 + dead 0 + live orders 5 + returned 0; balanced: yes"),
        "{text}"
    );
}

#[test]
fn page_is_self_contained_and_escapes_what_a_server_said() {
    let mut report = report(Lie::None);
    report
        .sale
        .as_mut()
        .unwrap()
        .violations
        .push("<img src=x> & \"quoted\"".to_owned());
    let page = report.html();
    assert!(page.contains("&lt;img src=x&gt; &amp; &quot;quoted&quot;"));
    for foreign in ["<script", "<link", "<img", "http://", "https://", "url(", "@import"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert_eq!(page.matches("<svg").count(), 2);
}

#[test]
fn plan_is_told_in_round_numbers() {
    let figures = Figures {
        node_requests_per_s: 25_000.0,
        store_claims_per_s: 50_000.0,
        orders_per_s: 20_000.0,
    };
    let text = plan_text(&plan(Crowd::usual(100_000, 5.0, 60.0), figures).unwrap());
    for said in [
        "500,000 requests",
        "8,333/s",
        "83,333/s in the first 10 s",
        "125,000/s with 50 % margin",
        "5 at 25,000/s each",
    ] {
        assert!(text.contains(said), "{said} is not in {text}");
    }
}

#[test]
fn numbers_are_grouped() {
    assert_eq!(
        [0.0, 999.4, 1_000.0, 1_234_567.0].map(grouped),
        ["0", "999", "1,000", "1,234,567"]
    );
}
