//! What the unit tests of this crate share.

use seckill_sale::{
    Activity, ActivityId, Challenge, Currency, Eligibility, EpochMs, Price, ProductId, Quantity, Status, Window,
};

/// A running activity that sells from 10,000 to 20,000.
pub(crate) fn activity(id: u64) -> Activity {
    Activity {
        id: ActivityId::new(id).expect("in range"),
        product_id: ProductId::new(1).expect("in range"),
        product_name: String::new(),
        title: String::new(),
        price: Price::new(2).expect("in range"),
        seckill_price: Price::new(1).expect("in range"),
        currency: Currency::new("CNY").expect("three capitals"),
        stock_total: 1,
        window: Window {
            starts_at: EpochMs(10_000),
            ends_at: EpochMs(20_000),
        },
        per_user_limit: Quantity::ONE,
        shards: 1,
        challenge: Challenge::None,
        eligibility: Eligibility::default(),
        status: Status::Running,
        epoch: None,
        version: 1,
        resumes_at: None,
        notice: None,
        created_at: EpochMs(0),
    }
}
