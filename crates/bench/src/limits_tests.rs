//! Overload, memory, soak, restart and expiry as whole runs on children that stand in for the product.

use std::time::Duration;

use crate::bottleneck::Bottleneck;
use crate::expiry::{self, ExpiryConfig, UnitsTo};
use crate::memory::{self, Grown, MemoryConfig};
use crate::overload::{self, Clients, OverloadConfig};
use crate::report::Report;
use crate::restart::{self, RestartConfig};
use crate::server::ServerConfig;
use crate::soak::{self, SoakConfig};
use crate::stand_in::program;
use crate::subject::SubjectConfig;

#[test]
fn overload_runs_its_four_steps() {
    let (_folder, executable) = program();
    let processor = Bottleneck::Processor;
    for (bottleneck, clients) in [
        (processor, Clients::AskOnce),
        (processor, Clients::Rude),
        (Bottleneck::Store { held_ms: 1 }, Clients::AskOnce),
    ] {
        let config = OverloadConfig {
            product: SubjectConfig::Alone(ServerConfig::of(&executable)),
            bottleneck,
            clients,
            seconds: 0.1,
            connections: 8,
            threads: 1,
        };
        let report = overload::run(&config).unwrap();
        assert_eq!(report.violations, [] as [&str; 0]);
        assert_eq!(report.overload.accepted, report.overload.requests);
        let text = Report {
            overloads: vec![report],
            ..Report::default()
        }
        .text();
        assert_eq!(text.contains("found a connection"), clients == Clients::Rude, "{text}");
    }
}

#[test]
fn memory_is_read_at_two_sizes_of_everything() {
    let (_folder, executable) = program();
    let config = MemoryConfig {
        buyers: 50,
        streams: 10,
        forged: 50,
        connections: 4,
        rest_every: Duration::from_millis(1),
        ..MemoryConfig::usual(executable)
    };
    let memory = memory::run(&config).unwrap();
    assert_eq!(memory.violations, [] as [&str; 0]);
    let seen: Vec<_> = memory
        .growths
        .iter()
        .map(|growth| (growth.grown, growth.from, growth.to))
        .collect();
    let expected = [
        (Grown::Buyers, 5, 50),
        (Grown::Strangers, 0, 50),
        (Grown::ForgedTokens, 0, 50),
        (Grown::Streams, 1, 10),
    ];
    assert_eq!(seen, expected);
    let report = Report {
        memory: Some(memory),
        ..Report::default()
    };
    let text = report.text();
    assert!(text.contains("wanted: at most 16,384: "), "{text}");
    assert!(report.html().contains("idle result streams"));
}

#[test]
fn soak_looks_at_the_process_after_every_sale() {
    let (_folder, executable) = program();
    let config = SoakConfig {
        sales: 10,
        units: 2,
        users: 6,
        warm_users: 10,
        over: Some(Duration::from_millis(10)),
        connections: 2,
        ..SoakConfig::usual(executable)
    };
    let soak = soak::run(&config).unwrap();
    assert_eq!(soak.violations, [] as [&str; 0]);
    assert_eq!(soak.holdings.len(), 10);
    assert!(
        soak.holdings
            .iter()
            .all(|holding| 0 < holding.rss_bytes && 0 < holding.descriptors)
    );
    let report = Report {
        soak: Some(soak),
        ..Report::default()
    };
    let text = report.text();
    assert!(
        text.contains("soak: 10 sales of 2 units and 6 users, spread over 0 s"),
        "{text}"
    );
    assert!(text.contains("not judged, fewer than 1000 sales"), "{text}");
}

#[test]
fn killed_server_is_asked_for_what_it_had_told() {
    let (_folder, executable) = program();
    let restart = restart::run(&RestartConfig::usual(executable, 300)).unwrap();
    assert_eq!(restart.violations, [] as [&str; 0]);
    assert_eq!((restart.tickets_checked, restart.audit.accepted), (200, 300));
    assert!(0.0 < restart.ready_after_s && 0 < restart.journal_bytes);
    let report = Report {
        restart: Some(restart),
        ..Report::default()
    };
    let text = report.text();
    assert!(text.contains("restart: a sale with 300 buyers"), "{text}");
    assert!(text.contains("200 compared"), "{text}");
}

#[test]
fn orders_expire_and_their_units_are_looked_for() {
    let (_folder, executable) = program();
    for (units_to, place) in [
        (UnitsTo::Product, "0 in the sale, 50 in the product"),
        (UnitsTo::Sale, "50 in the sale, 0 in the product"),
    ] {
        let config = ExpiryConfig {
            pay_within: Duration::from_millis(1),
            ..ExpiryConfig::usual(&executable, 50, units_to)
        };
        let expiry = expiry::run(&config).unwrap();
        assert_eq!(expiry.violations, [] as [&str; 0]);
        let report = Report {
            expiries: vec![expiry],
            ..Report::default()
        };
        let text = report.text();
        assert!(text.contains(place), "{text}");
    }
}
