//! The operator's hand on the tap: each switch at every node while buyers come, through kills and restarts; and switches that go home
//! by themselves.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use seckill_testkit::{Database, PostgresServer, Server};
use serde_json::{Value, json};

use crate::shop::{API, SCHEDULER, Shop, WORKER};

const APIS: usize = 3;
const NODES: [&[&str]; 5] = [API, API, API, WORKER, SCHEDULER];
const WORKS: usize = 3;
pub(crate) const SWITCHES: &str = "/admin/api/switches";

struct House {
    _database: Database<PostgresServer>,
    shop: Shop,
    activity: u64,
}

impl House {
    fn new() -> Self {
        let database = Database::alone(&[]);
        let shop = Shop::new(database.url()).with(&NODES);
        let activity = shop.nodes[0].sale(100_000, &json!({}));
        shop.nodes[..APIS].iter().for_each(|node| node.knows(activity));
        Self {
            _database: database,
            shop,
            activity,
        }
    }

    fn apis(&self) -> &[Server] {
        &self.shop.nodes[..APIS]
    }

    fn turns(&self, node: usize, change: &Value) -> Value {
        let node = &self.shop.nodes[node];
        // A ledger that is too busy just now is asked again, as its operator would.
        let turned = node.until(
            || node.as_admin("PATCH", SWITCHES, Some(change)),
            |answer| answer.status != 503,
        );
        assert_eq!(turned.status, 200, "{change}: {turned:?}");
        turned.data().clone()
    }

    /// The same for the revision that this node shows, as soon as no other is in force; gives the next one.
    fn turns_what_it_shows(&self, node: usize, change: &Value) -> Value {
        let node = &self.shop.nodes[node];
        let turn = || {
            let mut change = change.clone();
            change["revision"] = node.as_admin("GET", SWITCHES, None).data()["revision"].clone();
            node.as_admin("PATCH", SWITCHES, Some(&change))
        };
        let turned = node.until(turn, |answer| answer.status == 200);
        turned.data()["revision"].clone()
    }

    /// Every node says so to new buyers, as soon as it has heard of it.
    fn everywhere(&self, who: &str, code: i64) {
        for (place, node) in self.apis().iter().enumerate() {
            let mut number = 0;
            let buy = || {
                number += 1;
                let user = format!("{who}-{place}-{number}");
                node.buy(self.activity, &user, "k")
                    .map(|answer| answer.code())
                    .unwrap_or(-1)
            };
            let _said = node.until(buy, |said| *said == code);
        }
    }

    /// Every node shows the same of the switches.
    fn shows(&self, is_so: impl Fn(&Value) -> bool) {
        for node in self.apis() {
            let show = || node.as_admin("GET", SWITCHES, None).data().clone();
            let _shown = node.until(show, |shown| is_so(shown));
        }
    }

    fn kills_apis(&mut self) {
        self.shop.nodes[..APIS].iter_mut().for_each(Server::kill);
        self.shop.nodes[..APIS].iter_mut().for_each(Server::spawn);
        self.apis().iter().for_each(Server::until_ready);
    }
}

/// Buyers come to all nodes as fast as they are answered, until `done` returns; every answer is one that a buyer may hear.
fn under_load(house: &House, done: impl FnOnce()) {
    let (over, came) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for (place, node) in house.apis().iter().enumerate() {
            let (over, came, activity) = (&over, &came, house.activity);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let number = came.fetch_add(1, Ordering::Relaxed);
                    let answer = node
                        .buy(activity, &format!("load-{place}-{number}"), "k")
                        .expect("answers");
                    assert!(matches!(answer.status, 202 | 403 | 429 | 503), "{answer:?}");
                }
            });
        }
        let _over = Ends(&over);
        done();
    });
}

