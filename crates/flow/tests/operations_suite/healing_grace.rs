//! Who had a ticket comes before strangers; and what nobody can tell of any more is said to be lost.

use std::time::Duration;

use seckill_engine_redis::Options;
use seckill_ledger::{Operations, Settlement};
use seckill_sale::{ActivityId, NotReady, Refusal};
use seckill_stock::Stock;

use crate::engine::Handle;
use crate::healing_house::GRACE_MS;
use crate::house::{House, all_rows, run, user};
use crate::trade::claim_of;

impl House {
    /// What the audit row of the last healing says.
    async fn said_of_loss(&self) -> String {
        let rows = self.ledger.audit_rows(all_rows()).await.expect("read").rows;
        let mut heals = rows.into_iter().filter(|row| row.action == "store.heal");
        heals.next().expect("it is written down").after
    }

    async fn is_closed_to_strangers(&self, id: ActivityId) {
        let answer = self.claim(id, "stranger", 1).await;
        assert_eq!(answer, Err(Refusal::NotReady(NotReady::Recovering)));
    }
}

#[test]
fn a_state_that_goes_on_in_place_and_is_known_to_lack_tickets_takes_them_up_first() {
    run(async {
        let (house, id) = House::selling(3).await;
        house.buy(id, &["a"]).await;
        let builder = house.redis(&["HGET", &house.key(id, "meta"), "builder"]);
        house.keeps_a_copy(id);
        house.buy(id, &["b", "c"]).await;
        assert_eq!(house.left(id).await, 0);
        house.goes_back(id);
        let _read = house.store.activities().await;
        assert_eq!(house.heal(id).await.healed, [id]);
        house.is_closed_to_strangers(id).await;
        let said = house.said_of_loss().await;
        assert!(said.contains("\"missing_units\":2"), "{said}");
        house.worker.adopt_strays().await;
        house.clock.advance(GRACE_MS);
        assert_eq!(house.claim(id, "stranger", 1).await, Err(Refusal::SoldOut));
        let in_place = house.redis(&["HGET", &house.key(id, "meta"), "builder"]) == builder;
        assert!(in_place || crate::SHARDS != 1, "in one piece it is not built anew");
        house.is_well(id, &["a", "b", "c"]).await;
        assert_eq!(house.count_succeeded(id, &["a", "b", "c"]).await, 3);
    });
}

/// A closed sale in which nothing waits gives its units back: here two of its tickets are only on their way to it.
#[test]
fn a_closed_sale_that_goes_on_in_place_and_lacks_tickets_keeps_their_units() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        house.settle().await;
        house.keeps_a_copy(id);
        house.buy(id, &["b", "c"]).await;
        house.operator.close(id, house.context()).await.expect("closed");
        assert_eq!(house.figures(id).await.accepted, 3);
        house.goes_back(id);
        let _read = house.store.activities().await;
        assert_eq!(house.heal(id).await.healed, [id]);
        house.heal(id).await;
        assert_eq!(house.left(id).await, 4, "nothing went back");
        house.worker.adopt_strays().await;
        house.is_well(id, &["a", "b", "c"]).await;
        assert_eq!(house.count_succeeded(id, &["a", "b", "c"]).await, 3);
        house.clock.advance(5_001);
        house.tick(id).await;
        let audit = house.balanced(id).await;
        assert_eq!((audit.orders_live, audit.returned, audit.stock_left), (3, 2, 0));
    });
}

#[test]
fn tickets_that_only_a_node_knew_which_died_are_told_as_missing() {
    run(async {
        let (house, id) = House::selling(10).await;
        house.buy(id, &["a"]).await;
        let options = Options {
            answer_within: Duration::from_secs(20),
            connect_within: Duration::from_secs(20),
            ..Options::new(house.engine.server.url(), "another".to_owned())
        };
        let another = Handle::connect_with_clock(options, house.clock.clone())
            .await
            .expect("connected");
        for name in ["x", "y"] {
            let answers = another.claim(vec![claim_of(id, name, 1)]).await;
            assert!(answers[0].is_ok(), "{answers:?}");
        }
        drop(another);
        assert_eq!(house.left(id).await, 7);
        house.redis(&["FLUSHALL"]);
        let _read = house.store.activities().await;
        assert_eq!(house.heal(id).await.healed, [id]);
        house.is_closed_to_strangers(id).await;
        let said = house.said_of_loss().await;
        assert!(said.contains("\"missing_units\":3"), "before they are offered: {said}");
        house.clock.advance(GRACE_MS);
        house.is_well(id, &["a"]).await;
        for name in ["x", "y"] {
            assert!(
                house.ledger.record(id, &user(name)).await.expect("read").is_none(),
                "{name}"
            );
        }
        // They ask again, and their units are there.
        house.buy(id, &["x", "y"]).await;
        house.is_well(id, &["a", "x", "y"]).await;
        assert_eq!(house.balanced(id).await.stock_left, 7);
    });
}
