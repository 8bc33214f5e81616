//! A node whose own way to the database is cut off while the others have theirs: pauses and their ends reach it by the store.

use std::net::SocketAddr;

use seckill_testkit::{Network, Postgres, Proxy, Server};
use serde_json::json;

use crate::shop::Shop;

const SERVE: &[&str] = &["serve"];

/// Two nodes, each with its way to the database.
fn shop(database: &Postgres) -> (Shop, [Proxy; 2]) {
    let address = SocketAddr::from(([127, 0, 0, 1], database.port()));
    let ways = [Proxy::to(address), Proxy::to(address)];
    let through = |way: &Proxy| {
        let url = database.url();
        url.replace(&address.to_string(), &way.address.to_string())
    };
    let shop = Shop::new(through(&ways[0])).with(&[SERVE]);
    (shop.reaching_the_database_by(through(&ways[1])).with(&[SERVE]), ways)
}

fn command(node: &Server, activity: u64, what: &str) -> i64 {
    let path = format!("/admin/api/activities/{activity}/{what}");
    node.as_admin("POST", &path, Some(&json!({}))).code()
}

/// Buyers of this name, one after another, until one hears this code; and until the page shows it.
fn until_heard(node: &Server, activity: u64, name: &str, wanted: i64, phase: &str) {
    let mut numbers = 0..;
    let buy = || {
        let user = format!("{name}-{}", numbers.next().expect("endless"));
        node.buy(activity, &user, "k").expect("answers").code()
    };
    let _heard = node.until(buy, |code| *code == wanted);
    let path = format!("/api/activities/{activity}");
    let shown = || {
        let page = node.as_user("a", "GET", &path, None).expect("answers");
        page.data()["phase"].clone()
    };
    let _shown = node.until(shown, |shown| shown == phase);
}

#[test]
fn a_node_that_is_cut_off_from_the_database_follows_pauses_and_their_ends_and_can_pause() {
    let database = Postgres::fresh();
    let (shop, ways) = shop(&database);
    let [node, cut_off] = &shop.nodes[..] else {
        panic!("two nodes")
    };
    let activity = node.sale(1_000_000, &json!({}));
    cut_off.knows(activity);
    assert_eq!(command(node, activity, "pause"), 0);
    until_heard(cut_off, activity, "paused", 40_006, "paused");
    ways[1].set(Network::BlackHole);
    assert_eq!(command(node, activity, "resume"), 0);
    until_heard(cut_off, activity, "resumed", 0, "open");
    assert_eq!(command(cut_off, activity, "pause"), 0, "the other node writes it");
    for node in [node, cut_off] {
        until_heard(node, activity, "paused-again", 40_006, "paused");
    }
    let row = || {
        let path = format!("/admin/api/activities/{activity}");
        node.as_admin("GET", &path, None).data()["ledger_pending"].clone()
    };
    let _written = node.until(row, |is_pending| is_pending == false);
    ways[1].set(Network::Fine);
    assert_eq!(command(node, activity, "resume"), 0);
    until_heard(cut_off, activity, "resumed-again", 0, "open");
}
