//! The page as a scraper sees it: exact text of a small registry, the grammar of the whole one, and every promised name.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use seckill_metrics::{Core, LimitScope, Metrics, Outcome, Registry, Setup, ShedReason, StreamKind};

const SETUP: Setup<'static> = Setup {
    cores: 2,
    routes: &["/api/activities", "/api/seckill/{activity_id}"],
    version: "0.1.0",
    revision: Some("0123abc"),
};

/// Reads the page as Prometheus does and gives the value of every series. Panics where the text breaks the format.
fn read(page: &str) -> BTreeMap<String, f64> {
    let mut series = BTreeMap::new();
    let (mut family, mut kind, mut families) = (String::new(), String::new(), BTreeSet::new());
    assert!(page.ends_with('\n'), "the last line ends");
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("help has a name and a text");
            assert!(
                families.insert(name.to_owned()) && !help.is_empty(),
                "{name} is described once"
            );
            name.clone_into(&mut family);
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, word) = rest.split_once(' ').expect("type has a name and a kind");
            assert_eq!(name, family);
            assert!(["counter", "gauge", "histogram"].contains(&word), "{word}");
            word.clone_into(&mut kind);
        } else {
            let (name, labels, value) = sample(line);
            let suffix = name
                .strip_prefix(family.as_str())
                .unwrap_or_else(|| panic!("{name} follows the heading of {family}"));
            let suffixes: &[&str] = if kind == "histogram" {
                &["_bucket", "_sum", "_count"]
            } else {
                &[""]
            };
            assert!(suffixes.contains(&suffix), "{name} is a {kind}");
            assert!(
                series.insert(format!("{name}{labels}"), value).is_none(),
                "{line} is there once"
            );
        }
    }
    series
}

/// Name, labels and value of a line, each checked against the grammar.
fn sample(line: &str) -> (&str, &str, f64) {
    let end = line.find(['{', ' ']).expect("a name ends");
    let (name, rest) = line.split_at(end);
    let word = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    assert!(word(name), "{name}");
    let mut tail = rest;
    let mut labels = "";
    if let Some(mut inner) = rest.strip_prefix('{') {
        loop {
            let (label, quoted) = inner.split_once("=\"").expect("a label has a value");
            assert!(word(label), "{label}");
            inner = skip_value(quoted);
            match inner.strip_prefix(',') {
                Some(next) => inner = next,
                None => break,
            }
        }
        tail = inner.strip_prefix('}').expect("labels are closed");
        labels = &rest[..rest.len() - tail.len()];
    }
    let value = tail.strip_prefix(' ').expect("a value follows").replace("+Inf", "inf");
    (
        name,
        labels,
        value.parse().unwrap_or_else(|_| panic!("{value} is a number")),
    )
}

/// What follows the closing quote.
fn skip_value(quoted: &str) -> &str {
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return &quoted[at + 1..],
            '\\' => assert!(
                matches!(characters.next(), Some((_, '\\' | '"' | 'n'))),
                "a known escape"
            ),
            _ => {}
        }
    }
    panic!("the value is closed: {quoted}");
}

#[test]
fn page_of_a_small_registry_is_this_text() {
    let registry = Registry::new(2);
    let sold = registry.counter("sold_total", "Units sold.");
    let left = registry.gauge_family("left", "Units left.", &["activity"], 10);
    let scopes = registry.counter_family("failures_total", "Failures.", &["reason"], 10);
    let took = registry.histogram("took_seconds", "Time.");
    registry.gauge_fn("asked", "Asked for.", || 0.25);
    sold.inc(Core::new(0));
    sold.add(Core::new(1), 4);
    sold.inc(Core::OTHER);
    left.set(&["7"], 3.0);
    scopes.inc(Core::OTHER, &["said \"no\""]);
    took.observe(Core::new(0), Duration::from_millis(3));
    let expected = r#"# HELP sold_total Units sold.
# TYPE sold_total counter
sold_total 6
# HELP left Units left.
# TYPE left gauge
left{activity="7"} 3
# HELP failures_total Failures.
# TYPE failures_total counter
failures_total{reason="said \"no\""} 1
# HELP took_seconds Time.
# TYPE took_seconds histogram
took_seconds_bucket{le="0.0001"} 0
took_seconds_bucket{le="0.00025"} 0
took_seconds_bucket{le="0.0005"} 0
took_seconds_bucket{le="0.001"} 0
took_seconds_bucket{le="0.0025"} 0
took_seconds_bucket{le="0.005"} 1
took_seconds_bucket{le="0.01"} 1
took_seconds_bucket{le="0.025"} 1
took_seconds_bucket{le="0.05"} 1
took_seconds_bucket{le="0.1"} 1
took_seconds_bucket{le="0.25"} 1
took_seconds_bucket{le="0.5"} 1
took_seconds_bucket{le="1"} 1
took_seconds_bucket{le="2.5"} 1
took_seconds_bucket{le="5"} 1
took_seconds_bucket{le="10"} 1
took_seconds_bucket{le="+Inf"} 1
took_seconds_sum 0.003
took_seconds_count 1
# HELP asked Asked for.
# TYPE asked gauge
asked 0.25
"#;
    assert_eq!(registry.page(), expected);
    read(expected);
}

