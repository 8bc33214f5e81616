//! A pause that ends by its own date.

use seckill_gate::Catalogue;
use seckill_sale::{ActivityId, Status, Terms};
use seckill_stock::Stock as _;

use crate::house::{House, OPENS};

/// What the store is told when the sale goes on.
fn running(catalogue: &Catalogue, id: ActivityId) -> Terms {
    let known = catalogue.find(id).expect("known");
    Terms {
        status: Status::Running,
        ..known.terms()
    }
}

#[tokio::test]
async fn from_the_moment_on_at_which_a_pause_ends_the_store_decides_and_no_node_waits_until_it_has_read_so() {
    let house = House::new();
    let (id, until) = (house.sale(2).await, OPENS.plus(60_000));
    let paused = house.operator.pause(id, Some(until), house.context()).await;
    assert_eq!(paused.expect("held").resumes_at, Some(until));
    let terms = running(house.gate.catalogue(), id);

    house.clock.set(until.plus(-1));
    house.stock.change(terms).await.expect("the store goes on");
    house.buy(id, "a").send().await.is(503, 40006);
    let held = Terms {
        status: Status::Paused,
        ..terms
    };
    house.stock.change(held).await.expect("the store is held");

    house.clock.set(until);
    let refused = house.buy(id, "a").send().await;
    assert_eq!(refused.is(503, 40006).data()["resumes_at_ms"], until.0);
    let wait_s: u64 = refused.header("retry-after").parse().expect("seconds");
    assert!(wait_s <= 2, "{wait_s}");
    house.stock.change(terms).await.expect("the store goes on");
    house.buy(id, "a").send().await.is(202, 0);
}
