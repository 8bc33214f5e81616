//! A ledger that is restored from an older copy under a running scheduler: what it remembers of later rows holds nobody to them.

use seckill_ledger::{Catalog, NewSchedule, Operations};
use seckill_sale::{EpochMs, Refusal, Status, Window};

use crate::house::{House, OPENS, all_rows, run};

#[test]
fn a_pause_that_the_ledger_lost_is_over_whatever_version_its_row_has_now() {
    // One fewer as in an older copy; the same as after a later change to that.
    for lost_versions in [1, 0] {
        run(async {
            let (house, id) = House::selling(5).await;
            let mut scheduler = house.scheduler();
            house.operator.pause(id, None, house.context()).await.expect("paused");
            scheduler.tick(house.clock_now()).await;
            let refused = house.claim(id, "a", 1).await;
            assert!(matches!(refused, Err(Refusal::Paused { .. })), "{refused:?}");
            house.by_hand(&format!(
                "UPDATE activities SET status = 'running', version = version - {lost_versions}"
            ));
            let ticked = scheduler.tick(house.clock_now()).await;
            assert!(ticked.failures.is_empty(), "{:?}", ticked.failures);
            assert_eq!(house.catalogue.find(id).expect("known").status, Status::Running);
            house.claim(id, "a", 1).await.expect("it sells");
        });
    }
}

#[test]
fn a_round_that_the_ledger_lost_is_made_again() {
    run(async {
        let house = House::new();
        let product = house.product(100).await;
        house.clock.set(OPENS.plus(-7_200_000));
        let mut template = House::new_activity(product, 10);
        template.window = Window::new(EpochMs(0), EpochMs(3_600_000)).expect("not empty");
        let schedule = NewSchedule {
            template,
            cron: "0 * * * *".to_owned(),
            time_zone: "UTC".to_owned(),
            lead_ms: 3_600_000,
        };
        let made = house.ledger.create_schedule(schedule, house.context()).await;
        made.expect("a schedule");
        let mut scheduler = house.scheduler();
        assert_eq!(scheduler.tick(house.clock_now()).await.rounds_made, 1);
        assert_eq!(scheduler.tick(house.clock_now()).await.rounds_made, 0);
        for lost in [
            "DELETE FROM schedule_rounds",
            "DELETE FROM stock",
            "DELETE FROM activities",
            "UPDATE schedules SET last_round = NULL",
        ] {
            house.by_hand(lost);
        }
        assert_eq!(scheduler.tick(house.clock_now()).await.rounds_made, 1);
        let page = house.ledger.activities(all_rows()).await.expect("activities");
        assert_eq!(page.rows.len(), 1);
    });
}
