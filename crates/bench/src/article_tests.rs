//! What the rounds come to.

use std::path::PathBuf;

use super::*;
use crate::report::Report;

fn config() -> ArticleConfig {
    let fleet = FleetConfig {
        executable: PathBuf::from("/nowhere"),
        store: "redis://127.0.0.1:1".into(),
        database: "postgres://h/d".into(),
        apis: 1,
        workers: 1,
        environment: Vec::new(),
    };
    ArticleConfig::usual(fleet)
}

fn round(product: f64, naive: f64) -> Round {
    let run = |requests_per_s| RunFigures {
        requests_per_s,
        cpu_us_per_request: 10.0,
        p50_ms: 1.0,
        p99_ms: 2.0,
    };
    let on_store = |rate, store_cpu_us| StoreRun {
        run: run(rate),
        store_cpu_us,
    };
    Round {
        bare: run(100.0),
        naive: on_store(naive, 10.0),
        product: on_store(product, 2.0),
    }
}

fn said(rounds: Vec<Round>, violations: Vec<String>) -> (Report, String) {
    let article = ArticleReport::of(&config(), "AOF everysec".to_owned(), rounds, violations);
    let report = Report {
        article: Some(article),
        ..Report::default()
    };
    let text = report.text();
    (report, text)
}

#[test]
fn each_ratio_is_held_against_its_own_goal() {
    let (_, text) = said(
        vec![round(60.0, 40.0), round(50.0, 40.0), round(54.0, 30.0)],
        Vec::new(),
    );
    for expected in [
        "on Redis with AOF everysec, nobody settles: median (min to max) of 3 interleaved rounds",
        "rate × 1.50 (1.25 to 1.80); wanted: at least 1.25: reached",
        "rate × 0.54 (0.50 to 0.60); wanted: at least 0.55: missed",
        "CPU a purchase × 1.00 (1.00 to 1.00) of the algorithm's, of Redis × 0.20 (0.20 to 0.20)",
    ] {
        assert!(text.contains(expected), "{expected} is not in {text}");
    }
    let (_, text) = said(vec![round(60.0, 60.0); 5], Vec::new());
    assert!(
        text.contains("at least 1.25: missed") && text.contains("at least 0.55: reached"),
        "{text}"
    );
}

#[test]
fn a_failed_audit_fails_the_run_in_every_form_of_the_report() {
    let (report, text) = said(vec![round(60.0, 40.0)], vec!["a unit is lost".to_owned()]);
    assert_eq!(report.exit_code(), 3);
    assert!(text.contains("VIOLATED: a unit is lost"), "{text}");
    let page = report.html();
    assert!(
        page.contains("<li>a unit is lost") && page.contains("articles' algorithm"),
        "{page}"
    );
}

#[test]
fn only_one_redis_has_the_articles_algorithm() {
    let mut config = config();
    config.fleet.store = "redis-cluster://127.0.0.1:1".into();
    assert!(matches!(compare(&config), Err(Error::Usage(_))));
    config.rounds = 4;
    assert!(matches!(compare(&config), Err(Error::Usage(said)) if said.contains("5 pairs")));
}
