//! Rounds of recurring sales: made in time, once, and given up where the product is short or the time has passed.

use seckill_flow::Scheduler;
use seckill_ledger::{Catalog, NewSchedule, Operations, Schedule};
use seckill_sale::{Activity, EpochMs, ProductId, Window};

use crate::house::{House, OPENS, all_rows, run};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// Midnight UTC before [`OPENS`].
const MIDNIGHT: EpochMs = EpochMs(OPENS.0 / DAY_MS * DAY_MS);

/// Every day at 20:00 in Shanghai, for an hour, made two hours before; the clock stands at midnight UTC, twelve hours before the first.
async fn daily(house: &House, product: ProductId, units: u64) -> Schedule {
    house.clock.set(MIDNIGHT);
    let mut template = House::new_activity(product, units);
    template.window = Window::new(EpochMs(0), EpochMs(HOUR_MS)).expect("not empty");
    let schedule = NewSchedule {
        template,
        cron: "0 20 * * *".to_owned(),
        time_zone: "Asia/Shanghai".to_owned(),
        lead_ms: 2 * HOUR_MS,
    };
    house
        .ledger
        .create_schedule(schedule, house.context())
        .await
        .expect("a schedule")
}

/// Start of the round of the `day`-th day.
fn round(day: i64) -> EpochMs {
    MIDNIGHT.plus(day * DAY_MS + 12 * HOUR_MS)
}

async fn starts(house: &House) -> Vec<EpochMs> {
    let page = house.ledger.activities(all_rows()).await.expect("activities");
    let mut starts: Vec<_> = page
        .rows
        .iter()
        .map(|activity: &Activity| activity.window.starts_at)
        .collect();
    starts.sort_unstable();
    starts
}

async fn tick_at(house: &House, scheduler: &mut Scheduler, now: EpochMs) -> u64 {
    house.clock.set(now);
    let ticked = scheduler.tick(now).await;
    assert!(ticked.failures.is_empty(), "{:?}", ticked.failures);
    ticked.rounds_made
}

#[test]
fn round_is_made_once_before_its_start_and_the_next_one_a_day_later() {
    run(async {
        let house = House::new();
        let product = house.product(100).await;
        daily(&house, product, 10).await;
        let mut scheduler = house.scheduler();
        let due = round(0).plus(-2 * HOUR_MS);
        assert_eq!(tick_at(&house, &mut scheduler, due.plus(-1)).await, 0);
        assert_eq!(tick_at(&house, &mut scheduler, due).await, 1);
        assert_eq!(tick_at(&house, &mut scheduler, due.plus(1)).await, 0);
        assert_eq!(
            tick_at(&house, &mut house.scheduler(), due.plus(2)).await,
            0,
            "another scheduler"
        );
        assert_eq!(tick_at(&house, &mut scheduler, due.plus(DAY_MS)).await, 1);
        assert_eq!(starts(&house).await, [round(0), round(1)]);
    });
}

#[test]
fn two_schedulers_at_once_make_one_round() {
    run(async {
        let house = House::new();
        let product = house.product(100).await;
        daily(&house, product, 10).await;
        house.clock.set(round(0));
        let (mut first, mut second) = (house.scheduler(), house.scheduler());
        let (first, second) = tokio::join!(first.tick(round(0)), second.tick(round(0)));
        assert_eq!(first.rounds_made + second.rounds_made, 1);
        assert_eq!(starts(&house).await, [round(0)]);
    });
}

#[test]
fn of_rounds_slept_through_only_the_one_that_is_still_open_is_made() {
    run(async {
        let house = House::new();
        let product = house.product(100).await;
        daily(&house, product, 10).await;
        let mut scheduler = house.scheduler();
        assert_eq!(tick_at(&house, &mut scheduler, round(3).plus(HOUR_MS - 1)).await, 1);
        assert_eq!(starts(&house).await, [round(3)]);
        assert_eq!(tick_at(&house, &mut scheduler, round(6).plus(HOUR_MS)).await, 0);
        assert_eq!(tick_at(&house, &mut scheduler, round(7)).await, 1);
        assert_eq!(starts(&house).await, [round(3), round(7)]);
    });
}

#[test]
fn round_short_of_units_is_given_up_with_an_alarm_and_the_next_one_is_made() {
    run(async {
        let house = House::new();
        let product = house.product(15).await;
        let schedule = daily(&house, product, 10).await;
        let mut scheduler = house.scheduler();
        assert_eq!(tick_at(&house, &mut scheduler, round(0)).await, 1);
        house.clock.set(round(1));
        let ticked = scheduler.tick(round(1)).await;
        assert_eq!(
            (ticked.rounds_made, ticked.failures.len()),
            (0, 1),
            "{:?}",
            ticked.failures
        );
        let kept = house.ledger.schedules().await.expect("read").remove(0);
        assert!(kept.id == schedule.id && kept.last_error.is_some(), "{kept:?}");
        // The first round is over and has given its units back; the second is not tried again.
        assert_eq!(tick_at(&house, &mut scheduler, round(1).plus(1)).await, 0);
        assert_eq!(tick_at(&house, &mut scheduler, round(2)).await, 1);
        assert_eq!(starts(&house).await, [round(0), round(2)]);
    });
}

#[test]
fn disabled_schedule_makes_nothing_and_a_bad_one_does_not_hold_up_others() {
    run(async {
        let house = House::new();
        let product = house.product(100).await;
        let disabled = daily(&house, product, 10).await;
        let disable = house
            .ledger
            .set_schedule_enabled(disabled.id, false, house.context())
            .await;
        disable.expect("disabled");
        let bad = NewSchedule {
            cron: "every day".to_owned(),
            ..disabled.schedule.clone()
        };
        house
            .ledger
            .create_schedule(bad, house.context())
            .await
            .expect("a schedule");
        let good = daily(&house, product, 10).await;
        house.clock.set(round(0));
        let ticked = house.scheduler().tick(round(0)).await;
        assert_eq!(
            (ticked.rounds_made, ticked.failures.len()),
            (1, 1),
            "{:?}",
            ticked.failures
        );
        assert!(good.enabled);
    });
}
