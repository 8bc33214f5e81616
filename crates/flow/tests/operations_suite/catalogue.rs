//! What the gate knows: every sale that is not over, and those that ended lately.

use seckill_gate::ENDED_KEPT_MS;
use seckill_sale::Refusal;

use crate::house::{ENDS, House, run};

#[test]
fn created_sale_is_known_at_once_and_long_after_its_end_no_more() {
    run(async {
        let house = House::new();
        let id = house.created(1).await;
        assert!(house.catalogue.find(id).is_ok());
        house.operator.close(id, house.context()).await.expect("closed");
        house.clock.set(ENDS.plus(ENDED_KEPT_MS - 1));
        house.operator.refresh_catalogue().await.expect("read");
        assert!(house.catalogue.find(id).is_ok());
        house.clock.set(ENDS.plus(ENDED_KEPT_MS));
        house.operator.refresh_catalogue().await.expect("read");
        assert_eq!(house.catalogue.find(id), Err(Refusal::UnknownActivity));
    });
}
