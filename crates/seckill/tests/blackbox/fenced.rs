//! The figure `seckill_activity_fenced` of a node whose way to the store is cut: it follows the sale once the node is back.

use seckill_testkit::{Network, Postgres, Proxy, Server, text};
use serde_json::json;

use crate::shop::{API, SCHEDULER, Shop};

/// The figure of a sale, as a node shows it.
fn fenced(node: &Server, activity: u64) -> Option<String> {
    let line = format!("seckill_activity_fenced{{activity=\"{activity}\"}} ");
    let page = text(node.admin, "/metrics").expect("answers");
    let value = page.lines().find_map(|found| found.strip_prefix(&line));
    value.map(str::to_owned)
}

fn until_fenced(node: &Server, activity: u64, value: &str) {
    let _shown = node.until(|| fenced(node, activity), |shown| shown.as_deref() == Some(value));
}

/// A scheduler that reaches the store, and behind a proxy a node that answers buyers.
fn shop(database: &Postgres) -> (Shop, Proxy) {
    let shop = Shop::new(database.url()).with(&[SCHEDULER]);
    let way = Proxy::to(shop.redis.address());
    let url = format!("redis://{}", way.address);
    (shop.reaching_the_store_by(url).with(&[API]), way)
}

#[test]
fn a_node_that_was_cut_off_while_sales_were_made_lost_and_built_anew_shows_them_as_they_are_when_it_is_back() {
    let database = Postgres::fresh();
    let (shop, way) = shop(&database);
    let (scheduler, api) = (&shop.nodes[0], &shop.nodes[1]);
    let first = scheduler.sale(5, &json!({}));
    until_fenced(api, first, "0");
    way.set(Network::Reset);
    let second = scheduler.sale(5, &json!({}));
    until_fenced(scheduler, second, "0");
    api.knows(second);
    assert_eq!(
        fenced(api, second).as_deref(),
        Some("0"),
        "nothing is known of it but that it sells"
    );
    shop.redis.flush_all();
    scheduler.until_the_store_answers(first);
    until_fenced(scheduler, second, "0");
    way.set(Network::Fine);
    for sale in [first, second] {
        until_fenced(api, sale, "0");
        assert_eq!(
            api.until(
                || api.buy(sale, "a", "k").expect("answers").status,
                |status| *status == 202
            ),
            202
        );
        until_fenced(api, sale, "0");
    }
}

#[test]
fn a_fence_that_a_broken_call_left_is_opened_by_its_node_and_no_more_in_its_figure() {
    let database = Postgres::fresh();
    let (shop, way) = shop(&database);
    let (scheduler, api) = (&shop.nodes[0], &shop.nodes[1]);
    let activity = scheduler.sale(10, &json!({}));
    api.knows(activity);
    let meta = format!("{{a:{activity}:0}}:meta");
    shop.redis.expect(&["HINCRBY", &meta, "left", "2"], ":12");
    way.eat_reply_to(b"paused", 1);
    let path = format!("/admin/api/activities/{activity}/reconcile");
    let answer = api.as_admin("POST", &path, Some(&json!({"fix": true})));
    assert_ne!(answer.status, 200, "{answer:?}");
    assert_eq!(way.replies_eaten(), 1);
    // It opens the fence itself at its next look; else the scheduler does, much later, and the node never hears of it.
    let buy = || api.buy(activity, "a", "k").expect("answers").status;
    let _sold = api.until(buy, |status| *status == 202);
    until_fenced(api, activity, "0");
}

/// Every node that reaches the store shows it, and the scheduler ends it.
#[test]
fn a_sale_that_the_store_has_lost_is_shown_as_fenced_until_it_is_healed() {
    let database = Postgres::fresh();
    let shop = Shop::new(database.url()).with(&[SCHEDULER, API]);
    let (scheduler, api) = (&shop.nodes[0], &shop.nodes[1]);
    let activity = scheduler.sale(5, &json!({}));
    until_fenced(api, activity, "0");
    // Nobody can heal it meanwhile.
    let held = database.hold(&format!(
        "BEGIN; SELECT * FROM stock WHERE activity_id = {activity} FOR UPDATE"
    ));
    shop.redis.flush_all();
    let buy = || api.buy(activity, "a", "k").expect("answers").status;
    let _refused = api.until(buy, |status| *status == 503);
    until_fenced(api, activity, "1");
    until_fenced(scheduler, activity, "1");
    drop(held);
    until_fenced(scheduler, activity, "0");
    until_fenced(api, activity, "0");
}