/// Ends the load also where what is done meanwhile fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn each_switch_reaches_every_node_under_load_and_survives_their_death() {
    let mut house = House::new();
    under_load(&house, || {
        for (nth, (there, code, back)) in [
            (json!({"entry_open": false}), 40_006, json!({"entry_open": true})),
            (json!({"read_only": true}), 40_006, json!({"read_only": false})),
            (json!({"admit_ratio": 0}), 50_300, json!({"admit_ratio": 1})),
            (json!({"challenge": "token"}), 40_301, json!({"challenge": null})),
            (
                json!({"limits": {"ip": "1/min burst 1"}}),
                40_003,
                json!({"limits": {"ip": null}}),
            ),
        ]
        .into_iter()
        .enumerate()
        {
            house.turns(nth % APIS, &there);
            house.everywhere(&format!("there-{nth}"), code);
            house.turns((nth + 1) % APIS, &back);
            house.everywhere(&format!("back-{nth}"), 0);
        }
    });
    let kept = json!({
        "admit_ratio": 0, "challenge": "token", "backlog_max": 77, "backlog_resume": 7, "backlog_oldest_max_s": 5, "auto_admit": "off",
        "limits": {"user": "9/s burst 9"},
    });
    let revision = house.turns_what_it_shows(1, &kept);
    house.kills_apis();
    house.shows(|shown| {
        let figures = (
            &shown["backlog_max"],
            &shown["backlog_resume"],
            &shown["backlog_oldest_max_s"],
        );
        let others = (&shown["auto_admit"], &shown["limits"]["user"], &shown["revision"]);
        figures == (&json!(77), &json!(7), &json!(5)) && others == (&json!("off"), &json!("9/s burst 9"), &revision)
    });
    house.everywhere("after", 50_300);
    let stale = json!({"revision": 10, "admit_ratio": 1});
    let refused = house.shop.nodes[2].as_admin("PATCH", SWITCHES, Some(&stale));
    assert_eq!((refused.status, refused.code()), (409, 40_900));
}

#[test]
fn a_full_backlog_holds_every_node_back_until_it_is_drained_to_the_lower_mark() {
    let mut house = House::new();
    house.turns(0, &json!({"backlog_max": 12, "backlog_resume": 3}));
    house.shows(|shown| shown["backlog_max"] == 12);
    house.shop.nodes[WORKS].kill();
    house.everywhere("filling", 50_301);
    house.shows(|shown| shown["backlog_holds_back"] == true);
    house.turns(2, &json!({"backlog_max": 1_000, "backlog_resume": null}));
    house.everywhere("wider", 0);
    // One that waits for longer than is borne.
    house.turns(1, &json!({"backlog_oldest_max_s": 1}));
    house.everywhere("old", 50_301);
    house.shop.nodes[WORKS].start_again();
    house.everywhere("drained", 0);
    let books = house.shop.nodes[0].settled(house.activity);
    assert_eq!(books["balanced"], true, "{books}");
}

/// The server's time in so many seconds.
fn in_seconds(node: &Server, seconds: i64) -> String {
    let time = node
        .as_admin("GET", SWITCHES, None)
        .header("server-time")
        .parse::<i64>();
    seckill_api::rfc3339(seckill_sale::EpochMs(time.expect("milliseconds") + seconds * 1_000))
}

#[test]
fn a_switch_goes_home_at_every_node_whoever_died_meanwhile_and_the_audit_log_says_so_once() {
    let mut house = House::new();
    // Time for three nodes to show that it is shut, however slow the machine.
    let at = in_seconds(&house.shop.nodes[0], 25);
    let shut = house.turns(0, &json!({"entry_open": false, "expires_at": at}));
    assert_eq!(shut["returns"][0]["members"], json!({"entry_open": true}));
    house.everywhere("shut", 40_006);
    house.kills_apis();
    house.shows(|shown| shown["returns"][0]["at"] == at.as_str() || shown["entry_open"] == true);
    house.everywhere("home", 0);
    let expired = || {
        let rows = house.shop.nodes[1].as_admin("GET", "/admin/api/audit-rows?limit=500", None);
        let rows = rows.data()["audit_rows"].as_array().cloned().unwrap_or_default();
        rows.iter().filter(|row| row["actor"] == "expired").count()
    };
    house.shop.nodes[1].until(expired, |rows| *rows == 1);
    house.shows(|shown| shown["returns"] == json!([]) && shown["revision"] == 2);
}
