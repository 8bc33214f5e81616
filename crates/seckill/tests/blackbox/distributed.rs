//! Many processes on one Redis and one database, from outside.

use std::sync::Barrier;

use seckill_testkit::{MariaDb, Postgres, Redis, Server};
use serde_json::{Value, json};

use crate::program;

const API: &[&str] = &["serve", "--roles", "api"];
const WORKER: &[&str] = &["work"];
const SCHEDULER: &[&str] = &["serve", "--roles", "scheduler"];

/// Processes that share a store and a database.
struct Shop {
    redis: Redis,
    database: String,
    nodes: Vec<Server>,
}

impl Shop {
    fn new(database: String) -> Self {
        Self {
            redis: Redis::start(),
            database,
            nodes: Vec::new(),
        }
    }

    fn with(mut self, tasks: &[&[&str]]) -> Self {
        for task in tasks {
            let url = self.redis.url();
            let settings = [
                ("SECKILL_STORE__URL", url.as_str()),
                ("SECKILL_DATABASE__URL", &self.database),
                ("SECKILL_DATABASE__MIGRATE", "auto"),
            ];
            self.nodes.push(Server::start_as(&program(), task, &settings));
        }
        self
    }

    /// Everybody buys at the same moment, each at the node that his number says.
    fn rush(&self, activity: u64, buyers: usize, apis: usize) -> Vec<u16> {
        let start = Barrier::new(buyers);
        std::thread::scope(|scope| {
            let buy = |buyer: usize| {
                let (start, node) = (&start, &self.nodes[buyer % apis]);
                move || {
                    start.wait();
                    node.buy(activity, &format!("u{buyer}"), "k").expect("answers").status
                }
            };
            let rushing: Vec<_> = (0..buyers).map(|buyer| scope.spawn(buy(buyer))).collect();
            rushing.into_iter().map(|one| one.join().expect("no panic")).collect()
        })
    }
}

fn count(statuses: &[u16], status: u16) -> usize {
    statuses.iter().filter(|&&other| other == status).count()
}

fn sells_exactly_the_stock(database: String) {
    let shop = Shop::new(database).with(&[API, API, API, WORKER, WORKER, SCHEDULER]);
    let activity = shop.nodes[0].sale(30, &json!({}));
    for node in &shop.nodes[1..3] {
        node.knows(activity);
    }
    let statuses = shop.rush(activity, 120, 3);
    assert_eq!((count(&statuses, 202), count(&statuses, 410)), (30, 90), "{statuses:?}");
    for node in &shop.nodes {
        let books = node.settled(activity);
        let figures = ["balanced", "orders_live", "stock_left"].map(|name| books[name].clone());
        assert_eq!(figures, [json!(true), json!(30), json!(0)], "{books}");
    }
    let winner = statuses
        .iter()
        .position(|&status| status == 202)
        .expect("thirty of them");
    for node in &shop.nodes[..3] {
        let path = format!("/api/seckill/result/{activity}");
        let result = node
            .as_user(&format!("u{winner}"), "GET", &path, None)
            .expect("answers");
        assert_eq!((result.status, result.code()), (200, 1), "{result:?}");
        let again = node.buy(activity, &format!("u{winner}"), "k").expect("answers");
        assert_eq!(again.status, 202, "{again:?}");
    }
}

#[test]
fn three_apis_and_two_workers_sell_exactly_the_stock_on_redis_and_mariadb() {
    sells_exactly_the_stock(MariaDb::fresh().url());
}

#[test]
fn three_apis_and_two_workers_sell_exactly_the_stock_on_redis_and_postgresql() {
    sells_exactly_the_stock(Postgres::fresh().url());
}

/// Waits until a purchase of `user` at `node` is answered so.
fn until_buying_says(node: &Server, activity: u64, user: &str, status: u16) {
    let buy = || node.buy(activity, user, "k").expect("answers").status;
    let _status = node.until(buy, |said| *said == status);
}

/// The admin API of `node`, where it agrees.
fn admin(node: &Server, method: &str, path: &str, body: &Value) {
    let answer = node.as_admin(method, path, Some(body));
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn what_an_operator_does_at_one_node_holds_at_all_of_them() {
    let database = Postgres::fresh();
    let shop = Shop::new(database.url()).with(&[API, API, SCHEDULER]);
    let (here, there) = (&shop.nodes[0], &shop.nodes[1]);
    let activity = here.sale(1, &json!({}));
    there.knows(activity);
    let path = format!("/admin/api/activities/{activity}");
    admin(here, "POST", &format!("{path}/pause"), &json!({}));
    until_buying_says(there, activity, "a", 503);
    admin(here, "POST", &format!("{path}/resume"), &json!({}));
    until_buying_says(there, activity, "a", 202);
    until_buying_says(there, activity, "b", 410);
    admin(here, "POST", &format!("{path}/add-stock"), &json!({"quantity": 1}));
    until_buying_says(there, activity, "b", 202);
    admin(here, "PATCH", "/admin/api/switches", &json!({"entry_open": false}));
    until_buying_says(there, activity, "c", 503);
}
