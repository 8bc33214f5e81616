//! Purchases of one sale that wait, beside those of another.

use std::pin::Pin;

use futures_util::FutureExt as _;
use http::Method;
use seckill_sale::{ActivityId, EpochMs, Window};

use crate::asking::{Asking, Reply};
use crate::house::{ENDS, House, OPENS};
use crate::pieces::Pieces;
use crate::plan::Plan;
use crate::signed::{Signing, buy_path};

const MOST: usize = 16;
/// Seven eighths.
const OF_ONE_SALE: usize = 14;

type Waiting<'a> = Vec<Pin<Box<dyn Future<Output = Reply> + 'a>>>;

fn house(gateway: bool) -> House {
    House::with(&Plan {
        gateway,
        in_flight_max: MOST,
        ..Plan::default()
    })
}

/// As many as find a place, each of whom waits. The next hears at once that it is too busy.
async fn fill<'a>(ask: impl Fn(usize) -> Asking<'a>) -> Waiting<'a> {
    let mut waiting: Waiting<'a> = Vec::new();
    loop {
        let mut next: Pin<Box<dyn Future<Output = Reply>>> = Box::pin(ask(waiting.len()).send());
        match (&mut next).now_or_never() {
            None => waiting.push(next),
            Some(refused) => {
                refused.is(503, 50300);
                return waiting;
            }
        }
    }
}

/// With no body, and with one: each has its own way to the store.
async fn sells_beside(house: &House, sale: ActivityId) {
    house.buy(sale, "calm").send().await.is(202, 0);
    house.buy(sale, "also-calm").json("{}").send().await.is(202, 0);
}

#[tokio::test]
async fn a_sale_whose_store_hangs_leaves_room_to_another() {
    let house = house(false);
    let (hot, calm) = (house.sale(50).await, house.sale(5).await);
    // The store's answers are not awaited, as if they did not come.
    let waiting = fill(|number| house.buy(hot, &format!("hot-{number}"))).await;
    assert_eq!(waiting.len(), OF_ONE_SALE);
    sells_beside(&house, calm).await;
    house.buy(hot, "one-more").send().await.is(503, 50300);
    for waits in waiting {
        waits.await.is(202, 0);
    }
    house.buy(hot, "one-more").send().await.is(202, 0);
    assert_eq!(house.metric(r#"seckill_shed_total{reason="in_flight"}"#), 2.0);
}

#[tokio::test]
async fn bodies_that_do_not_come_take_the_part_of_their_own_sale() {
    let house = house(false);
    let (hot, calm) = (house.sale(50).await, house.sale(5).await);
    let slow = |number: usize| house.buy(hot, &format!("hot-{number}")).pieces(Pieces::never());
    let waiting = fill(slow).await;
    assert_eq!(waiting.len(), OF_ONE_SALE);
    sells_beside(&house, calm).await;
    drop(waiting);
    assert_eq!(
        fill(slow).await.len(),
        OF_ONE_SALE,
        "each that went away gave its place back"
    );
}

#[tokio::test]
async fn ids_that_are_not_on_sale_have_one_part_together_however_many_they_are() {
    let house = house(false);
    let calm = house.sale(5).await;
    let next_week = Window::new(ENDS.plus(600_000_000), ENDS.plus(600_000_001)).expect("not empty");
    let later = house.unheated_sale(5, |sale| sale.window = next_week).await;
    let made_up = |number: usize| match number % 2 {
        0 => house.buy(1_000_000 + number, &format!("forged-{number}")),
        _ => house.buy(later, &format!("early-{number}")),
    };
    let waiting = fill(|number| made_up(number).pieces(Pieces::never())).await;
    assert_eq!(waiting.len(), OF_ONE_SALE);
    sells_beside(&house, calm).await;
    let soon = Window::new(EpochMs(OPENS.0 + 60_000), ENDS).expect("not empty");
    let soon = house.unheated_sale(5, |sale| sale.window = soon).await;
    house.buy(soon, "early").json("{}").send().await.is(403, 40001);
}

#[tokio::test]
async fn forged_signatures_take_the_part_of_the_sale_that_they_name() {
    let house = house(false);
    let (hot, calm) = (house.sale(50).await, house.sale(5).await);
    let sign = |number: usize, path: &str| {
        let number = u32::try_from(number).expect("few");
        let signing = Signing::of(&house, "mallory", number);
        signing.ask(&house, Method::POST, path, "", &"0".repeat(64))
    };
    let path = buy_path(hot);
    let forged = fill(|number| sign(number, &path).pieces(Pieces::never())).await;
    assert_eq!(forged.len(), OF_ONE_SALE);
    sells_beside(&house, calm).await;
}

#[tokio::test]
async fn a_gateway_that_names_the_sale_in_the_body_takes_its_part_once_it_is_read() {
    let house = house(true);
    let (hot, calm) = (house.sale(50).await, house.sale(5).await);
    let named = |sale: ActivityId, user: &str| {
        let body = format!(r#"{{"activity_id":{sale},"user_id":"{user}"}}"#);
        house.post("/seckill").from(9).json(body)
    };
    let waiting = fill(|number| named(hot, &format!("hot-{number}"))).await;
    assert_eq!(waiting.len(), OF_ONE_SALE);
    named(calm, "calm").send().await.is(202, 0);
    for waits in waiting {
        waits.await.is(202, 0);
    }
}
