//! What an operator has said holds at every node, and is there after each part of the house was killed.

use std::ops::Range;

use seckill_testkit::{Database, PostgresServer, Server};
use serde_json::{Value, json};

use crate::shop::{API, SCHEDULER, Shop, WORKER};

const APIS: usize = 3;
const NODES: [&[&str]; 5] = [API, API, API, WORKER, SCHEDULER];

struct House {
    database: Database<PostgresServer>,
    shop: Shop,
}

impl House {
    fn new() -> Self {
        let database = Database::alone(&[]);
        let shop = Shop::new(database.url()).with(&NODES);
        Self { database, shop }
    }

    fn apis(&self) -> &[Server] {
        &self.shop.nodes[..APIS]
    }

    fn sale(&self, stock: u64) -> u64 {
        let activity = self.shop.nodes[0].sale(stock, &json!({}));
        self.apis().iter().for_each(|node| node.knows(activity));
        activity
    }

    /// The operator at one node; it agrees.
    fn does(&self, node: usize, method: &str, path: &str, body: &Value) {
        let (path, node) = (format!("/admin/api/{path}"), &self.shop.nodes[node]);
        // Where the store has just come back it may have to be asked again.
        let answer = node.until(
            || node.as_admin(method, &path, Some(body)),
            |answer| answer.status != 503,
        );
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }

    /// Every node says so to whoever comes now, each time another one.
    fn everywhere(&self, activity: u64, who: &str, code: i64) {
        for (place, node) in self.apis().iter().enumerate() {
            let mut number = 0;
            let buy = || {
                number += 1;
                let user = format!("{who}-{place}-{number}");
                node.buy(activity, &user, "k").expect("answers").code()
            };
            let _said = node.until(buy, |said| *said == code);
        }
    }

    /// These are killed and start again.
    fn kills_nodes(&mut self, nodes: Range<usize>) {
        self.shop.nodes[nodes.clone()].iter_mut().for_each(Server::kill);
        self.shop.nodes[nodes.clone()].iter_mut().for_each(Server::spawn);
        self.shop.nodes[nodes].iter().for_each(Server::until_ready);
    }

    /// Each part is killed and starts again, one after another.
    fn kills_each(&mut self, holds: impl Fn(&Self, &str)) {
        self.kills_nodes(0..APIS);
        holds(self, "nodes-that-sell");
        self.kills_nodes(APIS..NODES.len());
        holds(self, "nodes-that-do-not");
        self.shop.redis.kill();
        self.shop.redis.start_again();
        holds(self, "store");
        self.database.kill();
        self.database.start_again();
        holds(self, "database");
    }

    /// All of it at the same time.
    fn kills_all(&mut self) {
        self.shop.redis.kill();
        self.database.kill();
        self.shop.nodes.iter_mut().for_each(Server::kill);
        self.database.start_again();
        self.shop.redis.start_again();
        self.shop.nodes.iter_mut().for_each(Server::spawn);
        self.shop.nodes.iter().for_each(Server::until_ready);
    }

    /// All units of the sale have their orders.
    fn has_sold(&self, activity: u64, units: u64) {
        let books = self.shop.nodes[0].settled(activity);
        let figures = ["balanced", "stock_total", "orders_live", "stock_left"].map(|name| books[name].clone());
        assert_eq!(figures, [json!(true), json!(units), json!(units), json!(0)], "{books}");
    }
}

const SOLD_OUT: i64 = 40_005;
const PAUSED: i64 = 40_006;

#[test]
fn a_pause_added_stock_and_a_sold_out_sale_are_the_same_at_every_node_whatever_was_killed() {
    let mut house = House::new();
    let (sold_out, paused) = (house.sale(2), house.sale(500));
    let add_stock = format!("activities/{sold_out}/add-stock");
    house.does(1, "POST", &add_stock, &json!({"quantity": 1}));
    house.everywhere(sold_out, "buyer", 0);
    house.everywhere(sold_out, "late", SOLD_OUT);
    house.does(2, "POST", &format!("activities/{paused}/pause"), &json!({}));
    house.everywhere(paused, "early", PAUSED);
    house.kills_each(|house, killed| {
        house.everywhere(sold_out, killed, SOLD_OUT);
        house.everywhere(paused, killed, PAUSED);
    });
    house.has_sold(sold_out, 3);

    // Units for a sale that all nodes have as sold out; and an entrance that is shut.
    house.does(0, "POST", &add_stock, &json!({"quantity": 3}));
    house.everywhere(sold_out, "second", 0);
    house.does(1, "POST", &format!("activities/{paused}/resume"), &json!({}));
    house.everywhere(paused, "early", 0);
    house.does(2, "PATCH", "switches", &json!({"entry_open": false}));
    house.everywhere(paused, "shut-out", PAUSED);
    house.kills_all();
    house.everywhere(paused, "everything", PAUSED);
    house.does(0, "PATCH", "switches", &json!({"entry_open": true}));
    house.everywhere(sold_out, "third", SOLD_OUT);
    house.everywhere(paused, "late", 0);
    house.has_sold(sold_out, 6);
}
