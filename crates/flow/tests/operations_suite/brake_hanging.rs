//! The emergency brake where an answer is missing: a store whose disk hangs, and a ledger that can't say which keys were used.

use seckill_flow::Error;
use seckill_ledger::{Catalog, Conflict, Context, Idempotency, Replayed};
use seckill_sale::{ActivityId, Phase, Refusal, Status};
use seckill_stock::Brake;

use crate::house::{House, run};

pub(crate) async fn status(house: &House, id: ActivityId) -> Status {
    house.ledger.activity(id).await.expect("read").status
}

pub(crate) async fn phase(house: &House, id: ActivityId) -> Phase {
    house.operator.refresh_catalogue().await.expect("read");
    let shown = house.catalogue.find(id).expect("known");
    shown.phase(house.clock_now(), Some(1))
}

pub(crate) async fn is_paused(house: &House, id: ActivityId, buyer: &str) {
    assert!(
        matches!(house.claim(id, buyer, 1).await, Err(Refusal::Paused { .. })),
        "{buyer}"
    );
}

pub(crate) async fn pause_of_unknown_outcome(house: &House, id: ActivityId) {
    let paused = house.operator.pause(id, None, house.context()).await;
    assert!(
        matches!(paused, Err(Error::Stock(seckill_stock::Error::OutcomeUnknown))),
        "{paused:?}"
    );
}

#[test]
fn a_pause_that_a_hanging_store_does_not_answer_is_in_the_ledger_and_at_the_gate() {
    run(async {
        let (house, id) = House::selling(2).await;
        house.engine.hang().await;
        pause_of_unknown_outcome(&house, id).await;
        assert_eq!(status(&house, id).await, Status::Paused);
        assert_eq!(phase(&house, id).await, Phase::Paused);
        house.engine.answer_again().await;
        is_paused(&house, id, "a").await;
        house.scheduler().tick(house.clock_now()).await;
        assert_eq!(house.store.held(id), None);
        is_paused(&house, id, "b").await;
        house.operator.resume(id, house.context()).await.expect("resumed");
        assert_eq!(phase(&house, id).await, Phase::Open);
        house.buy(id, &["c"]).await;
    });
}

#[test]
fn a_pause_that_nobody_answers_shuts_the_gate_of_this_node_and_is_written_later() {
    run(async {
        let (house, id) = House::selling(2).await;
        house.engine.hang().await;
        let locked = house.lock_database();
        pause_of_unknown_outcome(&house, id).await;
        assert_eq!(phase(&house, id).await, Phase::Paused);
        assert!(house.operator.is_pending(id));
        house.engine.answer_again().await;
        is_paused(&house, id, "a").await;
        drop(locked);
        house.scheduler().tick(house.clock_now()).await;
        assert_eq!(status(&house, id).await, Status::Paused);
        assert!(!house.operator.is_pending(id));
    });
}

#[test]
fn what_the_ledger_has_and_a_hanging_store_was_not_told_is_of_unknown_outcome() {
    run(async {
        let (house, id) = House::selling(2).await;
        house.operator.pause(id, None, house.context()).await.expect("paused");
        house.engine.hang().await;
        let resumed = house.operator.resume(id, house.context()).await;
        assert!(
            matches!(resumed, Err(Error::Stock(seckill_stock::Error::OutcomeUnknown))),
            "{resumed:?}"
        );
        house.engine.answer_again().await;
        is_paused(&house, id, "a").await;
        house.scheduler().tick(house.clock_now()).await;
        house.buy(id, &["b"]).await;
    });
}

#[test]
fn a_pause_that_the_ledger_refuses_while_the_store_hangs_shuts_nothing() {
    run(async {
        let (house, id) = House::selling(2).await;
        let closed = house.ledger.set_status(id, Status::Closed, None, house.context()).await;
        closed.expect("closed behind this node's back");
        house.engine.hang().await;
        let refused = house.operator.pause(id, None, house.context()).await;
        assert_eq!(refused.expect_err("closed").to_string(), Conflict::Closed.to_string());
        assert_eq!(phase(&house, id).await, Phase::Ended);
        assert!(!house.operator.is_pending(id));
    });
}

#[test]
fn an_old_pause_repeated_while_the_database_is_locked_is_let_go_when_its_key_can_be_looked_up() {
    run(async {
        let (house, id) = House::selling(2).await;
        let keyed = || Context {
            idempotency: Some(Idempotency {
                key: "k".to_owned(),
                digest: [1; 16],
                replayed: Replayed::default(),
            }),
            ..house.context()
        };
        house.operator.pause(id, None, keyed()).await.expect("paused");
        house.operator.resume(id, house.context()).await.expect("resumed");
        let locked = house.lock_database();
        house.operator.pause(id, None, keyed()).await.expect("held");
        is_paused(&house, id, "a").await;
        drop(locked);
        house.scheduler().tick(house.clock_now()).await;
        assert_eq!(status(&house, id).await, Status::Running);
        assert_eq!(phase(&house, id).await, Phase::Open);
        house.buy(id, &["b"]).await;
    });
}
