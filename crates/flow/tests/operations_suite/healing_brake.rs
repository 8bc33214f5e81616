//! A pause and a store that goes back to an earlier state: none is lost that the ledger has not got, and none comes back that is over.

use seckill_ledger::{ActivityPatch, Catalog};
use seckill_sale::{ActivityId, Refusal, Status};

use crate::house::{House, run};

async fn status(house: &House, id: ActivityId) -> Status {
    house.ledger.activity(id).await.expect("read").status
}

/// Paused while the database is locked: the store alone has it.
async fn held(house: &House, id: ActivityId) {
    let paused = house.operator.pause(id, None, house.context()).await.expect("held");
    assert_eq!(paused.status, Status::Paused);
    assert!(house.operator.is_pending(id));
}

#[test]
fn a_pause_that_goes_with_the_store_s_last_words_is_written_and_told_again() {
    run(async {
        let house = House::new();
        let id = house.opened(5).await;
        house.buy(id, &["a"]).await;
        house.settle().await;
        house.keeps_a_copy(id);
        let locked = house.lock_database();
        held(&house, id).await;
        house.goes_back(id);
        drop(locked);
        // No word about whether it is paused.
        let notice = ActivityPatch {
            notice: Some("soon".to_owned()),
            ..ActivityPatch::default()
        };
        house
            .ledger
            .patch_activity(id, notice, house.context())
            .await
            .expect("patched");
        house.tick(id).await;
        assert_eq!(status(&house, id).await, Status::Paused);
        assert!(!house.operator.is_pending(id), "the ledger has it");
        let bought = house.claim(id, "b", 1).await;
        assert_eq!(bought, Err(Refusal::Paused { resumes_at: None }));
        house.operator.resume(id, house.context()).await.expect("resumed");
        house.buy(id, &["c"]).await;
        house.is_well(id, &["a", "c"]).await;
    });
}

/// Somebody else has written and ended it.
#[test]
fn a_pause_that_is_gone_behind_its_end_in_the_ledger_is_not_told_again() {
    run(async {
        let house = House::new();
        let id = house.opened(5).await;
        house.keeps_a_copy(id);
        let locked = house.lock_database();
        held(&house, id).await;
        drop(locked);
        house.clock.advance(1);
        for next in [Status::Paused, Status::Running] {
            let written = house.ledger.set_status(id, next, None, house.context()).await;
            written.expect("written");
        }
        house.goes_back(id);
        house.tick(id).await;
        assert_eq!(status(&house, id).await, Status::Running);
        house.buy(id, &["a"]).await;
    });
}

#[test]
fn a_pause_that_is_over_does_not_come_back_with_an_earlier_state() {
    run(async {
        let house = House::new();
        let id = house.opened(5).await;
        let locked = house.lock_database();
        held(&house, id).await;
        house.keeps_a_copy(id);
        drop(locked);
        house.scheduler().tick(house.clock_now()).await;
        assert!(!house.operator.is_pending(id), "the ledger has it");
        house.operator.resume(id, house.context()).await.expect("resumed");
        house.buy(id, &["a"]).await;
        house.settle().await;
        house.goes_back(id);
        house.tick(id).await;
        assert_eq!(status(&house, id).await, Status::Running);
        house.buy(id, &["b"]).await;
        house.is_well(id, &["a", "b"]).await;
    });
}
