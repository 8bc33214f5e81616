//! The checklist before a sale, on real processes and servers: each line is broken on purpose and turns red. What processes alone can't be
//! brought to (a clock that is wrong, another version) is in `check_nodes`.

use seckill_testkit::{Postgres, Server};
use serde_json::{Value, json};

use crate::program;
use crate::shop::{API, SCHEDULER, Shop, WORKER};

/// The lines of an area, as the node says them.
pub(crate) fn lines(node: &Server, sale: Option<u64>, area: &str) -> Vec<(String, String)> {
    let path = match sale {
        Some(id) => format!("/admin/api/activities/{id}/check"),
        None => "/admin/api/check".to_owned(),
    };
    let answer = node.as_admin("GET", &path, None);
    let checks = answer.data()["checks"].as_array().cloned().unwrap_or_default();
    let of_area = checks.iter().filter(|check| check["area"] == area);
    let text = |check: &Value, name: &str| check[name].as_str().unwrap_or_default().to_owned();
    of_area
        .map(|check| (text(check, "state"), text(check, "said")))
        .collect()
}

/// Waits until a line of the area is so: nodes and links hear of what was done within moments.
pub(crate) fn until(node: &Server, sale: Option<u64>, area: &str, state: &str, words: &str) {
    let is_it = |(is, said): &(String, String)| is == state && said.contains(words);
    let _seen = node.until(|| lines(node, sale, area), |lines| lines.iter().any(is_it));
}

fn exit_code(node: &Server, arguments: &[&str]) -> (Option<i32>, String) {
    let admin = node.admin.to_string();
    let arguments: Vec<_> = arguments.iter().copied().chain(["--admin", &admin]).collect();
    let output = program().run(node.folder.path(), &arguments);
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

#[test]
fn a_process_that_is_ready_passes_at_the_first_look() {
    let server = Server::start(&program());
    let (code, said) = exit_code(&server, &["check"]);
    assert_eq!(code, Some(0), "{said}");
    for area in [
        "nodes",
        "versions",
        "clocks",
        "scheduler",
        "workers",
        "database writes",
        "store settings",
    ] {
        let line = said
            .lines()
            .find(|line| line.starts_with("passed") && line.contains(area));
        assert!(line.is_some(), "{area}: {said}");
    }
}

#[test]
fn a_database_that_somebody_has_locked_for_writing_fails_the_checklist() {
    let server = Server::start(&program());
    let other = rusqlite::Connection::open(server.data().join("seckill.db")).expect("the database");
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    let (code, said) = exit_code(&server, &["check"]);
    assert_eq!(code, Some(3), "{said}");
    // One line: that it answers would be no comfort.
    assert_eq!(lines(&server, None, "database"), []);
    let writes = lines(&server, None, "database writes");
    let [(state, told)] = &writes[..] else {
        panic!("{writes:?}")
    };
    assert_eq!(state, "failed");
    assert!(told.starts_with("reads are answered, writes are not: "), "{told}");
    other.execute_batch("ROLLBACK").expect("free again");
    until(&server, None, "database writes", "passed", "");
}

#[test]
fn a_process_that_buyers_can_pay_for_nothing_at_has_too_few_descriptors_and_no_data_folder_is_told() {
    let settings = [
        ("SECKILL_SERVER__PUBLIC_URL", "https://sale.example.com"),
        ("SECKILL_SERVER__CONNECTIONS_MAX", "10000000"),
    ];
    let server = Server::start_with(&program(), &settings);
    until(&server, None, "connections", "warning", "Raise the hard limit");
    until(&server, None, "disk", "passed", "are free");
    std::fs::rename(server.data(), server.folder.path().join("elsewhere")).expect("moved");
    until(&server, None, "disk", "failed", "can't be looked at");
}

#[test]
fn nodes_that_are_gone_turn_the_lines_of_their_roles_red() {
    let database = Postgres::fresh();
    let mut shop = Shop::new(database.url()).with(&[API, WORKER, SCHEDULER]);
    until(
        &shop.nodes[0],
        None,
        "nodes",
        "passed",
        "3 alive: 1 with the role api, 1 worker, 1 scheduler",
    );
    until(&shop.nodes[0], None, "workers", "passed", "2 run");
    shop.nodes[1].kill();
    until(&shop.nodes[0], None, "workers", "failed", "none runs");
    shop.nodes[2].kill();
    until(&shop.nodes[0], None, "scheduler", "failed", "");
    until(&shop.nodes[0], None, "scheduler", "failed", "runs nowhere");
    shop.nodes[1].start_again();
    shop.nodes[0].kill();
    until(&shop.nodes[1], None, "nodes", "failed", "nobody answers buyers");
}

#[test]
fn shards_without_units_and_shards_that_are_lost_are_told_of() {
    let database = Postgres::fresh();
    let shop = Shop::new(database.url()).with(&[API]);
    let node = &shop.nodes[0];
    let id = node.sale(8, &json!({"shards": 4}));
    let product = node.as_admin("GET", "/admin/api/products", None).data()["products"][0]["id"].clone();
    let small = json!({
        "product_id": product, "title": "t", "seckill_price_cents": 1, "stock": 3, "shards": 4,
        "starts_at": "2020-01-01T00:00:00Z", "ends_at": "2099-01-01T00:00:00Z",
    });
    let refused = node.as_admin("POST", "/admin/api/activities", Some(&small));
    assert_eq!(
        (refused.status, &refused.data()["field"]),
        (400, &json!("shards")),
        "{refused:?}"
    );
    until(node, Some(id), "shards", "passed", "4 shards have 2, 2, 2, 2 units");
    // No scheduler is there that would build it anew.
    let meta = format!("{{a:{id}:2}}:meta");
    shop.redis.expect(&["DEL", &meta], ":1");
    until(node, Some(id), "shards", "failed", "");
    until(node, Some(id), "stock", "failed", "");
    let unknown = node.created(5, &json!({}));
    until(node, Some(unknown), "stock", "failed", "not in the store");
}