#[test]
fn whole_page_keeps_to_the_grammar_and_has_every_name() {
    let metrics = Metrics::new(SETUP);
    metrics.answered(
        Core::new(1),
        metrics.http_requests.route("/api/activities"),
        "GET",
        200,
        Duration::from_micros(80),
    );
    metrics
        .settlement
        .order_failures
        .inc(Core::OTHER, &["back\\slash\nand \"quotes\""]);
    for family in [
        &metrics.activities.stock_left,
        &metrics.activities.starts,
        &metrics.activities.preheated,
        &metrics.activities.open,
        &metrics.activities.fenced,
        &metrics.activities.store_up,
        &metrics.activities.admit_ratio,
        &metrics.activities.held_back,
        &metrics.store_servers,
        &metrics.activities.audit_balanced,
        &metrics.switches,
    ] {
        family.set(&["1"], 1.0);
    }
    metrics.activities.stock_left.set(&["2"], 1.0);
    metrics.activities.retain(|activity| activity == "1");
    let series = read(&metrics.page());
    assert!(!series.contains_key(r#"seckill_stock_left{activity="2"}"#));
    for name in [
        r#"seckill_http_requests_total{route="/api/activities",method="GET",code="200"}"#,
        r#"seckill_http_request_duration_seconds_bucket{le="0.0001"}"#,
        r#"seckill_purchases_total{outcome="sold_out"}"#,
        r#"seckill_stock_left{activity="1"}"#,
        "seckill_queue_depth",
        "seckill_queue_depth_peak",
        "seckill_queue_oldest_seconds",
        "seckill_orders_written_total",
        r#"seckill_order_failures_total{reason="back\\slash\nand \"quotes\""}"#,
        "seckill_dead_letters",
        "seckill_store_up",
        "seckill_store_command_duration_seconds_count",
        "seckill_database_up",
        r#"seckill_shed_total{reason="pending_full"}"#,
        r#"seckill_switch{name="1"}"#,
        r#"seckill_limited_total{scope="ip"}"#,
        "seckill_replays_total",
        "seckill_in_flight",
        "seckill_in_flight_peak",
        "seckill_requests_per_second_peak",
        "seckill_connections",
        r#"seckill_streams{kind="sse"}"#,
        "seckill_workers",
        "seckill_worker_last_batch_timestamp_seconds",
        r#"seckill_activity_starts_timestamp_seconds{activity="1"}"#,
        r#"seckill_activity_preheated{activity="1"}"#,
        r#"seckill_activity_open{activity="1"}"#,
        r#"seckill_activity_fenced{activity="1"}"#,
        r#"seckill_activity_store_up{activity="1"}"#,
        r#"seckill_activity_admit_ratio{activity="1"}"#,
        r#"seckill_activity_held_back{activity="1"}"#,
        r#"seckill_store_server_up{server="1"}"#,
        r#"seckill_audit_balanced{activity="1"}"#,
        "seckill_refunds_required",
        r#"seckill_build_info{version="0.1.0",revision="0123abc"}"#,
    ] {
        assert!(series.contains_key(name), "{name}\n{series:#?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn process_is_described() {
    let series = read(&Metrics::new(SETUP).page());
    for name in [
        "process_cpu_seconds_total",
        "process_resident_memory_bytes",
        "process_virtual_memory_bytes",
        "process_open_fds",
        "process_max_fds",
        "process_threads",
        "process_start_time_seconds",
    ] {
        assert!(series.contains_key(name), "{name}");
    }
    assert!(series["process_open_fds"] >= 3.0 && series["process_open_fds"] <= series["process_max_fds"]);
    assert!(series["process_resident_memory_bytes"] > 100_000.0);
    assert!(series["process_start_time_seconds"] > 1.6e9);
}

#[test]
fn cores_are_added_up() {
    let metrics = Metrics::new(SETUP);
    std::thread::scope(|scope| {
        for index in 0..4 {
            let metrics = &metrics;
            scope.spawn(move || {
                Core::new(index).bind_thread();
                for _ in 0..1_000 {
                    metrics.purchases.inc(Core::current(), 7, Outcome::SoldOut);
                    metrics.limited.inc(Core::current(), LimitScope::User);
                    metrics.shed.inc(Core::current(), ShedReason::PendingFull);
                    drop(metrics.in_flight.enter(Core::current()));
                }
            });
        }
    });
    let series = read(&metrics.page());
    assert_eq!(series[r#"seckill_purchases_total{outcome="sold_out"}"#], 4_000.0);
    assert_eq!(series[r#"seckill_purchases_total{outcome="accepted"}"#], 0.0);
    assert_eq!(series[r#"seckill_limited_total{scope="user"}"#], 4_000.0);
    assert_eq!(series[r#"seckill_shed_total{reason="pending_full"}"#], 4_000.0);
    assert_eq!(series["seckill_in_flight"], 0.0);
}

#[test]
fn peak_of_requests_a_second_outlives_the_rush_until_it_was_scraped() {
    let metrics = Metrics::new(SETUP);
    let start = Instant::now();
    let second = |n: u64| start + Duration::from_secs(n);
    let answer = |n: u64| (0..n).for_each(|_| metrics.answered(Core::new(0), 0, "GET", 200, Duration::ZERO));
    metrics.tick(second(0));
    answer(500);
    metrics.tick(second(1));
    answer(20);
    metrics.tick(second(2));
    // Too soon after the last one: nothing is worked out.
    answer(5);
    metrics.tick(second(2) + Duration::from_millis(1));
    let peak = || read(&metrics.page())["seckill_requests_per_second_peak"];
    assert_eq!((peak(), peak()), (500.0, 20.0));
}

#[test]
fn what_is_known_elsewhere_is_set_before_each_page() {
    let metrics = Metrics::new(SETUP);
    metrics.on_scrape(|metrics| metrics.connections.set_count(42));
    let stream = metrics.streams.enter(Core::new(0), StreamKind::Sse);
    let series = read(&metrics.page());
    assert_eq!(
        (series["seckill_connections"], series[r#"seckill_streams{kind="sse"}"#]),
        (42.0, 1.0)
    );
    drop(stream);
    assert_eq!(metrics.streams.now(StreamKind::Sse), 0);
}
