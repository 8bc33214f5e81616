//! B-20 to B-22: what is somebody else's: orders, results, and everything of the operator's.

use super::stage::{Stage, WINNER, request};
use super::{Row, row};

pub(super) fn rows(stage: &Stage) -> Vec<Row> {
    let mut rows = of_others(stage);
    rows.extend(admin(stage));
    rows
}

fn of_others(stage: &Stage) -> Vec<Row> {
    let order = &stage.order;
    let result = stage.result_path();
    vec![
        row(
            "B-20 another's order",
            stage.ask("GET", &format!("/api/orders/{order}"), &[]),
            404,
            40_401,
        ),
        row(
            "B-20 another's result by query",
            stage.ask(
                "GET",
                &format!("{result}?user_id={WINNER}&user={WINNER}"),
                &["X-User-Id: winner"],
            ),
            404,
            40_401,
        ),
        row(
            "B-20 no order",
            stage.ask("GET", "/api/orders/S1-1-zz", &[]),
            404,
            40_401,
        ),
        row(
            "B-20 several orders",
            stage.ask("GET", &format!("/api/orders/{order},{order}"), &[]),
            404,
            40_401,
        ),
        row(
            "B-21 pays another's",
            stage.ask("POST", &format!("/api/orders/{order}/pay"), &[]),
            404,
            40_401,
        ),
        row(
            "B-21 cancels another's",
            stage.ask("POST", &format!("/api/orders/{order}/cancel"), &[]),
            404,
            40_401,
        ),
        row(
            "B-53 says that it is paid",
            request(
                "POST",
                "/api/payments/webhook",
                &["Content-Type: application/json"],
                format!("{{\"order_no\":\"{order}\",\"amount_cents\":100}}"),
            ),
            404,
            40_401,
        ),
        row(
            "B-21 cancels %s",
            stage.ask("POST", "/api/orders/%25/cancel", &[]),
            404,
            40_401,
        ),
    ]
}

fn admin(stage: &Stage) -> Vec<Row> {
    let operator = format!("Authorization: Bearer {}", stage.server.admin_token());
    let mut rows = Vec::new();
    for path in [
        "/admin",
        "/admin/",
        "/admin/api/switches",
        "/admin/api/switches/",
        "//admin/api/switches",
        "/./admin/api/switches",
        "/api/../admin/api/switches",
        "/%61dmin/api/switches",
        "/api/%2e%2e/admin/api/switches",
        "/admin/../api/time",
        "/admin/api/switches.",
        "/Admin/api/switches",
    ] {
        for method in ["GET", "PATCH"] {
            let (as_user, as_operator) = (stage.ask(method, path, &[]), request(method, path, &[&operator], ""));
            rows.push(row(format!("B-22 a user's {method} {path}"), as_user, 404, 40_401));
            rows.push(row(
                format!("B-22 the operator's {method} {path}"),
                as_operator,
                404,
                40_401,
            ));
        }
    }
    let buy = stage.buy_path();
    for method in [
        "GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW", "post",
    ] {
        rows.push(row(format!("B-22 {method}"), stage.ask(method, &buy, &[]), 405, 40_500));
    }
    let overriding = stage.ask(
        "GET",
        &buy,
        &["X-HTTP-Method-Override: POST", "X-Method-Override: POST"],
    );
    rows.push(row("B-22 a method by header", overriding, 405, 40_500));
    rows.push(row(
        "B-22 a path by header",
        stage.ask(
            "GET",
            "/nowhere",
            &["X-Original-URL: /api/time", "X-Rewrite-URL: /api/time"],
        ),
        404,
        40_401,
    ));
    rows
}
