//! The emergency brake: a pause holds without the database, over a restart, and reaches the ledger when it is back.

use seckill_ledger::{Catalog, Conflict, Context, Idempotency, Operations, PageRequest, Replayed};
use seckill_sale::{ActivityId, EpochMs, Phase, Refusal, Status};
use seckill_stock::{Brake, Stock};

use crate::house::{House, OPENS, all_rows, run};

async fn status(house: &House, id: ActivityId) -> (Status, Option<EpochMs>) {
    let activity = house.ledger.activity(id).await.expect("read");
    (activity.status, activity.resumes_at)
}

async fn is_paused(house: &House, id: ActivityId, buyer: &str) {
    assert!(
        matches!(house.claim(id, buyer, 1).await, Err(Refusal::Paused { .. })),
        "{buyer}"
    );
    let shown = house.catalogue.find(id).expect("known");
    assert_eq!(shown.phase(house.clock_now(), Some(1)), Phase::Paused);
}

/// What was done to sales, oldest first.
async fn actions(house: &House) -> Vec<String> {
    let page = PageRequest { ..all_rows() };
    let rows = house.ledger.audit_rows(page).await.expect("rows").rows;
    let actions = rows.into_iter().rev().map(|row| row.action);
    actions
        .filter(|action| ["activity.pause", "activity.resume"].contains(&action.as_str()))
        .collect()
}

#[test]
fn a_pause_holds_while_the_database_is_locked_and_is_written_when_it_is_back() {
    run(async {
        let (house, id) = House::selling(2).await;
        let mut scheduler = house.scheduler();
        let locked = house.lock_database();
        let resumes_at = Some(OPENS.plus(60_000));
        let paused = house
            .operator
            .pause(id, resumes_at, house.context())
            .await
            .expect("held");
        assert_eq!((paused.status, paused.resumes_at), (Status::Paused, resumes_at));
        assert!(house.operator.is_pending(id));
        is_paused(&house, id, "a").await;
        let ticked = scheduler.tick(house.clock_now()).await;
        assert!(!ticked.failures.is_empty(), "the ledger can't be written");
        is_paused(&house, id, "b").await;
        assert!(
            house.operator.resume(id, house.context()).await.is_err(),
            "resuming needs the ledger"
        );
        is_paused(&house, id, "c").await;
        drop(locked);
        assert_eq!(status(&house, id).await, (Status::Running, None));
        scheduler.tick(house.clock_now()).await;
        assert_eq!(status(&house, id).await, (Status::Paused, resumes_at));
        assert!(!house.operator.is_pending(id));
        is_paused(&house, id, "d").await;
        house.clock.set(OPENS.plus(60_000));
        scheduler.tick(house.clock_now()).await;
        house.buy(id, &["e"]).await;
        assert_eq!(actions(&house).await, ["activity.pause", "activity.resume"]);
    });
}

#[test]
fn a_sale_that_is_held_stays_so_over_a_restart() {
    run(async {
        let (house, id) = House::selling(2).await;
        let locked = house.lock_database();
        house.operator.pause(id, None, house.context()).await.expect("held");
        drop(locked);
        let house = house.restarted();
        house.operator.refresh_catalogue().await.expect("read");
        assert_eq!(status(&house, id).await, (Status::Running, None));
        is_paused(&house, id, "a").await;
        house.operator.sync_terms(id).await.expect("the ledger's rules");
        is_paused(&house, id, "b").await;
        house.scheduler().tick(house.clock_now()).await;
        assert_eq!(status(&house, id).await, (Status::Paused, None));
        is_paused(&house, id, "c").await;
    });
}

#[test]
fn resuming_writes_what_is_held_first_and_nothing_pauses_again() {
    run(async {
        let (house, id) = House::selling(2).await;
        let locked = house.lock_database();
        house.operator.pause(id, None, house.context()).await.expect("held");
        drop(locked);
        house.operator.resume(id, house.context()).await.expect("resumed");
        house.scheduler().tick(house.clock_now()).await;
        house.buy(id, &["a"]).await;
        assert_eq!(actions(&house).await, ["activity.pause", "activity.resume"]);
    });
}

#[test]
fn a_pause_without_a_date_drops_the_date_of_an_earlier_one() {
    run(async {
        let (house, id) = House::selling(2).await;
        let until = OPENS.plus(5);
        house
            .operator
            .pause(id, Some(until), house.context())
            .await
            .expect("paused");
        let again = house.operator.pause(id, None, house.context()).await.expect("paused");
        assert_eq!(again.resumes_at, None);
        house.clock.set(until);
        house.scheduler().tick(until).await;
        is_paused(&house, id, "a").await;
    });
}

#[test]
fn a_pause_that_the_ledger_refuses_holds_nothing() {
    run(async {
        let (house, id) = House::selling(2).await;
        let closed = house.ledger.set_status(id, Status::Closed, None, house.context()).await;
        closed.expect("closed behind this node's back");
        let refused = house.operator.pause(id, None, house.context()).await;
        assert_eq!(refused.expect_err("closed").to_string(), Conflict::Closed.to_string());
        assert_eq!(house.store.held(id), None);
        assert_eq!(house.catalogue.find(id).expect("known").status, Status::Closed);
    });
}

#[test]
fn an_old_pause_that_is_repeated_or_refused_lifts_no_newer_one() {
    run(async {
        let (house, id) = House::selling(2).await;
        let keyed = |digest: u8| {
            let idempotency = Some(Idempotency {
                key: "k".to_owned(),
                digest: [digest; 16],
                replayed: Replayed::default(),
            });
            Context {
                idempotency,
                ..house.context()
            }
        };
        house.operator.pause(id, None, keyed(1)).await.expect("paused");
        for (digest, buyer) in [(1, "a"), (2, "b")] {
            house.operator.resume(id, house.context()).await.expect("resumed");
            let locked = house.lock_database();
            let held = house.operator.pause(id, None, house.context()).await;
            assert!(held.is_ok() && house.operator.is_pending(id));
            drop(locked);
            let again = house.operator.pause(id, None, keyed(digest)).await;
            assert_eq!(again.is_ok(), digest == 1, "{again:?}");
            is_paused(&house, id, buyer).await;
            house.scheduler().tick(house.clock_now()).await;
            assert_eq!(status(&house, id).await, (Status::Paused, None));
        }
    });
}

#[test]
fn a_pause_that_breaks_off_anywhere_is_finished_by_the_scheduler() {
    run(async {
        let mut steps = 0;
        loop {
            let (house, id) = House::selling(2).await;
            house.store.allow(steps);
            let asked = house.operator.pause(id, None, house.context()).await;
            if asked.is_ok() {
                assert!(house.claim(id, "a", 1).await.is_err(), "step {steps}");
            }
            let broke_off = house.store.heal();
            let house = house.restarted();
            house.scheduler().tick(house.clock_now()).await;
            assert_eq!(status(&house, id).await, (Status::Paused, None), "step {steps}");
            assert_eq!(house.store.held(id), None, "step {steps}");
            is_paused(&house, id, "b").await;
            assert_eq!(house.store.stock_left(id), Some(2));
            if !broke_off {
                break;
            }
            steps += 1;
        }
        assert!(2 < steps, "a hold, the rules, and the end of the hold");
    });
}
