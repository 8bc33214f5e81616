//! A stub that sells, and one lie at a time: every lie must be found.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::admin::Admin;
use crate::canonical::{SaleReport, run_on, wait_open};
use crate::testing::Stub;
use crate::token::Signer;

const UNITS: usize = 5;

/// What the stub does wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Lie {
    None,
    SellsOneMore,
    SellsOneLess,
    GivesOneTicketTwice,
    ForgetsAnOrder,
    LosesAWinnersResult,
    GivesALoserAResult,
    Answers500,
    HangsUp,
    CallsItUnbalanced,
}

/// The bearer token of a request stands for its user.
fn token_of(request: &str) -> &str {
    request.split("Bearer ").nth(1).unwrap().split("\r\n").next().unwrap()
}

fn audit(lie: Lie, sold: usize) -> serde_json::Value {
    let written = sold - usize::from(lie == Lie::ForgetsAnOrder);
    json!({"code": 0, "data": {
        "stock_total": UNITS.max(sold), "stock_left": UNITS.saturating_sub(sold), "accepted": sold, "queued": 0, "succeeded": written,
        "failed": 0, "dead": 0, "orders_live": written, "orders_cancelled": 0, "returned": 0, "balanced": lie != Lie::CallsItUnbalanced,
    }})
}

/// One stub serves both ports.
fn selling(lie: Lie) -> Stub {
    let sold = Mutex::new(HashMap::new());
    Stub::answering(move |request, number| {
        let mut sold = sold.lock().unwrap();
        let units = match lie {
            Lie::SellsOneMore => UNITS + 1,
            Lie::SellsOneLess => UNITS - 1,
            _ => UNITS,
        };
        if request.starts_with("GET /metrics") {
            return Stub::closing(200, &format!("seckill_orders_written_total {}\n", sold.len())).into();
        }
        if request.contains("/audit ") {
            return Stub::closing(200, &audit(lie, sold.len()).to_string()).into();
        }
        if request.starts_with("GET /api/seckill/result/") {
            let ticket = sold.get(token_of(request)).copied();
            return match (ticket, lie) {
                (Some(0), Lie::LosesAWinnersResult) => Stub::closing(404, r#"{"code":40401}"#).into(),
                (None, Lie::GivesALoserAResult) | (Some(_), _) => Stub::closing(
                    200,
                    &json!({"code": 1, "data": {"order_no": format!("o{number}")}}).to_string(),
                )
                .into(),
                (None, _) => Stub::closing(404, r#"{"code":40401}"#).into(),
            };
        }
        if sold.len() < units {
            let ticket = sold.len();
            sold.insert(token_of(request).to_owned(), ticket);
            let shown = if lie == Lie::GivesOneTicketTwice {
                ticket.max(1)
            } else {
                ticket
            };
            return Stub::json(
                202,
                &json!({"code": 0, "data": {"ticket": format!("t{shown}")}}).to_string(),
            )
            .into();
        }
        match lie {
            Lie::Answers500 => Stub::json(500, r#"{"code":50000}"#).into(),
            Lie::HangsUp => Stub::hang_up(),
            _ => Stub::json(410, r#"{"code":40005}"#).into(),
        }
    })
}

pub(crate) fn sale(lie: Lie) -> SaleReport {
    sale_before(lie, Audience::Alone)
}

fn sale_before(lie: Lie, audience: Audience) -> SaleReport {
    let stub = selling(lie);
    let target = target(&stub);
    let config = SaleConfig {
        units: UNITS as u64,
        users: 20,
        connections: 3,
        audience,
        ..SaleConfig::canonical()
    };
    run_on(&target, 1, &config).unwrap()
}

fn target(stub: &Stub) -> Target {
    Target::of(
        stub.address,
        Admin::new(stub.address, "admin"),
        Signer::new(b"secret", 1),
    )
}

#[test]
fn honest_sale_has_no_violations() {
    let report = sale(Lie::None);
    assert_eq!(report.violations, [] as [&str; 0]);
    assert_eq!((report.load.winners.len(), report.load.with_status(410)), (UNITS, 15));
    assert_eq!(report.results_checked, 20);
}

#[test]
fn every_lie_is_found() {
    let lies = [
        (Lie::SellsOneMore, "6 units sold, 5 should have been"),
        (Lie::SellsOneLess, "4 units sold, 5 should have been"),
        (Lie::GivesOneTicketTwice, "5 winners hold 4 different tickets"),
        (Lie::ForgetsAnOrder, "4 orders written, 5 should have been"),
        (Lie::LosesAWinnersResult, "has no order: 404"),
        (Lie::GivesALoserAResult, "has a result: 200"),
        (Lie::Answers500, "15 answers with a status of 500 or more"),
        (Lie::HangsUp, "15 requests without an answer"),
        (Lie::CallsItUnbalanced, "balanced = Some(false)"),
    ];
    for (lie, said) in lies {
        let violations = sale(lie).violations;
        assert!(
            violations.iter().any(|violation| violation.contains(said)),
            "{lie:?}: {violations:?}"
        );
    }
}

#[test]
fn shared_sale_is_not_blamed_for_other_buyers() {
    assert_eq!(
        sale_before(Lie::SellsOneLess, Audience::Shared).violations,
        [] as [&str; 0]
    );
}

#[test]
fn crowd_waits_for_the_opening() {
    let stub = Stub::answering(|_, number| {
        let phase = if number < 2 { "upcoming" } else { "open" };
        Stub::closing(200, &json!({"code": 0, "data": {"phase": phase}}).to_string()).into()
    });
    wait_open(&target(&stub), 1, Duration::from_secs(20)).unwrap();
    assert_eq!(stub.connections(), 3);
    let closed = Stub::answering(|_, _| Stub::closing(200, r#"{"code":0,"data":{"phase":"ended"}}"#).into());
    assert!(wait_open(&target(&closed), 1, Duration::ZERO).is_err());
}

#[test]
fn sample_is_spread_over_all() {
    assert_eq!(spread(&[1, 2, 3, 4, 5, 6], 3), [1, 3, 5]);
    assert_eq!(spread(&[1, 2], 9), [1, 2]);
    assert_eq!(spread::<usize>(&[], 9), [] as [usize; 0]);
}

#[test]
fn a_crowd_that_met_limits_is_told_which() {
    let outcomes = [(202, 5), (429, 7)].map(|(status, count)| OutcomeCount {
        status,
        code: None,
        count,
    });
    let config = SaleConfig {
        units: 6,
        users: 12,
        ..SaleConfig::canonical()
    };
    let audit = |sold: usize| serde_json::from_value::<Audit>(audit(Lie::None, sold)["data"].take()).unwrap();
    let said = limited(&config, &audit(5), &outcomes).expect("a violation");
    assert!(said.starts_with("7 requests"), "{said}");
    assert_eq!(limited(&config, &audit(6), &outcomes), None, "limits that cost nothing");
    assert_eq!(limited(&config, &audit(5), &outcomes[..1]), None);
    let shared = SaleConfig {
        audience: Audience::Shared,
        ..config
    };
    assert_eq!(limited(&shared, &audit(5), &outcomes), None);
}
