//! Tickets that wait where one would not look for them when their state is lost: in a sale that is closed, behind a letter that was retried;
//! and what their buyers hear meanwhile.

use std::sync::Arc;

use seckill_flow::{Pace, Progress, Results};
use seckill_ledger::{Catalog, DeadLetters, PageRequest, Parking};
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{NotReady, Refusal, TicketState};
use seckill_stock::Stock;

use crate::house::{House, run, user};

#[test]
fn a_closed_sale_whose_tickets_wait_is_healed_and_keeps_their_units() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a", "b"]).await;
        house.operator.close(id, house.context()).await.expect("closed");
        house.redis(&["FLUSHALL"]);
        assert_eq!(house.tick(id).await.healed, [id]);
        // Nothing waits in the new state yet, and still no unit goes back.
        house.tick(id).await;
        house.is_well(id, &["a", "b"]).await;
        assert!(house.succeeded(id, "a").await && house.succeeded(id, "b").await);
        house.clock.advance(5_001);
        house.tick(id).await;
        let audit = house.balanced(id).await;
        assert_eq!((audit.orders_live, audit.returned, audit.stock_left), (2, 3, 0));
        // Once all is returned, a lost state is not missed.
        house.redis(&["FLUSHALL"]);
        assert_eq!(house.tick(id).await.healed, []);
    });
}

#[test]
fn a_ticket_whose_letter_was_retried_waits_again_when_its_state_is_lost() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        let taken = house.store.take(1).await.expect("taken");
        let parking = Parking {
            delivery: taken[0].clone(),
            reason: "a bad row".to_owned(),
        };
        house
            .ledger
            .park(vec![parking], house.clock_now())
            .await
            .expect("parked");
        let bury = Verdict::Bury {
            reason: "a bad row".to_owned(),
        };
        let verdicts = Verdicts {
            tickets: vec![(taken[0].ticket, bury)],
            settled_batch: 0,
        };
        house.store.record(verdicts).await.expect("buried");
        let request = PageRequest {
            cursor: None,
            limit: 10,
        };
        let letters = house.ledger.dead_letters(request).await.expect("read").rows;
        // The store has lost it, and does not know yet: the ledger must not forget it now.
        house.redis(&["RENAME", &house.key(id, "buyers"), "kept"]);
        let retried = house.operator.retry_dead_letter(letters[0].id, house.context()).await;
        assert!(retried.is_err(), "{retried:?}");
        house.redis(&["RENAME", "kept", &house.key(id, "buyers")]);
        let retried = house.operator.retry_dead_letter(letters[0].id, house.context()).await;
        assert!(retried.is_ok(), "{retried:?}");
        house.redis(&["FLUSHALL"]);
        house.recovers(id).await;
        assert_eq!(house.left(id).await, 4);
        let buyer = house
            .store
            .buyer(id, &user("a"))
            .await
            .expect("answers")
            .expect("has a ticket");
        assert_eq!((buyer.ticket, buyer.state), (taken[0].ticket, TicketState::Queued));
        house.is_well(id, &["a"]).await;
        assert!(house.succeeded(id, "a").await);
    });
}

#[test]
fn nobody_is_told_that_he_has_no_ticket_while_the_state_is_lost() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["settled"]).await;
        house.settle().await;
        house.buy(id, &["waits"]).await;
        let results = Results::new(house.store.clone(), house.ledger.clone(), Arc::new(Pace::default()));
        for lost in ["buyers", "meta"] {
            house.redis(&["RENAME", &house.key(id, lost), "kept"]);
            let settled = results.of(id, &user("settled")).await.expect("the ledger has it");
            assert!(settled.is_some(), "{lost}");
            for name in ["waits", "stranger"] {
                let said = results.of(id, &user(name)).await;
                assert!(said != Ok(None), "{lost}: {name}: {said:?}");
            }
            house.redis(&["RENAME", "kept", &house.key(id, lost)]);
        }
        house.redis(&["FLUSHALL"]);
        // Also where this node has already noticed that the sale is gone.
        let _ = house.store.activities().await;
        let _ = house.store.condition(id).await;
        assert!(
            results
                .of(id, &user("settled"))
                .await
                .expect("the ledger has it")
                .is_some()
        );
        let said = results.of(id, &user("waits")).await;
        assert_eq!(said.err(), Some(Refusal::NotReady(NotReady::Recovering)));
        house.recovers(id).await;
        house.is_well(id, &["settled", "waits"]).await;
        assert!(results.of(id, &user("waits")).await.expect("well").is_some());
        assert_eq!(results.of(id, &user("stranger")).await, Ok(None));
    });
}

/// A server that started anew with an older file has a ticket waiting that the ledger has settled since.
#[test]
fn a_final_result_is_not_told_as_waiting_by_an_older_state() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["settled"]).await;
        let results = Results::new(house.store.clone(), house.ledger.clone(), Arc::new(Pace::default()));
        house.keeps_a_copy(id);
        house.settle().await;
        let settled = results.of(id, &user("settled")).await.expect("told").expect("a ticket");
        assert!(matches!(settled.progress, Progress::Succeeded { .. }), "{settled:?}");
        house.goes_back(id);
        assert_eq!(results.of(id, &user("settled")).await, Ok(Some(settled)));
        assert_eq!(house.tick(id).await.healed, [id]);
        assert_eq!(results.of(id, &user("settled")).await, Ok(Some(settled)));
        house.is_well(id, &["settled"]).await;
    });
}

/// An operator's reconciliation died behind its fence, in another process.
#[test]
fn a_fence_that_another_process_left_behind_is_opened() {
    run(async {
        let (house, id) = House::selling(5).await;
        let mut scheduler = house.scheduler();
        scheduler.tick(house.clock_now()).await;
        let terms = house.ledger.activity(id).await.expect("there").terms();
        let fence = seckill_sale::Terms {
            status: seckill_sale::Status::Paused,
            ..terms
        };
        house.store.change(fence).await.expect("fenced");
        scheduler.tick(house.clock_now()).await;
        assert!(house.claim(id, "a", 1).await.is_err(), "it may yet be somebody's");
        house.clock.advance(5_001);
        scheduler.tick(house.clock_now()).await;
        house.buy(id, &["a"]).await;
    });
}
