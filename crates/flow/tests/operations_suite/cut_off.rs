//! A process whose way to the ledger is cut off, while another one has its own: what was written there reaches it by the store.

use std::time::Duration;

use seckill_ledger::Catalog;
use seckill_sale::{Activity, ActivityId, Phase, Status, Terms};
use seckill_stock::{Brake, Stock};

use crate::house::{House, run};

/// As the gate shows it.
fn phase(house: &House, id: ActivityId) -> Phase {
    let shown = house.catalogue.find(id).expect("known");
    shown.phase(house.clock_now(), Some(1))
}

/// What another process does with the store, which has written the row into the ledger before.
async fn told_by_another(house: &House, activity: &Activity, status: Status) {
    let terms = Terms {
        status,
        ..activity.terms()
    };
    house.store.change(terms).await.expect("told");
}

#[test]
fn pauses_and_their_ends_are_shown_by_the_store_where_the_list_is_old() {
    run(async {
        let house = House::new();
        let id = house.opened(2).await;
        let row = house.ledger.activity(id).await.expect("read");
        house.operator.refresh_catalogue().await.expect("read");
        let (young, old) = (Duration::MAX, Duration::ZERO);
        for (status, shown) in [(Status::Paused, Phase::Paused), (Status::Running, Phase::Open)] {
            let before = phase(&house, id);
            told_by_another(&house, &row, status).await;
            house.store.figures(id).await.expect("read");
            house.operator.follow_store(young);
            assert_eq!(phase(&house, id), before, "the list goes before");
            house.operator.follow_store(old);
            assert_eq!(phase(&house, id), shown);
        }
    });
}

#[test]
fn a_pause_that_another_process_writes_meanwhile_is_done() {
    run(async {
        let house = House::new();
        let id = house.opened(2).await;
        let row = house.ledger.activity(id).await.expect("read");
        let _locked = house.lock_database();
        let another = async {
            let hold = loop {
                if let Some(hold) = house.store.held(id) {
                    break hold;
                }
                tokio::task::yield_now().await;
            };
            told_by_another(&house, &row, Status::Paused).await;
            house.store.release(id, hold).await.expect("released");
        };
        let (paused, ()) = tokio::join!(house.operator.pause(id, None, house.context()), another);
        assert_eq!(paused.expect("held, and written").status, Status::Paused);
    });
}
