//! What a store keeps of a sale that is over: everything until its books are reconciled, and nothing a day after its end.

use seckill_testkit::{Postgres, Server};
use serde_json::json;

use crate::shop::{API, SCHEDULER, Shop, WORKER};

const FORGOTTEN: &str = "the store has forgotten a closed sale";

/// Keys of this sale.
fn keys(shop: &Shop, activity: u64) -> String {
    shop.redis
        .command(&["KEYS", &format!("{{a:{activity}:*")])
        .expect("answers")
}

/// How often the schedulers have had this sale forgotten.
fn forgotten(nodes: &[Server], activity: u64) -> usize {
    let logs = nodes.iter().map(Server::log);
    let is_of = |line: &&str| line.contains(FORGOTTEN) && line.contains(&format!("\"activity\":\"{activity}\""));
    logs.map(|log| log.lines().filter(is_of).count()).sum()
}

#[test]
fn keys_of_a_sale_go_once_a_day_after_its_end_and_never_before_its_books_balance() {
    let database = Postgres::fresh();
    let shop = Shop::new(database.url()).setting("SECKILL_SCHEDULE__SWEEP_EVERY", "100ms");
    let mut shop = shop.with(&[API, WORKER, SCHEDULER, SCHEDULER, SCHEDULER]);
    let node = &shop.nodes[0];
    let sales = [(); 3].map(|()| node.sale(5, &json!({})));
    for activity in sales {
        for user in ["a", "b"] {
            assert_eq!(node.buy(activity, user, "k").expect("answers").status, 202);
        }
        assert_eq!(node.settled(activity)["balanced"], true);
    }
    let [wrong, waits, fine] = sales;
    // The order of somebody who has his ticket is gone, and another ticket waits for a worker that is not there.
    let _ = database.say(&format!(
        "DELETE FROM orders WHERE activity_id = {wrong} AND user_id = 'a'"
    ));
    shop.nodes[1].terminate();
    let node = &shop.nodes[0];
    assert_eq!(node.buy(waits, "c", "k").expect("answers").status, 202);
    for activity in sales {
        // As though it had ended long ago.
        let path = format!("/admin/api/activities/{activity}");
        let ended = node.as_admin("PATCH", &path, Some(&json!({"ends_at": "2020-01-02T00:00:00Z"})));
        assert_eq!(ended.status, 200, "{ended:?}");
    }
    let _gone = node.until(|| keys(&shop, fine), |keys| keys.starts_with("*0"));
    let books = node.settled(fine);
    let figures = ["balanced", "orders_live", "returned", "stock_left"].map(|name| books[name].clone());
    assert_eq!(figures, [json!(true), json!(2), json!(3), json!(0)], "{books}");
    for activity in [wrong, waits] {
        assert!(!keys(&shop, activity).starts_with("*0"), "evidence stays");
    }
    shop.nodes[1].start_again();
    let node = &shop.nodes[0];
    let _gone = node.until(|| keys(&shop, waits), |keys| keys.starts_with("*0"));
    let books = node.settled(waits);
    assert_eq!(
        (&books["balanced"], &books["orders_live"]),
        (&json!(true), &json!(3)),
        "{books}"
    );
    assert!(!keys(&shop, wrong).starts_with("*0"), "evidence stays");
    assert_eq!(sales.map(|activity| forgotten(&shop.nodes, activity)), [0, 1, 1]);
}
