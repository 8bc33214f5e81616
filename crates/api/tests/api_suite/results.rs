//! What a buyer hears who asks how far his purchase is.

use crate::house::House;

#[tokio::test]
async fn a_result_goes_from_queued_to_its_order() {
    let house = House::new();
    let id = house.sale(5).await;
    house.result(id, "a").send().await.is(404, 40401);
    house
        .get(format!("/api/seckill/result/{id}"))
        .send()
        .await
        .is(401, 40100);
    house.buy(id, "a").send().await.is(202, 0);
    let queued = house.result(id, "a").send().await;
    assert_eq!(queued.is(200, 0).data()["state"], "queued");
    assert_eq!(queued.data()["ahead"], 0);
    assert_eq!(queued.data()["next_poll_ms"], 500);
    assert_eq!(queued.header("cache-control"), "no-store");
    house.clock.advance(1_499);
    assert_eq!(house.result(id, "a").send().await.data()["next_poll_ms"], 500);
    house.clock.advance(1);
    assert_eq!(house.result(id, "a").send().await.data()["next_poll_ms"], 2_000);
    house.settle().await;
    let done = house.result(id, "a").send().await;
    assert_eq!(done.is(200, 1).data()["state"], "succeeded");
    let order_no = done.data()["order_no"].as_str().expect("an order").to_owned();
    house
        .get(format!("/api/orders/{order_no}"))
        .user("a")
        .send()
        .await
        .is(200, 0);
    house.result(id, "b").send().await.is(404, 40401);
}

#[tokio::test]
async fn the_number_ahead_falls_as_orders_are_written() {
    let house = House::new();
    let id = house.sale(5).await;
    house.buy(id, "a").send().await.is(202, 0);
    house.buy(id, "b").send().await.is(202, 0);
    house.settle().await;
    house.buy(id, "c").send().await.is(202, 0);
    assert_eq!(house.result(id, "c").send().await.data()["ahead"], 0);
}

#[tokio::test]
async fn results_are_read_while_the_entrance_is_shut() {
    let house = House::new();
    let id = house.sale(5).await;
    house.buy(id, "a").send().await.is(202, 0);
    house.switch(|switches| {
        switches.entry_open = false;
        switches.read_only = true;
    });
    house.result(id, "a").send().await.is(200, 0);
}
