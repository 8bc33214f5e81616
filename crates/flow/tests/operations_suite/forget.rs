//! Closed sales that the store goes on knowing.

use seckill_flow::{Scheduler, SchedulerSettings};
use seckill_stock::Stock;

use crate::house::{House, run};

#[test]
fn store_keeps_only_so_many_closed_sales() {
    run(async {
        let house = House::new();
        let settings = SchedulerSettings {
            closed_kept_max: 1,
            ..SchedulerSettings::default()
        };
        let mut scheduler = Scheduler::new(house.operator.clone(), settings);
        let mut sales = Vec::new();
        for _ in 0..3 {
            let id = house.opened(5).await;
            house.buy(id, &["a"]).await;
            house.settle().await;
            sales.push(id);
        }
        for id in &sales[..2] {
            house.operator.close(*id, house.context()).await.expect("closed");
        }
        assert_eq!(scheduler.tick(house.clock_now()).await.forgotten, [sales[0]]);
        assert_eq!(house.handle.figures(sales[0]).await, Ok(None));
        house.balanced(sales[0]).await;
        house.clock.advance(settings.repair_every_ms);
        assert_eq!(scheduler.tick(house.clock_now()).await.forgotten, []);
        assert!(house.left(sales[2]).await == 4, "a sale that sells is not counted");
    });
}
