//! A state in use that is brought in line with a ledger.

use seckill_sale::Epoch;

use crate::Rebase;

use super::Fixture;

/// What was sold since somebody counted stays sold.
pub async fn a_rebase_that_may_not_raise_leaves_fewer_units_as_they_are(fixture: &Fixture) {
    fixture.open(5).await;
    fixture.bought("a", 1).await;
    fixture.bought("b", 2).await;
    for (epoch, left, may_rise, expected) in [(2, 4, false, 3), (3, 2, false, 2), (4, 4, true, 4)] {
        let rebase = Rebase {
            activity: Fixture::activity(),
            epoch: Epoch::new(epoch).expect("in range"),
            left,
            applied_movement: epoch,
            may_rise,
            requeue: Vec::new(),
        };
        fixture.stock.rebase(rebase).await.expect("done");
        let figures = fixture.stock.figures(Fixture::activity()).await;
        let figures = figures.expect("answers").expect("has a state");
        assert_eq!((figures.stock_left, figures.applied_movement), (expected, epoch));
    }
}
