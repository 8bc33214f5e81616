//! B-41, B-54 and B-60: streams of others, what the public port has nothing of, and pages of other sites.

use super::stage::{Stage, request};
use super::{Row, last, row};

pub(super) fn rows(stage: &Stage) -> Vec<Row> {
    let mut rows = streams(stage);
    rows.extend(hidden(stage));
    rows.extend(pages(stage));
    rows
}

/// What the public port has nothing of.
fn hidden(stage: &Stage) -> Vec<Row> {
    let paths = [
        "/metrics",
        "/debug",
        "/debug/pprof/",
        "/actuator/env",
        "/server-status",
        "/.git/config",
        "/.env",
        "/seckill.toml",
        "/test/fault",
        "/api/debug",
        "/console",
        "/style.css?admin",
    ];
    let found = |path: &str| row(format!("B-54 {path}"), stage.ask("GET", path, &[]), 404, 40_401);
    let mut rows: Vec<_> = paths[..paths.len() - 1].iter().map(|path| found(path)).collect();
    // Only in gateway mode.
    rows.push(row(
        "B-54 the endpoint of gateways",
        request(
            "POST",
            "/seckill",
            &["Content-Type: application/json", "X-User-Id: u"],
            r#"{"activity_id":1,"user_id":"u"}"#,
        ),
        404,
        40_401,
    ));
    rows
}

/// Pages of other sites that a buyer visits.
fn pages(stage: &Stage) -> Vec<Row> {
    let mut rows: Vec<_> = [
        "null",
        "https://evil.example",
        "http://test.evil.example",
        "http://eviltest",
        "http://test:81",
        "http://test@evil.example",
        "",
    ]
    .iter()
    .map(|origin| {
        let line = format!("Origin: {origin}");
        row(
            format!("B-60 a purchase by {origin:?}"),
            stage.buy(&[&line], ""),
            403,
            40_302,
        )
    })
    .collect();
    let preflight = ["Origin: https://evil.example", "Access-Control-Request-Method: POST"];
    rows.push(row(
        "B-60 a preflight",
        stage.ask("OPTIONS", &stage.buy_path(), &preflight),
        403,
        40_302,
    ));
    let forwarded = [
        "X-Forwarded-Host: evil.example",
        "X-Forwarded-Proto: ftp",
        "Forwarded: host=evil.example",
    ];
    rows.push(row(
        "B-60 a host for links",
        stage.ask("GET", &stage.result_path(), &forwarded),
        404,
        40_401,
    ));
    rows
}

fn streams(stage: &Stage) -> Vec<Row> {
    let events = format!("/api/seckill/events/{}", stage.activity);
    let megabyte = format!("Last-Event-ID: {}", "9".repeat(1_000_000));
    vec![
        row(
            "B-41 another's events",
            stage.ask("GET", &format!("{events}?user_id=winner"), &[]),
            404,
            40_401,
        ),
        row(
            "B-41 a foreign event",
            stage.ask("GET", &events, &["Last-Event-ID: winner"]),
            404,
            40_401,
        ),
        row("B-41 nobody's events", request("GET", &events, &[], ""), 401, 40_100),
        row(
            "B-41 a token in the URL",
            request("GET", &format!("{events}?token=x"), &[], ""),
            401,
            40_100,
        ),
        last(
            "B-41 an event of 1 MB",
            stage.ask("GET", &events, &[&megabyte]),
            431,
            43_100,
        ),
        last(
            "B-41 a bare CR in the id of an event",
            stage.ask("GET", &events, &["Last-Event-ID: a\rdata: x"]),
            400,
            40_000,
        ),
        row(
            "B-41 another's order for a sale",
            stage.ask("GET", &format!("/api/seckill/events/{}", stage.order), &[]),
            400,
            40_000,
        ),
        row(
            "B-41 another's ticket for a sale",
            stage.ask(
                "GET",
                &format!("/api/seckill/events/{}", stage.order.replace('S', "T")),
                &[],
            ),
            400,
            40_000,
        ),
        row(
            "B-41 a line in the id",
            stage.ask("GET", "/api/seckill/events/1%0d%0adata:x", &[]),
            400,
            40_000,
        ),
    ]
}
