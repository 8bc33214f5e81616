//! Which crate may depend on which: the layers of the house, as a table.
//!
//! Arrows go one way: the nouns, then the contracts, then engines and flows, then HTTP, then the
//! binary. Only the binary, the simulator and the instruction counts name an engine; tests may,
//! since they need something that runs. A new edge is a design decision: change the table and say why in the same commit.
//! Third-party crates are not looked at here.

use super::Problem;
use crate::workspace::{DependencyKind, Package};

const SALE: &str = "seckill-sale";
const STOCK: &str = "seckill-stock";
const QUEUE: &str = "seckill-queue";
const LEDGER: &str = "seckill-ledger";
const GATE: &str = "seckill-gate";
const EMBEDDED: &str = "seckill-engine-embedded";
const REDIS: &str = "seckill-engine-redis";
const SQL: &str = "seckill-ledger-sql";
const FLOW: &str = "seckill-flow";
const LISTENER: &str = "seckill-listener";
const METRICS: &str = "seckill-metrics";
const SETTINGS: &str = "seckill-settings";
const ALERTS: &str = "seckill-alerts";
const BENCH: &str = "seckill-bench";
const API: &str = "seckill-api";
const CONSOLE: &str = "seckill-console";
const TESTKIT: &str = "seckill-testkit";

/// What stands behind a contract. Tests of any crate may use one.
const ENGINES: &[&str] = &[EMBEDDED, REDIS, SQL];

/// Each crate, and the crates of ours that it may name outside its tests.
const ALLOWED: &[(&str, &[&str])] = &[
    (SALE, &[]),
    (STOCK, &[SALE]),
    (QUEUE, &[SALE]),
    (LEDGER, &[SALE]),
    (GATE, &[SALE]),
    (EMBEDDED, &[SALE, STOCK, QUEUE]),
    (REDIS, &[SALE, STOCK, QUEUE]),
    (SQL, &[SALE, LEDGER]),
    (FLOW, &[SALE, STOCK, QUEUE, LEDGER, GATE]),
    (LISTENER, &[]),
    (METRICS, &[]),
    (SETTINGS, &[]),
    // Activities and moments in what it tells.
    (ALERTS, &[SALE]),
    (BENCH, &[]),
    (TESTKIT, &[]),
    (API, &[SALE, STOCK, QUEUE, LEDGER, FLOW, GATE, METRICS]),
    (CONSOLE, &[SALE, STOCK, QUEUE, LEDGER, FLOW, GATE, METRICS, API]),
    (
        "seckill",
        &[
            SALE, STOCK, QUEUE, LEDGER, GATE, EMBEDDED, REDIS, SQL, FLOW, LISTENER, METRICS, SETTINGS, ALERTS, BENCH,
            API, CONSOLE,
        ],
    ),
    ("seckill-sim", &[SALE, STOCK, QUEUE, LEDGER, GATE, FLOW, EMBEDDED, SQL]),
    (
        "seckill-instructions",
        &[SALE, STOCK, QUEUE, LEDGER, GATE, EMBEDDED, SQL],
    ),
    ("xtask", &[]),
];

/// Every edge that the table does not know, and every crate that has no row.
pub(super) fn check(packages: &[Package]) -> Vec<Problem> {
    let mut problems: Vec<Problem> = packages.iter().flat_map(check_package).collect();
    for (name, _) in ALLOWED {
        if !packages.iter().any(|package| package.name == *name) {
            problems.push(Problem::new(*name, "has a row in the table of edges, but is no crate"));
        }
    }
    problems
}

fn check_package(package: &Package) -> Vec<Problem> {
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == package.name) else {
        return vec![Problem::new(&package.name, "has no row in the table of edges")];
    };
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.path.is_some())
        .filter(|dependency| {
            let name = dependency.name.as_str();
            let in_tests = dependency.kind == Some(DependencyKind::Dev);
            let for_tests = in_tests && (name == TESTKIT || ENGINES.contains(&name));
            !allowed.contains(&name) && !for_tests
        })
        .map(|dependency| Problem::new(&package.name, format!("may not depend on {}", dependency.name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::workspace::Dependency;

    fn package(name: &str, needs: &[(&str, Option<DependencyKind>)]) -> Package {
        let dependency = |(name, kind): &(&str, Option<DependencyKind>)| Dependency {
            name: (*name).to_owned(),
            kind: *kind,
            path: name.starts_with("seckill").then(|| PathBuf::from("anywhere")),
        };
        Package {
            name: name.to_owned(),
            manifest_path: PathBuf::new(),
            dependencies: needs.iter().map(dependency).collect(),
        }
    }

    fn check_one(name: &str, needs: &[(&str, Option<DependencyKind>)], expect: &[&str]) {
        let said = check_package(&package(name, needs));
        let said: Vec<_> = said.iter().map(|problem| problem.sentence.as_str()).collect();
        assert_eq!(said, expect, "{name} on {needs:?}");
    }

    #[test]
    fn flow_names_the_contracts_and_no_engine() {
        check_one(FLOW, &[(SALE, None), (STOCK, None), ("tokio", None)], &[]);
        check_one(
            FLOW,
            &[(EMBEDDED, None)],
            &["may not depend on seckill-engine-embedded"],
        );
        check_one(FLOW, &[(SQL, None)], &["may not depend on seckill-ledger-sql"]);
    }

    #[test]
    fn tests_may_use_an_engine_and_the_testkit_but_no_upper_layer() {
        let dev = Some(DependencyKind::Dev);
        check_one(FLOW, &[(EMBEDDED, dev), (TESTKIT, dev)], &[]);
        check_one(SALE, &[(FLOW, dev)], &["may not depend on seckill-flow"]);
        check_one(API, &[(TESTKIT, None)], &["may not depend on seckill-testkit"]);
    }

    #[test]
    fn only_the_binary_the_simulator_and_the_instruction_counts_name_an_engine() {
        for (name, _) in ALLOWED {
            for kind in [None, Some(DependencyKind::Build)] {
                let may = check_package(&package(name, &[(EMBEDDED, kind)])).is_empty();
                let should = ["seckill", "seckill-sim", "seckill-instructions"].contains(name);
                assert_eq!(may, should, "{name} {kind:?}");
            }
        }
    }

    #[test]
    fn a_crate_without_a_row_and_a_row_without_a_crate_are_both_found() {
        let mut packages: Vec<_> = ALLOWED.iter().map(|(name, _)| package(name, &[])).collect();
        assert_eq!(check(&packages), []);
        packages[0].name = "seckill-novelty".to_owned();
        let places: Vec<_> = check(&packages).into_iter().map(|problem| problem.place).collect();
        assert_eq!(places, ["seckill-novelty", SALE]);
    }

    #[test]
    fn the_table_has_no_cycle() {
        // Each crate only names crates that stand above it in the table or need nothing.
        for (at, (name, allowed)) in ALLOWED.iter().enumerate() {
            for other in *allowed {
                let there = ALLOWED.iter().position(|(name, _)| name == other);
                assert!(there.is_some_and(|there| there < at), "{name} -> {other}");
            }
        }
    }
}
