//! Whoever heals a state dies, has company, or takes his time.

use seckill_sale::ActivityId;
use seckill_stock::{Condition, GivenUp, Stock};

use crate::healing::in_all_places;
use crate::healing_house::{KEYS, keys, shards};
use crate::house::{House, run};

/// A state that was built is as it was before the last step, beside what was kept of the one before it.
fn unbuild(house: &House, id: ActivityId) {
    for key in keys(id) {
        house.redis(&["RENAME", &format!("kept:{key}"), &format!("{key}:old")]);
        if key.ends_with(":meta") {
            house.redis(&["HSET", &key, "built", "0"]);
        }
    }
}

#[test]
fn a_healer_that_dies_at_any_step_is_followed_by_another_who_forgets_nobody() {
    for step in 0..5 {
        run(async {
            let (house, id) = in_all_places().await;
            house.redis(&["DEL", &house.key(id, "fresh")]);
            let epoch = match step {
                0 => None,
                _ => Some(house.begun(id).await),
            };
            if let Some(epoch) = epoch.filter(|_| 2 <= step) {
                assert!(matches!(
                    house.store.give_up(id, shards(), epoch).await,
                    Ok(GivenUp::Remains(_))
                ));
            }
            if 3 <= step {
                // Half built: some buyers are there, or all of them.
                for key in keys(id) {
                    house.redis(&["COPY", &format!("{key}:old"), &format!("kept:{key}")]);
                }
                house.store.allow(i64::from(step - 3));
                assert!(house.operator.preheat(id, house.context()).await.is_err() == (step == 3));
                house.store.heal();
                if step == 4 {
                    unbuild(&house, id);
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
            house.redis(&["DEL", &house.key(id, name)]);
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
        house.redis(&["DEL", &house.key(id, "meta")]);
        let epoch = house.begun(id).await;
        assert!(matches!(
            house.store.give_up(id, shards(), epoch).await,
            Ok(GivenUp::Remains(_))
        ));
        assert_eq!(house.tick(id).await.healed, []);
        assert_eq!(house.store.condition(id).await, Ok(Condition::InHand));
        house.clock.advance(3_001);
        house.recovers(id).await;
        house.is_well(id, &["a", "b", "c", "d", "e"]).await;
    });
}
