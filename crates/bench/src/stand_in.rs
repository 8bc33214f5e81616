//! A stand-in for the product's program, so that whole runs (children, ports, signals, audits) are tested without it.
//!
//! The program is a shell script that starts this very test executable again, narrowed to the one test below, which then serves.

use std::collections::HashMap;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::canonical::{SaleConfig, run_in_temporary_folder};
use crate::comparison::Comparison;
use crate::ratios::{RatioConfig, compare};
use crate::server::ServerConfig;
use crate::testing::{Reply, Stub};

/// Tells the test below that it runs as the program, with these arguments.
const ARGUMENTS: &str = "STAND_IN_ARGUMENTS";

/// A program that behaves like the product. The folder must outlive its use.
pub(crate) fn program() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stand-in");
    let own = std::env::current_exe().unwrap();
    let test = "stand_in::serves_as_the_product_when_it_is_started_as_such";
    let script = format!(
        "#!/bin/sh\n{ARGUMENTS}=\"$*\" exec '{}' --exact {test} --nocapture\n",
        own.display()
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    (folder, path)
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
    let product = Arc::new(Mutex::new(Product::default()));
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

/// Sales by activity id minus one: units, and the buyers' tokens with their tickets.
#[derive(Default)]
struct Product {
    sales: Vec<(usize, HashMap<String, usize>)>,
}

impl Product {
    fn answer(&mut self, request: &str) -> Reply {
        let mut words = request.split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let body = request.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match (method, &parts[..]) {
            ("GET", ["readyz"]) => Stub::closing(200, "").into(),
            ("GET", ["metrics"]) => Stub::closing(200, "seckill_queue_oldest_seconds 0.25\n").into(),
            ("POST", ["admin", "api", "products"]) => said_by_admin(201, &json!({"id": 1})),
            ("POST", ["admin", "api", "activities"]) => {
                let body: Value = serde_json::from_str(body).unwrap();
                let units = usize::try_from(body["stock"].as_u64().unwrap()).unwrap();
                self.sales.push((units, HashMap::new()));
                said_by_admin(201, &json!({"id": self.sales.len()}))
            }
            ("POST", ["admin", "api", "activities", _, "preheat" | "close"]) => said_by_admin(200, &json!({})),
            ("GET", ["admin", "api", "activities", id, "audit"]) => {
                let (units, sold) = self.sale(id);
                let sold = sold.len();
                let audit = json!({
                    "stock_total": *units, "stock_left": *units - sold, "accepted": sold, "queued": 0, "succeeded": sold, "failed": 0,
                    "dead": 0, "orders_live": sold, "orders_cancelled": 0, "returned": 0, "balanced": true,
                });
                said_by_admin(200, &audit)
            }
            ("GET", ["api", "seckill", "result", id]) if self.sale(id).1.contains_key(token(request)) => {
                public(request, 200, r#"{"code":1,"data":{"order_no":"o"}}"#)
            }
            ("GET", ["api", "seckill", "result", _]) => public(request, 404, r#"{"code":40401}"#),
            ("GET", ["api", "activities", _]) => public(request, 200, r#"{"code":0,"data":{"phase":"open"}}"#),
            ("GET", ["api", "seckill", "events", _]) => public(request, 200, ""),
            ("POST", ["api", "seckill", id]) if id.parse().is_ok_and(|id: usize| id <= self.sales.len()) => {
                self.buy(id, request)
            }
            _ => public(request, 404, r#"{"code":40400}"#),
        }
    }

    fn sale(&mut self, id: &str) -> &mut (usize, HashMap<String, usize>) {
        let number: usize = id.parse().unwrap();
        &mut self.sales[number - 1]
    }

    fn buy(&mut self, id: &str, request: &str) -> Reply {
        let (units, sold) = self.sale(id);
        if sold.len() == *units {
            return public(request, 410, r#"{"code":40005}"#);
        }
        let ticket = sold.len();
        sold.insert(token(request).to_owned(), ticket);
        public(
            request,
            202,
            &json!({"code": 0, "data": {"ticket": format!("t{ticket}")}}).to_string(),
        )
    }
}

fn token(request: &str) -> &str {
    request.split("Bearer ").nth(1).unwrap().split("\r\n").next().unwrap()
}

fn said_by_admin(status: u16, data: &Value) -> Reply {
    Stub::closing(status, &json!({"code": 0, "data": data}).to_string()).into()
}

/// Keeps the connection unless the client wants it closed.
fn public(request: &str, status: u16, body: &str) -> Reply {
    if request.contains("Connection: close") {
        Stub::closing(status, body).into()
    } else {
        Stub::json(status, body).into()
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
