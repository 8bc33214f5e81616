//! A state that lost something heals by itself: nothing is sold twice, nobody is forgotten, the books balance.

use seckill_queue::Queue;
use seckill_sale::ActivityId;
use seckill_stock::{Condition, GivenUp, Stock};

use crate::healing_house::{KEYS, key};
use crate::house::{House, run};

/// Ten units. `a` has an order, `c` is a dead letter, `b` was given back, `d` is with a worker, `e` is fresh.
async fn in_all_places() -> (House, ActivityId) {
    let house = House::new();
    let id = house.opened(10).await;
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
                house.redis(&["DEL", &key(id, name)]);
                if let Some(text) = text {
                    house.redis(&["SET", &key(id, name), text]);
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
                house.redis(&["HSET", &key(id, "meta"), field, text]);
                house.recovers(id).await;
                assert_eq!(house.left(id).await, 5, "{field} {text}");
            }
        }
        house.is_well(id, &["a", "b", "c", "d", "e"]).await;
    });
}

#[test]
fn an_emptied_server_sells_what_the_ledger_has_left() {
    run(async {
        let house = House::new();
        let id = house.opened(10).await;
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
        let house = House::new();
        let id = house.opened(40).await;
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
                house.scheduler().tick(house.clock_now()).await;
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

#[test]
fn a_healer_that_dies_at_any_step_is_followed_by_another_who_forgets_nobody() {
    for step in 0..5 {
        run(async {
            let (house, id) = in_all_places().await;
            house.redis(&["DEL", &key(id, "fresh")]);
            let epoch = match step {
                0 => None,
                _ => Some(house.begun(id).await),
            };
            if let Some(epoch) = epoch.filter(|_| 2 <= step) {
                assert!(matches!(
                    house.store.give_up(id, seckill_sale::Shards::ONE, epoch).await,
                    Ok(GivenUp::Remains(_))
                ));
            }
            if 3 <= step {
                // Half built: some buyers are there, or all of them.
                for name in KEYS {
                    house.redis(&["COPY", &format!("{}:old", key(id, name)), &format!("kept:{name}")]);
                }
                house.store.allow(i64::from(step - 3));
                assert!(house.operator.preheat(id, house.context()).await.is_err() == (step == 3));
                house.store.heal();
                if step == 4 {
                    for name in KEYS {
                        house.redis(&["RENAME", &format!("kept:{name}"), &format!("{}:old", key(id, name))]);
                    }
                    house.redis(&["HSET", &key(id, "meta"), "built", "0"]);
                }
            }
            house.clock.advance(3_001);
            house.recovers(id).await;
            assert_eq!(house.left(id).await, 5, "step {step}");
            house.is_well(id, &["a", "b", "c", "d", "e"]).await;
        });
    }
}

#[test]
fn two_that_heal_at_once_make_one_state() {
    for name in KEYS {
        run(async {
            let (house, id) = in_all_places().await;
            house.redis(&["DEL", &key(id, name)]);
            let (mut one, mut other) = (house.scheduler(), house.scheduler());
            tokio::join!(one.tick(house.clock_now()), other.tick(house.clock_now()));
            house.clock.advance(3_001);
            house.tick(id).await;
            assert_eq!(house.left(id).await, 5, "{name}");
            house.is_well(id, &["a", "b", "c", "d", "e"]).await;
        });
    }
}

#[test]
fn a_state_that_is_in_somebodys_hands_is_left_to_him_until_he_falls_silent() {
    run(async {
        let (house, id) = in_all_places().await;
        house.redis(&["DEL", &key(id, "meta")]);
        let epoch = house.begun(id).await;
        assert!(matches!(
            house.store.give_up(id, seckill_sale::Shards::ONE, epoch).await,
            Ok(GivenUp::Remains(_))
        ));
        assert_eq!(house.tick(id).await.healed, []);
        assert_eq!(house.store.condition(id).await, Ok(Condition::InHand));
        house.clock.advance(3_001);
        house.recovers(id).await;
        house.is_well(id, &["a", "b", "c", "d", "e"]).await;
    });
}
