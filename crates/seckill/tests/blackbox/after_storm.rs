//! What has to hold when a storm is over.

use seckill_testkit::Server;
use serde_json::{Value, json};

use crate::crash::orders_by_user;
use crate::storm::{STOCK, Stage};

impl Stage {
    /// Sells out what is left, and counts.
    pub(crate) fn check(&self) {
        let (shop, history) = (
            self.shop.lock().expect("no panic"),
            self.history.lock().expect("no panic"),
        );
        let node = &shop.nodes[0];
        let buy = |user: &str| {
            let buy = || node.buy(self.activity, user, user).expect("answers");
            node.until(buy, |answer| answer.status != 503)
        };
        for user in &history.unanswered {
            let answer = buy(user);
            assert!([202, 410].contains(&answer.status), "{user}: {answer:?}");
        }
        let late = (0..=STOCK).map(|number| format!("late-{number}"));
        let refused = late.map(|user| buy(&user).status).find(|&status| status == 410);
        assert_eq!(refused, Some(410), "more was sold than there was");
        let books = node.settled(self.activity);
        let figures = ["balanced", "orders_live", "stock_left", "dead"].map(|name| books[name].clone());
        assert_eq!(figures, [json!(true), json!(STOCK), json!(0), json!(0)], "{books}");
        for (user, ticket) in &history.tickets {
            self.has_order(node, user, ticket);
        }
        let orders = orders_by_user(node, self.activity);
        assert_eq!(orders.values().max(), Some(&1), "somebody has two orders");
    }

    fn has_order(&self, node: &Server, user: &str, ticket: &str) {
        let path = format!("/api/seckill/result/{}", self.activity);
        let result = node.as_user(user, "GET", &path, None).expect("answers");
        let told: Option<&Value> = result.json.pointer("/data/ticket");
        assert_eq!((result.code(), told), (1, Some(&json!(ticket))), "{user}: {result:?}");
    }
}
