//! A sale that two processes preheat at once: neither takes the state of the other for a lost one, and nobody is kept out for it.

use seckill_ledger::Catalog;
use seckill_sale::{ActivityId, Epoch, NotReady, Opened, Refusal};
use seckill_stock::{Condition, OpenOutcome, Opening, Stock};

use crate::healing_house::{GRACE_MS, keys, shards};
use crate::house::{House, run};

/// How long somebody who has drawn the epoch of a first state may take before he begins with it.
const WAIT_MS: i64 = 3_000;

impl House {
    /// Another process, which has drawn this epoch, builds the state.
    async fn builds_elsewhere(&self, id: ActivityId, epoch: Epoch) {
        let activity = self.ledger.activity(id).await.expect("there");
        let opened = Opened {
            terms: activity.terms(),
            epoch,
            left: 5,
            next_sequence: 1,
            applied_movement: 1,
        };
        let opening = Opening {
            opened,
            shards: shards(),
            buyers: Vec::new(),
            replaces: None,
            grace_ms: 0,
        };
        assert_eq!(self.store.open(opening).await, Ok(OpenOutcome::Created));
    }

    /// The state is as it was before its builder's last step.
    fn is_half_built(&self, id: ActivityId, built: &str) {
        for key in keys(id).into_iter().filter(|key| key.ends_with(":meta")) {
            if self.redis(&["EXISTS", &key]).starts_with(":1") {
                let now = self.clock_now().to_string();
                self.redis(&["HSET", &key, "built", built, "newest", &now]);
            }
        }
    }

    async fn epoch(&self, id: ActivityId) -> Option<Epoch> {
        self.ledger.activity(id).await.expect("there").epoch
    }
}

#[test]
fn a_first_state_that_is_still_to_come_is_left_to_whoever_drew_its_epoch() {
    run(async {
        let house = House::new();
        let id = house.created(5).await;
        let epoch = house.begun(id).await;
        let mut scheduler = house.scheduler();
        let ticked = scheduler.tick(house.clock_now()).await;
        assert_eq!(
            (ticked.healed, ticked.preheated, ticked.failures),
            (vec![], vec![], vec![])
        );
        house.clock.advance(WAIT_MS - 1);
        assert_eq!(scheduler.tick(house.clock_now()).await.healed, []);
        house.builds_elsewhere(id, epoch).await;
        let ticked = scheduler.tick(house.clock_now()).await;
        assert_eq!((ticked.healed, ticked.failures), (vec![], vec![]));
        assert_eq!(house.epoch(id).await, Some(Epoch::FIRST));
        house.claim(id, "a", 1).await.expect("nobody is kept out");
    });
}

#[test]
fn whoever_drew_the_epoch_of_a_first_state_and_died_is_followed_by_another() {
    run(async {
        let house = House::new();
        let id = house.created(5).await;
        house.begun(id).await;
        let mut scheduler = house.scheduler();
        assert_eq!(scheduler.tick(house.clock_now()).await.healed, []);
        house.clock.advance(WAIT_MS);
        assert_eq!(scheduler.tick(house.clock_now()).await.healed, [id]);
        // What he admitted before he died, had he lived for so long, would come first.
        house.clock.advance(GRACE_MS);
        house.claim(id, "a", 1).await.expect("open");
    });
}

#[test]
fn a_state_that_was_seen_here_is_lost_at_once() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.redis(&["FLUSHALL"]);
        assert_eq!(house.scheduler().tick(house.clock_now()).await.healed, [id]);
    });
}

#[test]
fn a_preheat_waits_for_somebody_who_builds_the_state_and_takes_what_he_has_built() {
    run(async {
        let house = std::sync::Arc::new(House::new());
        let id = house.opened(5).await;
        house.is_half_built(id, "0");
        assert_eq!(house.store.condition(id).await, Ok(Condition::InHand));
        let builder = house.clone();
        *house.store.looked.lock() = Some(Box::pin(async move { builder.is_half_built(id, "1") }));
        let preheated = house.operator.preheat(id, house.context()).await.expect("preheated");
        assert_eq!((preheated.created, preheated.epoch), (false, Epoch::FIRST));
        assert_eq!(house.epoch(id).await, Some(Epoch::FIRST));
        house.claim(id, "a", 1).await.expect("nobody is kept out");
    });
}

#[test]
fn while_a_sale_is_preheated_for_the_first_time_its_buyers_hear_that_it_is_not_ready() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.is_half_built(id, "0");
        let refused = house.claim(id, "a", 1).await;
        assert_eq!(refused, Err(Refusal::NotReady(NotReady::NotPreheated)));
        house.is_half_built(id, "1");
        house.claim(id, "a", 1).await.expect("open");
    });
}
