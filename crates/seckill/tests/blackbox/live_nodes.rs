//! Live figures of many processes on one Redis and one database.

use seckill_testkit::Postgres;
use serde_json::json;

use crate::shop::{API, SCHEDULER, Shop, WORKER};

#[test]
fn each_node_shows_the_figures_of_all_of_them() {
    let shop = Shop::new(Postgres::fresh().url()).with(&[API, API, WORKER, SCHEDULER]);
    let activity = shop.nodes[0].sale(10, &json!({}));
    shop.nodes[1].knows(activity);
    for watching in &shop.nodes {
        let event = watching.live().until(|event| {
            let nodes = event["nodes"].as_array().map_or(0, Vec::len);
            nodes == 4 && event["workers"]["running"] == 2 && !event["scheduler"].is_null()
        });
        let mut nodes = event["nodes"].as_array().into_iter().flatten();
        let holder = nodes.find(|node| node["id"] == event["scheduler"]);
        assert_eq!(holder.expect("one of them")["roles"], json!(["scheduler"]), "{event}");
    }
    let mut live = shop.nodes[3].live();
    for buyer in 0..30 {
        let node = &shop.nodes[buyer % 2];
        node.buy(activity, &format!("u{buyer}"), "k").expect("answers");
    }
    // What the others did is told before this node has read of the sale.
    let _event =
        live.until(|event| !event["outcomes_per_s"]["sold_out"].is_null() && event["activities"][0]["id"] == activity);
}
