//! Every route of the public port, walked by everybody in every state of a sale: one of them makes tickets, however it is asked, and in
//! gateway mode one more. Both refuse the same for the same reasons, in the same order.

mod gates;
mod ways;

use seckill_testkit::{Answer, Server, call};
use serde_json::{Value, json};

use crate::program;

const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const BUY: &str = "/api/seckill/{activity_id}";

/// The paths that the document of a port has.
fn paths(address: std::net::SocketAddr) -> Vec<String> {
    let document = call(address, "GET", "/openapi.json", &[], None).expect("answers").json;
    let paths = document["paths"].as_object().expect("a document");
    paths.keys().cloned().collect()
}

/// Whoever walks: a name for him, and his header lines.
fn people(server: &Server) -> [(&'static str, Vec<String>); 5] {
    let bearer = |token: &str| vec![format!("Authorization: Bearer {token}")];
    [
        ("anonymous", Vec::new()),
        ("a user", bearer(&server.token("walker"))),
        ("a blocked user", bearer(&server.token("blocked"))),
        ("a limited user", bearer(&server.token("limited"))),
        ("the operator", bearer(server.admin_token())),
    ]
}

fn made(server: &Server, path: &str, body: &Value) -> Answer {
    let answer = server.as_admin("POST", path, Some(body));
    assert!(matches!(answer.status, 200 | 201), "{path} {answer:?}");
    answer
}

/// Sales in every state that buyers meet.
fn sales(server: &Server) -> Vec<(&'static str, u64)> {
    let [paused, closed] = [server.sale(5, &json!({})), server.sale(5, &json!({}))];
    made(server, &format!("/admin/api/activities/{paused}/pause"), &json!({}));
    made(server, &format!("/admin/api/activities/{closed}/close"), &json!({}));
    vec![
        ("open", server.sale(5, &json!({}))),
        (
            "before its start",
            server.sale(5, &json!({"starts_at": "2098-01-01T00:00:00Z"})),
        ),
        ("paused", paused),
        ("closed", closed),
        ("with a challenge", server.sale(5, &json!({"challenge": "token"}))),
        ("not preheated", server.created(5, &json!({}))),
    ]
}

#[test]
fn no_route_but_the_purchase_makes_a_ticket_whoever_asks_and_whenever() {
    let server = Server::start_with(&program(), &[("SECKILL_LIMITS__USER", "1/min burst 5")]);
    made(
        &server,
        "/admin/api/blocks",
        &json!({"kind": "user", "value": "blocked"}),
    );
    let sales = sales(&server);
    let spent = server.sale(5, &json!({}));
    for _ in 0..8 {
        let _until_limited = server.buy(spent, "limited", "k").expect("answers");
    }
    let paths = paths(server.public);
    assert!(paths.iter().any(|path| path == BUY), "{paths:?}");
    for (state, sale) in &sales {
        let legacy = json!({"activity_id": sale, "user_id": "walker"}).to_string();
        let bodies = [None, Some("{}"), Some(r#"{"quantity":1}"#), Some(legacy.as_str())];
        for path in paths
            .iter()
            .filter(|path| *path != BUY)
            .chain([&"/".to_owned(), &"/docs".to_owned()])
        {
            let filled = ["{activity_id}", "{id}"]
                .iter()
                .fold(path.clone(), |path, name| path.replace(name, &sale.to_string()));
            let filled = filled.replace("{order_no}", "S1-1-1");
            for (who, lines) in people(&server) {
                for method in METHODS {
                    let body = bodies.iter().filter(|body| method == "POST" || body.is_none());
                    for body in body {
                        let answer = call(server.public, method, &filled, &lines, *body).expect("answers");
                        let fine = answer.status != 202
                            && (answer.status < 500 || answer.code() == 40_006 || answer.code() == 50_303);
                        assert!(fine, "{who}, {state}: {method} {path} {body:?}: {answer:?}");
                        assert!(
                            answer.data()["ticket"].is_null(),
                            "{who}, {state}: {method} {path}: {answer:?}"
                        );
                    }
                }
            }
        }
    }
    for (state, sale) in &sales {
        let audit = server.as_admin("GET", &format!("/admin/api/activities/{sale}/audit"), None);
        assert!(
            matches!(audit.data()["accepted"].as_u64(), None | Some(0)),
            "{state}: {audit:?}"
        );
        let result = server
            .as_user("walker", "GET", &format!("/api/seckill/result/{sale}"), None)
            .expect("answers");
        assert_ne!(result.status, 200, "{state}: {result:?}");
    }
    // The very same user may buy, so that nothing else kept him from it.
    assert_eq!(server.buy(sales[0].1, "walker", "k").expect("answers").status, 202);
}

#[test]
fn other_methods_on_the_path_of_the_purchase_make_no_ticket() {
    let server = Server::start(&program());
    let sale = server.sale(5, &json!({}));
    for method in METHODS.into_iter().filter(|method| *method != "POST") {
        let answer = server
            .as_user("walker", method, &format!("/api/seckill/{sale}"), None)
            .expect("answers");
        assert_eq!((answer.status, answer.code()), (405, 40_500), "{method} {answer:?}");
    }
    for path in ["", "/", "?", "//", "/.", "%20", "#x", ";x", ".json"] {
        let path = format!("/api/seckill/{sale}{path}");
        let answer = server
            .as_user(&path.len().to_string(), "POST", &path, None)
            .expect("answers");
        assert!(matches!(answer.status, 202 | 400 | 404), "{path} {answer:?}");
    }
    let books = server.settled(sale);
    // As it is, with an empty query, and with what only browsers have.
    assert!(
        books["accepted"].as_u64().is_some_and(|accepted| accepted <= 3),
        "{books}"
    );
    assert_eq!(books["balanced"], true, "{books}");
}

#[test]
fn the_public_port_answers_nothing_of_the_operator_s() {
    let server = Server::start(&program());
    let sale = server.sale(5, &json!({}));
    let before = server
        .as_admin("GET", "/admin/api/audit-rows?limit=100", None)
        .data()
        .clone();
    let (public, admin) = (paths(server.public), paths(server.admin));
    let both: Vec<_> = admin.iter().filter(|path| public.contains(path)).collect();
    assert_eq!(both, ["/readyz"], "what both ports have");
    for path in admin.iter().filter(|path| *path != "/readyz") {
        let path = path.replace("{id}", &sale.to_string());
        for (who, lines) in people(&server) {
            for method in METHODS {
                let body = (method == "POST").then_some("{}");
                let answer = call(server.public, method, &path, &lines, body).expect("answers");
                assert_eq!(
                    (answer.status, answer.code()),
                    (404, 40_401),
                    "{who}: {method} {path}: {answer:?}"
                );
            }
        }
    }
    let ready = call(server.public, "GET", "/readyz", &[], None).expect("answers");
    assert_eq!(ready.status, 200);
    for word in ["embedded", "sqlite", "data", "version"] {
        assert!(!ready.json.to_string().contains(&format!("\"{word}\":\"")), "{ready:?}");
    }
    assert_eq!(
        server.as_admin("GET", "/admin/api/audit-rows?limit=100", None).data(),
        &before
    );
}
