//! B-49 and B-50: sales that do not sell now, and one that is sold out until a unit comes back.

use seckill_testkit::Answer;
use serde_json::json;

use super::house::{House, Mode};

/// A unit that is given back is sold again.
const RETURNS: [(&str, &str); 1] = [("SECKILL_UNITS__ON_CANCEL", "sale")];

fn buy(house: &House, sale: u64, user: &str) -> Answer {
    house.server().buy(sale, user, "k").expect("answers")
}

/// Status and code, once it is looked at when to come again.
fn told(answer: &Answer) -> (u16, i64) {
    let wait = answer.header("retry-after").parse::<u64>();
    let is_told = wait.is_ok_and(|wait| 1 <= wait);
    let is_later = matches!(answer.code(), 40_001 | 40_006) || answer.status == 503;
    assert_eq!(is_told, is_later, "when to come again: {answer:?}");
    assert_eq!(answer.header("cache-control"), "no-store", "{answer:?}");
    (answer.status, answer.code())
}

fn sales_say_why_they_do_not_sell(mode: Mode) {
    let house = mode.house(&[]);
    let server = house.server();
    let [paused, closed] = [(), ()].map(|()| server.sale(5, &json!({})));
    for (sale, act) in [(paused, "pause"), (closed, "close")] {
        let path = format!("/admin/api/activities/{sale}/{act}");
        assert_eq!(server.as_admin("POST", &path, Some(&json!({}))).status, 200);
    }
    let soon = server.sale(5, &json!({"starts_at": "2098-01-01T00:00:00Z"}));
    let draft = server.created(5, &json!({"draft": true}));
    house.is_unmoved_by(|| {
        let early = buy(&house, soon, "a");
        assert_eq!(told(&early), (403, 40_001));
        assert_eq!(early.data()["starts_at"], "2098-01-01T00:00:00.000Z", "{early:?}");
        for (sale, refusal) in [(paused, (503, 40_006)), (closed, (403, 40_002)), (draft, (404, 40_400))] {
            assert_eq!(told(&buy(&house, sale, "a")), refusal, "sale {sale}");
        }
        for sale in [paused, closed, soon] {
            let books = server.settled(sale);
            assert_eq!(
                (&books["accepted"], &books["balanced"]),
                (&json!(0), &json!(true)),
                "{books}"
            );
        }
    });
    // It is closed by itself at some moment, which is an act of the house; nobody hears of that.
    let over = server.created(5, &json!({"ends_at": "2020-01-02T00:00:00Z"}));
    for at in 0..20 {
        assert_eq!(told(&buy(&house, over, &format!("late-{at}"))), (403, 40_002));
    }
}

fn a_sold_out_sale_sells_what_comes_back(mode: Mode) {
    let house = mode.house(&RETURNS);
    let server = house.server();
    let sale = server.sale(1, &json!({}));
    house.is_unmoved_by(|| {
        assert_eq!(buy(&house, sale, "first").status, 202);
        let _books = server.settled(sale);
        for at in 0..20 {
            assert_eq!(told(&buy(&house, sale, &format!("late-{at}"))), (410, 40_005));
        }
        let mine = server.as_user("first", "GET", "/api/orders", None).expect("answers");
        let order = mine.data()["orders"][0]["order_no"]
            .as_str()
            .expect("an order")
            .to_owned();
        let cancel = format!("/api/orders/{order}/cancel");
        let cancelled = server.as_user("first", "POST", &cancel, None).expect("answers");
        assert_eq!(cancelled.status, 200, "{cancelled:?}");
        let bought = server.until(|| buy(&house, sale, "next"), |answer| answer.code() != 40_005);
        assert_eq!(bought.status, 202, "{bought:?}");
        assert_eq!(told(&buy(&house, sale, "last")), (410, 40_005));
        let books = server.settled(sale);
        let units = ["accepted", "orders_live", "orders_cancelled", "stock_left"].map(|name| books[name].clone());
        assert_eq!(
            (units, &books["balanced"]),
            ([2, 1, 1, 0].map(|n| json!(n)), &json!(true)),
            "{books}"
        );
    });
}

#[test]
fn a_sale_says_why_it_does_not_sell_in_one_process() {
    sales_say_why_they_do_not_sell(Mode::OneProcess);
}

#[test]
fn a_sale_says_why_it_does_not_sell_on_redis() {
    sales_say_why_they_do_not_sell(Mode::Redis);
}

#[test]
fn a_sold_out_sale_sells_a_unit_that_comes_back_in_one_process() {
    a_sold_out_sale_sells_what_comes_back(Mode::OneProcess);
}

#[test]
fn a_sold_out_sale_sells_a_unit_that_comes_back_on_redis() {
    a_sold_out_sale_sells_what_comes_back(Mode::Redis);
}
