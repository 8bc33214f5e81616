//! What the gate knows: every sale that is not over, and those that ended lately; and when it knows what is new of one.

use std::sync::Arc;

use seckill_gate::ENDED_KEPT_MS;
use seckill_ledger::{EligibleForm, EligibleList};
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

#[test]
fn a_list_of_buyers_is_in_force_before_the_gate_knows_of_it() {
    run(async {
        let (house, id) = House::selling(1).await;
        let listed = || house.catalogue.find(id).expect("known").eligibility.list;
        let form = EligibleForm::Users { salt: [7; 16] };
        let list = Arc::new(EligibleList {
            form,
            bytes: vec![1; 8],
        });
        let mut put_in_force = None;
        let setting = house.operator.set_eligible_list(id, list, house.context(), |activity| {
            put_in_force = activity.eligibility.list;
            assert_eq!(listed(), None);
        });
        let set = setting.await.expect("set").eligibility.list;
        assert!(set.is_some());
        assert_eq!([put_in_force, listed()], [set, set]);
    });
}
