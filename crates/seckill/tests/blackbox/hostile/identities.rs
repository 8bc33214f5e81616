//! B-10 to B-17: who asks.

use super::stage::{STRANGER, Stage, WINNER, request};
use super::{Row, last, row};

const ISSUED: &str = r#"{"alg":"HS256","typ":"JWT"}"#;
const FOREIGN_SECRET: &str = "of-somebody-else-0123456789abcdef-0123456789";

pub(super) fn rows(stage: &Stage) -> Vec<Row> {
    let mut rows = headers(stage);
    rows.extend(tokens(stage));
    rows.extend(large(stage));
    rows
}

fn headers(stage: &Stage) -> Vec<Row> {
    let (buy, good) = (stage.buy_path(), stage.bearer());
    let query = format!("{buy}?token={0}&access_token={0}", stage.server.token(STRANGER));
    let other = format!("Authorization: Bearer {}", stage.server.token(WINNER));
    let ask = |path: &str, lines: &[&str]| request("POST", path, lines, "");
    vec![
        row("B-10 nobody", ask(&buy, &[]), 401, 40_100),
        row("B-10 no token", ask(&buy, &["Authorization: Bearer "]), 401, 40_100),
        row(
            "B-10 another scheme",
            ask(&buy, &["Authorization: Basic YTpi"]),
            401,
            40_100,
        ),
        row("B-10 a cookie", ask(&buy, &["Cookie: token=a"]), 401, 40_100),
        row(
            "B-10 a gateway's header",
            ask(&buy, &["X-User-Id: winner"]),
            401,
            40_100,
        ),
        row("B-10 a token in the URL", ask(&query, &[]), 401, 40_100),
        row("B-10 the same token twice", ask(&buy, &[&good, &good]), 400, 40_000),
        row("B-10 two tokens", ask(&buy, &[&good, &other]), 400, 40_000),
        row(
            "B-10 a token and nothing",
            ask(&buy, &["Authorization:", &good]),
            400,
            40_000,
        ),
        row(
            "B-10 two tokens for a result",
            request("GET", &stage.result_path(), &[&good, &other], ""),
            400,
            40_000,
        ),
    ]
}

fn tokens(stage: &Stage) -> Vec<Row> {
    let server = &stage.server;
    let claims = |exp: &str| format!(r#"{{"sub":"{STRANGER}","exp":{exp}}}"#);
    let fine = claims("4102444800");
    let stripped = |head: &str| {
        let token = server.signed(head, &fine);
        format!("{}.", token.rsplit_once('.').expect("three parts").0)
    };
    let mut bad = Vec::new();
    for alg in ["none", "None", "nOnE", "NONE", ""] {
        let head = format!(r#"{{"alg":"{alg}"}}"#);
        bad.push((format!("B-11 alg {alg:?}, no signature"), stripped(&head)));
        bad.push((format!("B-11 alg {alg:?}, signed"), server.signed(&head, &fine)));
    }
    bad.push(("B-11 no signature".to_owned(), stripped(ISSUED)));
    for alg in ["HS384", "HS512", "RS256", "ES256", "EdDSA", "hs256"] {
        let head = format!(r#"{{"alg":"{alg}"}}"#);
        bad.push((format!("B-12 alg {alg}"), server.signed(&head, &fine)));
    }
    for more in [
        r#""kid":"../../../../dev/null""#,
        r#""kid":"' OR 1=1 --""#,
        r#""kid":"http://127.0.0.1/key""#,
        r#""jku":"http://127.0.0.1/keys""#,
        r#""jwk":{"kty":"oct","k":"b2Ytc29tZWJvZHktZWxzZS0wMTIzNDU2Nzg5YWJjZGVmLTAxMjM0NTY3ODk"}"#,
        r#""x5u":"http://127.0.0.1/cert""#,
    ] {
        let head = format!(r#"{{"alg":"HS256",{more}}}"#);
        bad.push((
            format!("B-12 {more}"),
            seckill_testkit::signed(&head, &fine, FOREIGN_SECRET),
        ));
        bad.push((
            format!("B-12 {more}, no key"),
            seckill_testkit::signed(&head, &fine, ""),
        ));
    }
    let critical = server.signed(r#"{"alg":"HS256","crit":["exp"],"exp":1}"#, &fine);
    bad.push(("B-12 a critical extension".to_owned(), critical));
    for (name, claims) in [
        ("B-14 long expired", claims("1000000000")),
        ("B-14 expiry as text", claims("\"4102444800\"")),
        ("B-14 no expiry", format!(r#"{{"sub":"{STRANGER}"}}"#)),
        ("B-14 nobody", r#"{"exp":4102444800}"#.to_owned()),
        (
            "B-14 somebody twice",
            r#"{"sub":"a","sub":"b","exp":4102444800}"#.to_owned(),
        ),
        (
            "B-14 a name with a brace",
            r#"{"sub":"{1}","exp":4102444800}"#.to_owned(),
        ),
    ] {
        bad.push((name.to_owned(), server.signed(ISSUED, &claims)));
    }
    bad.push(("B-14 the operator's token".to_owned(), server.admin_token().to_owned()));
    bad.push(("B-17 a long token".to_owned(), format!("{}.x", "x".repeat(9_000))));
    let buy = |token: &str| {
        let bearer = format!("Authorization: Bearer {token}");
        request("POST", &stage.buy_path(), &[&bearer], "")
    };
    bad.into_iter()
        .map(|(name, token)| row(name, buy(&token), 401, 40_100))
        .collect()
}

fn large(stage: &Stage) -> Vec<Row> {
    let megabyte = format!("X-Large: {}", "x".repeat(1_000_000));
    let many: Vec<_> = (0..101).map(|at| format!("X-{at}: y")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let odd = format!("aUTHORIZATION: bEARER {}", stage.server.token(STRANGER));
    vec![
        last("B-17 1 MB of header", stage.buy(&[&megabyte], ""), 431, 43_100),
        last("B-17 101 headers", stage.buy(&many, ""), 431, 43_100),
        last("B-17 a NUL", stage.buy(&["X-A: a\0b"], ""), 400, 40_000),
        last("B-17 a bare CR", stage.buy(&["X-A: a\rb"], ""), 400, 40_000),
        last("B-17 a bare LF", stage.buy(&["X-A: a\nX-B: b"], ""), 400, 40_000),
        last("B-17 no name", stage.buy(&[": b"], ""), 400, 40_000),
        // Accepted: the stranger is known, and has no ticket.
        row(
            "B-17 odd casing",
            request("GET", &stage.result_path(), &[&odd], ""),
            404,
            40_401,
        ),
    ]
}
