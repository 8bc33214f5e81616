//! A sale whose state was lost, and that the ledger has lost before what its nodes admitted could be offered to another state.

use crate::failing::{answer_again, fail_after};
use crate::house::{House, run};

#[test]
fn what_a_node_admitted_to_a_lost_state_of_a_lost_sale_is_void_in_the_one_that_has_its_number() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a", "b", "c"]).await;
        house.redis(&["FLUSHALL"]);
        house.recovers(id).await;
        // A ledger that does not answer can't say which sale has the number now.
        fail_after(&house.ledger, 0);
        house.worker.adopt_strays().await;
        answer_again(&house.ledger);
        assert!(house.worker.has_strays());
        house.forgets_and_makes_the_next(id).await;
        house.has_only_own_buyers(id).await;
    });
}
