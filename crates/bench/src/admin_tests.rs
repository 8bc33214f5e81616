//! Tests of the admin client against a stub server.

use super::*;
use crate::audit::Audit;
use crate::testing::Stub;

const AUDIT: Audit = Audit {
    stock_total: 100,
    stock_left: 10,
    accepted: 90,
    queued: 5,
    succeeded: 80,
    failed: 3,
    dead: 2,
    orders_live: 70,
    orders_cancelled: 10,
    returned: 13,
    balanced: Some(true),
};

#[test]
fn sale_is_opened_in_three_steps() {
    let stub = Stub::answering(|request, number| {
        assert!(request.contains("Authorization: Bearer secret\r\n"), "{request}");
        let (line, answer) = match number {
            0 => (
                "POST /admin/api/products ",
                Stub::closing(201, r#"{"code":0,"data":{"id":7}}"#),
            ),
            1 => (
                "POST /admin/api/activities ",
                Stub::closing(201, r#"{"code":0,"data":{"id":9}}"#),
            ),
            _ => (
                "POST /admin/api/activities/9/preheat ",
                Stub::closing(200, r#"{"code":0,"data":{}}"#),
            ),
        };
        assert!(request.starts_with(line), "{request}");
        if number == 1 {
            let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).unwrap()).unwrap();
            assert_eq!(
                (body["product_id"].as_u64(), body["stock"].as_u64()),
                (Some(7), Some(50))
            );
            let at = |name: &str| body[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
            assert!(at("starts_at") < jiff::Timestamp::now() && jiff::Timestamp::now() < at("ends_at"));
        }
        answer.into()
    });
    assert_eq!(Admin::new(stub.address, "secret").open_sale("bench", 50).unwrap(), 9);
}

#[test]
fn a_preheat_that_is_refused_for_a_moment_is_asked_for_again() {
    let stub = Stub::answering(|_, number| {
        let status = [503, 503, 200, 409][number];
        Stub::closing(status, r#"{"code":0,"data":{}}"#).into()
    });
    let admin = Admin::new(stub.address, "x");
    admin.preheat(9).unwrap();
    assert_eq!(stub.connections(), 3);
    assert!(matches!(admin.preheat(9), Err(Error::Answer { status: 409, .. })));
}

#[test]
fn an_audit_that_the_store_does_not_answer_in_time_is_asked_for_again() {
    let stub = Stub::answering(|_, number| match number {
        0 => Stub::closing(503, r#"{"code":50302}"#).into(),
        _ => {
            let audit = serde_json::to_value(AUDIT).unwrap();
            Stub::closing(200, &json!({"code": 0, "data": audit}).to_string()).into()
        }
    });
    let audit = Admin::new(stub.address, "x")
        .wait_balanced(9, Duration::from_secs(60))
        .unwrap();
    // Whoever waits for settlement would go on.
    assert_eq!((audit.queued, stub.connections()), (5, 2));
}

#[test]
fn refusal_names_what_was_wanted_and_what_came() {
    let stub = Stub::answering(|_, _| Stub::closing(409, r#"{"code":40900}"#).into());
    let error = Admin::new(stub.address, "x")
        .create_product("p", 1)
        .unwrap_err()
        .to_string();
    assert_eq!(error, r#"create a product: answered 409: {"code":40900}"#);
}

#[test]
fn settled_means_nothing_queued_and_a_stable_audit() {
    let stub = Stub::answering(|_, number| {
        // Every look is a scrape, here without a depth, and then an audit.
        let audit = match number / 2 {
            0 => Audit { queued: 3, ..AUDIT },
            1 => Audit {
                queued: 0,
                balanced: None,
                ..AUDIT
            },
            _ => Audit { queued: 0, ..AUDIT },
        };
        let body = json!({"code": 0, "data": audit, "more": 1}).to_string();
        Stub::closing(200, &body).into()
    });
    let audit = Admin::new(stub.address, "x")
        .wait_settled(1, Duration::from_secs(20))
        .unwrap();
    assert_eq!((audit.queued, audit.balanced), (0, Some(true)));
}

#[test]
fn queue_that_never_empties_is_too_late() {
    let body = json!({"code": 0, "data": AUDIT}).to_string();
    let stub = Stub::answering(move |_, _| Stub::closing(200, &body).into());
    let error = Admin::new(stub.address, "x")
        .wait_settled(1, Duration::ZERO)
        .unwrap_err();
    assert!(matches!(error, Error::TooLate { .. }));
}

#[test]
fn equation_is_calculated_and_not_believed() {
    assert_eq!(AUDIT.faults(), [] as [&str; 0]);
    for audit in [
        Audit {
            orders_live: 71,
            ..AUDIT
        },
        Audit {
            stock_left: 11,
            ..AUDIT
        },
        Audit { succeeded: 81, ..AUDIT },
        Audit {
            balanced: None,
            ..AUDIT
        },
        Audit {
            balanced: Some(false),
            ..AUDIT
        },
    ] {
        assert_ne!(audit.faults(), [] as [&str; 0], "{audit:?}");
    }
}

#[test]
fn unreachable_server_is_not_ready() {
    let address = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    assert!(!Admin::new(address, "x").is_ready());
    assert!(Admin::new(address, "x").audit(1).unwrap_err().is_unreachable());
}
