//! A process whose way to the ledger is cut off, while another one has its own: what was written there reaches it by the store.

use seckill_flow::Error;
use seckill_ledger::Catalog;
use seckill_sale::{Activity, ActivityId, Phase, Status, Terms};
use seckill_stock::Stock;

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
fn pauses_and_their_ends_are_shown_by_the_store_where_the_ledger_cannot_be_read() {
    run(async {
        let house = House::new();
        let id = house.opened(2).await;
        let row = house.ledger.activity(id).await.expect("read");
        for (status, shown) in [(Status::Paused, Phase::Paused), (Status::Running, Phase::Open)] {
            let before = phase(&house, id);
            told_by_another(&house, &row, status).await;
            house.store.figures(id).await.expect("read");
            house.operator.follow_store(false);
            assert_eq!(phase(&house, id), before, "the ledger goes before");
            house.operator.follow_store(true);
            assert_eq!(phase(&house, id), shown);
        }
    });
}

/// A pause whose hold another process ends at once, behind rules that say this.
async fn paused_meanwhile(rules: Status) -> Result<Status, Error> {
    let house = House::new();
    let id = house.opened(2).await;
    let row = house.ledger.activity(id).await.expect("read");
    let _locked = house.lock_database();
    *house.store.ends_holds.lock() = Some(Terms {
        status: rules,
        ..row.terms()
    });
    let paused = house.operator.pause(id, None, house.context()).await;
    paused.map(|activity| activity.status)
}

#[test]
fn a_pause_that_another_process_writes_meanwhile_is_done_and_one_that_it_ends_is_of_unknown_outcome() {
    run(async {
        let paused = paused_meanwhile(Status::Paused).await;
        assert_eq!(paused.expect("paused"), Status::Paused);
        let ended = paused_meanwhile(Status::Running).await;
        let unknown = seckill_stock::Error::OutcomeUnknown;
        assert!(
            matches!(&ended, Err(Error::Stock(error)) if *error == unknown),
            "{ended:?}"
        );
    });
}
