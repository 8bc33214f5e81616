//! Facts about recurring sales.

use futures_util::future;
use seckill_sale::{EpochMs, Window};

use super::shop::{NOW, PRODUCT_UNITS, at, keyed, new_activity, new_product};
use crate::{Conflict, Error, Ledger, NewActivity, NewSchedule, Schedule};

const ROUND: EpochMs = EpochMs(3_000_000);

fn new_schedule(template: NewActivity) -> NewSchedule {
    NewSchedule {
        template,
        cron: "0 20 * * *".to_owned(),
        time_zone: "Asia/Shanghai".to_owned(),
        lead_ms: 600_000,
    }
}

async fn schedule(ledger: &dyn Ledger, units: u64) -> Schedule {
    let product = ledger.create_product(new_product(), at(NOW)).await.expect("a product");
    let new = new_schedule(new_activity(product.id, units));
    ledger.create_schedule(new, at(NOW)).await.expect("a schedule")
}

fn round_of(schedule: &Schedule, round: EpochMs) -> NewActivity {
    NewActivity {
        window: Window::new(round, round.plus(1_000)).expect("not empty"),
        ..schedule.schedule.template.clone()
    }
}

async fn read(ledger: &dyn Ledger, id: u64) -> Schedule {
    let all = ledger.schedules().await.expect("schedules");
    all.into_iter()
        .find(|schedule| schedule.id == id)
        .expect("the schedule")
}

/// With its template, once for its key.
pub async fn a_schedule_reads_back_as_it_was_made(ledger: &dyn Ledger) {
    let product = ledger.create_product(new_product(), at(NOW)).await.expect("a product");
    let new = new_schedule(new_activity(product.id, 10));
    let made = ledger
        .create_schedule(new.clone(), keyed("daily", 1))
        .await
        .expect("a schedule");
    assert_eq!((&made.schedule, made.enabled), (&new, true));
    assert_eq!((made.last_round, &made.last_error), (None, &None));
    let again = ledger.create_schedule(new, keyed("daily", 1)).await;
    assert_eq!(again, Ok(made.clone()));
    assert_eq!(ledger.schedules().await, Ok(vec![made]));
}

/// The same round a second time is known, another one is made.
pub async fn a_round_is_made_once(ledger: &dyn Ledger) {
    let schedule = schedule(ledger, 10).await;
    let make = |round| ledger.make_round(schedule.id, round, round_of(&schedule, round), at(NOW));
    let first = make(ROUND).await.expect("a round");
    assert_eq!((first.window.starts_at, first.stock_total), (ROUND, 10));
    assert_eq!(make(ROUND).await, Err(Error::Conflict(Conflict::RoundExists)));
    let second = make(ROUND.plus(86_400_000)).await.expect("the next round");
    assert_ne!(first.id, second.id);
    assert_eq!(read(ledger, schedule.id).await.last_round, Some(ROUND.plus(86_400_000)));
    let missing = ledger.make_round(99, ROUND, round_of(&schedule, ROUND), at(NOW)).await;
    assert_eq!(missing.map(drop), Err(Error::NotFound("schedule")));
}

/// On two nodes at the same moment.
pub async fn two_makers_of_a_round_make_one(ledger: &dyn Ledger) {
    let schedule = schedule(ledger, 10).await;
    let make = |_| ledger.make_round(schedule.id, ROUND, round_of(&schedule, ROUND), at(NOW));
    let made = future::join_all((0..4).map(make)).await;
    assert_eq!(made.iter().flatten().count(), 1);
    let exists = Err(Error::Conflict(Conflict::RoundExists));
    assert_eq!(made.iter().filter(|made| **made == exists).count(), 3);
    let product = ledger
        .product(schedule.schedule.template.product_id)
        .await
        .expect("the product");
    assert_eq!(product.stock, PRODUCT_UNITS - 10);
}

/// The round is not made, the reason stays, and once there are units it can be made by hand.
pub async fn a_short_product_gives_the_round_up_and_says_why(ledger: &dyn Ledger) {
    let schedule = schedule(ledger, 600).await;
    let make = |round| ledger.make_round(schedule.id, round, round_of(&schedule, round), at(NOW));
    make(ROUND).await.expect("a round");
    let next = ROUND.plus(86_400_000);
    let short = Conflict::ProductShort {
        available: 400,
        wanted: 600,
    };
    assert_eq!(make(next).await, Err(Error::Conflict(short)));
    let after = read(ledger, schedule.id).await;
    assert_eq!(after.last_round, Some(next));
    assert!(after.last_error.is_some_and(|said| said.contains("400")));
    let smaller = NewActivity {
        stock: super::shop::stock(400),
        ..round_of(&schedule, next)
    };
    ledger
        .make_round(schedule.id, next, smaller, at(NOW))
        .await
        .expect("the round, made smaller");
    assert_eq!(read(ledger, schedule.id).await.last_error, None);
}

/// And stays as it was otherwise.
pub async fn a_schedule_is_switched_off_and_on(ledger: &dyn Ledger) {
    let made = schedule(ledger, 10).await;
    for enabled in [false, false, true] {
        let after = ledger.set_schedule_enabled(made.id, enabled, at(NOW)).await;
        let expected = Schedule {
            enabled,
            ..made.clone()
        };
        assert_eq!(after, Ok(expected.clone()));
        assert_eq!(read(ledger, made.id).await, expected);
    }
    let missing = ledger.set_schedule_enabled(99, true, at(NOW)).await;
    assert_eq!(missing.map(drop), Err(Error::NotFound("schedule")));
}
