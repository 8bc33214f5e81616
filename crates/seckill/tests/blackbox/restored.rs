//! The database is restored from an older dump while nodes run: what the operator turns is at every node what the database says.

use std::net::SocketAddr;

use seckill_testkit::{Network, Postgres, Proxy, Server};
use serde_json::{Value, json};

use crate::shop::Shop;
use crate::tap::SWITCHES;

const SERVE: &[&str] = &["serve"];
const NODES: usize = 2;
const LET_IN: i64 = 0;
const PAUSED: i64 = 40_006;
const BLOCKED: i64 = 40_300;
const BUSY: i64 = 50_300;

struct House {
    shop: Shop,
    /// The way of all nodes to the database.
    to_database: Proxy,
    database: Postgres,
}

impl House {
    fn new() -> Self {
        let database = Postgres::fresh();
        let address = SocketAddr::from(([127, 0, 0, 1], database.port()));
        let to_database = Proxy::to(address);
        let through = database
            .url()
            .replace(&address.to_string(), &to_database.address.to_string());
        assert_ne!(through, database.url(), "the address has the port");
        Self {
            shop: Shop::new(through).with(&[SERVE; NODES]),
            to_database,
            database,
        }
    }

    fn sale(&self) -> u64 {
        let activity = self.shop.nodes[0].sale(1_000, &json!({}));
        self.shop.nodes.iter().for_each(|node| node.knows(activity));
        activity
    }

    /// The operator at one node; it agrees, as soon as it knows of the revision that the change is made for.
    fn does(&self, node: usize, method: &str, path: &str, body: &Value) -> Value {
        let (path, node) = (format!("/admin/api/{path}"), &self.shop.nodes[node]);
        let done = node.until(
            || node.as_admin(method, &path, Some(body)),
            |answer| matches!(answer.status, 200 | 201),
        );
        done.data().clone()
    }

    fn turns(&self, node: usize, change: &Value) -> Value {
        self.does(node, "PATCH", "switches", change)
    }

    /// The same for the revision that this node shows.
    fn turns_what_it_shows(&self, node: usize, change: &Value) -> Value {
        let node = &self.shop.nodes[node];
        let turn = || {
            let mut change = change.clone();
            change["revision"] = node.as_admin("GET", SWITCHES, None).data()["revision"].clone();
            node.as_admin("PATCH", SWITCHES, Some(&change))
        };
        node.until(turn, |answer| answer.status == 200).data().clone()
    }

    /// What the database has: its revision, and the switches.
    fn row(&self) -> (i64, Value) {
        let row = self
            .database
            .say("COPY (SELECT revision, json FROM switches) TO STDOUT");
        let (revision, json) = row.trim().split_once('\t').expect("two columns");
        (
            revision.parse().expect("a number"),
            serde_json::from_str(json).expect("JSON"),
        )
    }

    /// Every node shows the same of the switches as the database has.
    fn show_the_row(&self) {
        for node in &self.shop.nodes {
            let look = || (self.row(), node.as_admin("GET", SWITCHES, None).data().clone());
            let is_same = |((revision, row), shown): &((i64, Value), Value)| {
                let members = ["entry_open", "admit_ratio", "read_only", "backlog_max", "challenge"];
                let limits = ["ip", "user", "device"];
                let is_limit_same = |name: &&str| shown["limits"][*name] == row["limits"][*name];
                shown["revision"] == *revision
                    && members.iter().all(|name| shown[name] == row[name])
                    && limits.iter().all(is_limit_same)
                    && shown["ledger_pending"] == false
            };
            let _same = node.until(look, is_same);
        }
    }

    /// Every node says so to new buyers, as soon as it has heard of it.
    fn everywhere(&self, activity: u64, who: &str, code: i64) {
        for (place, node) in self.shop.nodes.iter().enumerate() {
            let mut number = 0;
            let buy = || {
                number += 1;
                heard(node, activity, &format!("{who}-{place}-{number}"))
            };
            let _said = node.until(buy, |said| *said == code);
        }
    }

    /// The same to this one.
    fn to_one(&self, activity: u64, user: &str, code: i64) {
        for node in &self.shop.nodes {
            let _said = node.until(|| heard(node, activity, user), |said| *said == code);
        }
    }
}

fn heard(node: &Server, activity: u64, user: &str) -> i64 {
    node.buy(activity, user, "k").map(|answer| answer.code()).unwrap_or(-1)
}

#[test]
fn switches_blocks_and_pauses_of_a_restored_database_are_in_force_at_every_node_that_runs() {
    let house = House::new();
    let (sale, paused) = (house.sale(), house.sale());
    house.turns(0, &json!({"admit_ratio": 0, "backlog_max": 777}));
    house.everywhere(sale, "early", BUSY);
    // What was sold until the other node had heard of it has its orders in the dump.
    assert_eq!(house.shop.nodes[0].settled(sale)["balanced"], true);
    let dump = house.database.dump();

    house.turns(1, &json!({"admit_ratio": 1, "backlog_max": 888, "challenge": "none"}));
    house.turns(0, &json!({"limits": {"user": "9/s burst 9", "ip": "off"}}));
    house.turns(1, &json!({"entry_open": false}));
    house.does(0, "POST", "blocks", &json!({"kind": "user", "value": "mallory"}));
    house.does(1, "POST", &format!("activities/{paused}/pause"), &json!({}));
    house.show_the_row();
    assert!(4 <= house.row().0);
    house.everywhere(sale, "shut", PAUSED);
    house.to_one(sale, "mallory", BLOCKED);

    house.database.restore(&dump);
    house.show_the_row();
    let (revision, row) = house.row();
    let figures = (revision, &row["admit_ratio"], &row["backlog_max"]);
    assert_eq!(figures, (1, &json!(0.0), &json!(777)));
    house.everywhere(sale, "restored", BUSY);

    let turned = house.turns_what_it_shows(1, &json!({"admit_ratio": 1}));
    assert_eq!((&turned["revision"], &turned["admit_ratio"]), (&json!(2), &json!(1.0)));
    house.everywhere(sale, "let-in", LET_IN);
    house.everywhere(paused, "let-in", LET_IN);
    house.to_one(sale, "mallory", LET_IN);
    let turned = house.turns_what_it_shows(0, &json!({"entry_open": false}));
    assert_eq!(turned["revision"], 3);
    house.show_the_row();
    house.everywhere(sale, "shut-again", PAUSED);
    for activity in [sale, paused] {
        let books = house.shop.nodes[0].settled(activity);
        assert_eq!(books["balanced"], true, "{books}");
    }
}

#[test]
fn an_entrance_that_was_shut_without_the_database_stays_shut_when_an_older_one_is_restored() {
    let house = House::new();
    let sale = house.sale();
    house.turns(0, &json!({"backlog_max": 777}));
    let dump = house.database.dump();
    house.turns(1, &json!({"backlog_max": 888}));
    house.turns(0, &json!({"backlog_max": 999}));
    house.show_the_row();
    house.to_database.set(Network::Reset);
    let shut = house.turns(1, &json!({"entry_open": false}));
    assert_eq!(shut["ledger_pending"], true);
    house.database.restore(&dump);
    house.to_database.set(Network::Fine);
    house.everywhere(sale, "shut", PAUSED);
    house.show_the_row();
    let (_, row) = house.row();
    let figures = (&row["entry_open"], &row["backlog_max"]);
    assert_eq!(figures, (&json!(false), &json!(777)));
    house.turns_what_it_shows(0, &json!({"entry_open": true}));
    house.everywhere(sale, "open", LET_IN);
}
