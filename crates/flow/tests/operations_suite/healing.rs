//! A state that lost something heals by itself: nothing is sold twice, nobody is forgotten, the books balance.

use seckill_queue::Queue;
use seckill_sale::ActivityId;
use seckill_stock::Stock;

use crate::healing_house::KEYS;
use crate::house::{House, run};

/// Ten units. `a` has an order, `c` is a dead letter, `b` was given back, `d` is with a worker, `e` is fresh.
pub(crate) async fn in_all_places() -> (House, ActivityId) {
    let (house, id) = House::selling(10).await;
    house.buy(id, &["a"]).await;
    house.settle().await;
    house.buy(id, &["b", "c"]).await;
    house.park("c").await;
    house.buy(id, &["d"]).await;
    assert_eq!(house.store.take(1).await.expect("taken").len(), 1);
    house.buy(id, &["e"]).await;
    (house, id)
}

#[test]
fn whichever_key_is_lost_or_spoiled_nobody_is() {
    for name in KEYS {
        run(async {
            let (house, id) = in_all_places().await;
            for text in [None, Some("abc"), Some("5.5"), Some("-3"), Some("9e18")] {
                let key = house.key(id, name);
                house.redis(&["DEL", &key]);
                if let Some(text) = text {
                    house.redis(&["SET", &key, text]);
                }
                house.recovers(id).await;
                assert_eq!(house.left(id).await, 5, "{name} {text:?}");
            }
            house.is_well(id, &["a", "b", "c", "d", "e"]).await;
            for buyer in ["a", "b", "d", "e"] {
                assert!(house.succeeded(id, buyer).await, "{name} {buyer}");
            }
            house.buy(id, &["f"]).await;
            house.is_well(id, &["f"]).await;
        });
    }
}

#[test]
fn numbers_of_the_state_that_are_none_stop_it_until_it_is_healed() {
    run(async {
        let (house, id) = in_all_places().await;
        for field in ["left", "next", "accepted", "epoch", "built", "starts"] {
            for text in ["abc", "5.5", "-3", "9000000000000000000", "0x10", ""] {
                house.redis(&["HSET", &house.key(id, "meta"), field, text]);
                house.recovers(id).await;
                assert_eq!(house.left(id).await, 5, "{field} {text}");
            }
        }
        house.is_well(id, &["a", "b", "c", "d", "e"]).await;
    });
}

#[test]
fn keys_that_no_sale_has_for_itself_stop_none_and_the_list_of_sales_is_made_anew() {
    run(async {
        let (house, id) = House::selling(10).await;
        let names = ["sales", "switches", "acknowledged", "installation", "members", "beats"];
        for name in names {
            for key in [name, "lease:scheduler"] {
                house.redis(&["DEL", &format!("{{seckill}}:{key}")]);
            }
            house.buy(id, &[name]).await;
            assert_eq!(house.tick(id).await.healed, []);
            assert_eq!(house.store.activities().await, Ok(vec![id]), "{name}");
        }
        house.is_well(id, &names).await;
        assert_eq!(house.balanced(id).await.orders_live, 6);
    });
}

#[test]
fn an_emptied_server_sells_what_the_ledger_has_left() {
    run(async {
        let (house, id) = House::selling(10).await;
        house.buy(id, &["a", "b", "c"]).await;
        house.settle().await;
        house.buy(id, &["d", "e"]).await;
        house.redis(&["FLUSHALL"]);
        house.recovers(id).await;
        assert_eq!(house.left(id).await, 7);
        assert!(house.claim(id, "a", 1).await.expect("his own request").replayed);
        // What waited the node knows still, and offers it; `e` is quicker and buys again.
        house.buy(id, &["e", "f"]).await;
        house.is_well(id, &["a", "b", "c", "d", "e", "f"]).await;
        assert_eq!(house.balanced(id).await.orders_live, 6);
        let rows = seckill_ledger::Operations::audit_rows(&*house.ledger, crate::house::all_rows()).await;
        let rows = rows.expect("read").rows;
        let row = rows
            .iter()
            .find(|row| row.action == "store.heal")
            .expect("it is written down");
        assert!(row.after.contains("\"missing_units\":2"), "{}", row.after);
    });
}

#[test]
fn a_server_that_is_emptied_under_claims_never_sells_twice() {
    run(async {
        let (house, id) = House::selling(40).await;
        let buying = async {
            let mut accepted = Vec::new();
            for n in 0..120 {
                let name = format!("u{n}");
                if house.claim(id, &name, 1).await.is_ok() {
                    accepted.push(name);
                }
                if n % 10 == 0 {
                    house.worker.pass().await.ok();
                }
                if n == 25 || n == 70 {
                    house.redis(&["FLUSHALL"]);
                }
                tokio::task::yield_now().await;
            }
            accepted
        };
        let healing = async {
            for _ in 0..200 {
                house.tick(id).await;
                tokio::task::yield_now().await;
            }
        };
        let (accepted, ()) = tokio::join!(buying, healing);
        assert!(25 < accepted.len());
        let names: Vec<_> = accepted.iter().map(String::as_str).collect();
        house.is_well(id, &names).await;
        assert_eq!(house.balanced(id).await.orders_live, 40);
    });
}
