//! A stand-in for the product's program, so that whole runs (children, ports, signals, audits) are tested without it.
//!
//! The program is a shell script that starts this very test executable again, narrowed to the one test below, which then serves.

mod product;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::canonical::{SaleConfig, run_in_temporary_folder};
use crate::comparison::Comparison;
use crate::ratios::{RatioConfig, compare};
use crate::server::ServerConfig;
use crate::testing::{Stub, script};
use product::Product;

/// Tells the test below that it runs as the program, with these arguments.
const ARGUMENTS: &str = "STAND_IN_ARGUMENTS";

/// A program that behaves like the product. The folder must outlive its use.
pub(crate) fn program() -> (tempfile::TempDir, PathBuf) {
    let own = std::env::current_exe().unwrap();
    let test = "stand_in::serves_as_the_product_when_it_is_started_as_such";
    script(&format!(
        "{ARGUMENTS}=\"$*\" exec '{}' --exact {test} --nocapture",
        own.display()
    ))
}

#[test]
fn serves_as_the_product_when_it_is_started_as_such() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else {
        return;
    };
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let listener = |flag: &str| {
        let at = arguments.iter().position(|argument| *argument == flag).unwrap();
        TcpListener::bind(arguments[at + 1]).unwrap()
    };
    if arguments.contains(&"--serve-hello") {
        let _hello = Stub::on(listener("--listen"), |_, _| Stub::json(200, r#"{"code":0}"#).into());
        wait_for_the_signal();
    }
    let at = arguments.iter().position(|argument| *argument == "--data-dir").unwrap();
    let product = Arc::new(Mutex::new(Product::on(Path::new(arguments[at + 1]))));
    let same = Arc::clone(&product);
    let _public = Stub::on(listener("--listen"), move |request, _| {
        product.lock().unwrap().answer(request)
    });
    let _admin = Stub::on(listener("--admin-listen"), move |request, _| {
        same.lock().unwrap().answer(request)
    });
    wait_for_the_signal();
}

fn wait_for_the_signal() -> ! {
    loop {
        std::thread::park();
    }
}

#[test]
fn whole_sale_runs_on_a_child_of_its_own() {
    let (_folder, executable) = program();
    let config = SaleConfig {
        units: 20,
        users: 300,
        connections: 8,
        ..SaleConfig::canonical()
    };
    let report = run_in_temporary_folder(&ServerConfig::of(&executable), &config).unwrap();
    assert_eq!(report.violations, [] as [&str; 0]);
    assert_eq!((report.audit.accepted, report.load.with_status(410)), (20, 280));
    assert_eq!(report.results_checked, 20 + 200);
    assert_eq!(report.settlement.seen.oldest_s_max, Some(0.25));
    assert!(report.cost.is_some() && report.disk.is_some());
}

#[test]
fn every_comparison_runs_its_pairs() {
    let (_folder, executable) = program();
    for comparison in Comparison::ALL {
        let config = RatioConfig {
            requests: 100,
            connections: 4,
            ..RatioConfig::usual(&executable)
        };
        let report = compare(comparison, &config).unwrap();
        assert_eq!(report.violations, [] as [&str; 0], "{comparison:?}");
        assert_eq!(report.pairs.len(), 5);
        assert!(
            0.0 < report.rate.min && report.rate.min <= report.rate.median && report.rate.median <= report.rate.max
        );
    }
}
