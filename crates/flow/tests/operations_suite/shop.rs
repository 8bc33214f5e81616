//! Products and sales of a [`House`].

use seckill_ledger::{Catalog, NewActivity, NewProduct};
use seckill_sale::{ActivityId, Challenge, Currency, Price, ProductId, Quantity, Stock as Units, Window};

use crate::house::{ENDS, House, OPENS, PRODUCT_UNITS};

impl House {
    pub(crate) async fn product(&self, units: u64) -> ProductId {
        let product = NewProduct {
            name: "A".to_owned(),
            price: Price::new(2_000).expect("in range"),
            currency: Currency::new("CNY").expect("three capitals"),
            stock: Units::new(units).expect("in range"),
        };
        self.ledger
            .create_product(product, self.context())
            .await
            .expect("a product")
            .id
    }

    pub(crate) fn new_activity(product_id: ProductId, units: u64) -> NewActivity {
        NewActivity {
            product_id,
            title: "B".to_owned(),
            seckill_price: Price::new(1_000).expect("in range"),
            stock: Units::new(units).expect("in range"),
            window: Window::new(OPENS, ENDS).expect("not empty"),
            per_user_limit: Quantity::new(5).expect("in range"),
            shards: crate::SHARDS,
            challenge: Challenge::None,
            min_level: None,
            draft: false,
            notice: None,
        }
    }

    /// A sale of so many units that is not preheated.
    pub(crate) async fn created(&self, units: u64) -> ActivityId {
        let activity = Self::new_activity(self.product(PRODUCT_UNITS).await, units);
        let created = self.operator.create_activity(activity, self.context()).await;
        created.expect("an activity").id
    }

    /// A sale of so many units that sells.
    pub(crate) async fn opened(&self, units: u64) -> ActivityId {
        let id = self.created(units).await;
        let preheated = self.operator.preheat(id, self.context()).await.expect("preheated");
        assert!(preheated.created && preheated.left == units, "{preheated:?}");
        id
    }

    /// A house with such a sale.
    pub(crate) async fn selling(units: u64) -> (Self, ActivityId) {
        let house = Self::new();
        let id = house.opened(units).await;
        (house, id)
    }
}
