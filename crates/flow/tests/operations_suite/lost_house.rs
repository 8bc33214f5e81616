//! A house whose ledger has lost a sale, and gives its number out again.

use seckill_ledger::{Catalog, OrderFilter, Orders};
use seckill_sale::ActivityId;

use crate::house::{House, PRODUCT_UNITS, all_rows};

impl House {
    /// As restored from a copy that knows the product, and no sale.
    pub(crate) fn forgets_all_sales(&self) {
        for rows in [
            "orders",
            "records",
            "dead_letters",
            "stock_movements",
            "stock",
            "activities",
        ] {
            self.by_hand(&format!("DELETE FROM {rows}"));
        }
        self.by_hand(&format!("UPDATE products SET stock = {PRODUCT_UNITS}"));
        self.clock.advance(1_000);
    }

    /// A sale of five units, three of them sold: `a` and `b` have their orders, the ticket of `c` waits.
    pub(crate) async fn with_a_sale(&self) -> ActivityId {
        let id = self.opened(5).await;
        self.buy(id, &["a", "b"]).await;
        self.settle().await;
        self.buy(id, &["c"]).await;
        id
    }

    /// A house that has such a sale, lost it, and gave its number to one of so many units in so many shards.
    pub(crate) async fn with_a_number_given_twice(units: u64, shards: u16) -> (Self, ActivityId) {
        let house = Self::new();
        let id = house.with_a_sale().await;
        house.forgets_all_sales();
        house.with_its_number(id, units, shards).await;
        (house, id)
    }

    /// The next sale, of so many units in so many shards; it has the number of the lost one.
    pub(crate) async fn with_its_number(&self, id: ActivityId, units: u64, shards: u16) {
        let page = self.ledger.products(all_rows()).await.expect("products");
        let mut activity = Self::new_activity(page.rows[0].id, units);
        activity.shards = shards;
        let created = self.operator.create_activity(activity, self.context()).await;
        assert_eq!(created.expect("an activity").id, id);
    }

    /// Everybody who has an order.
    pub(crate) async fn who_ordered(&self) -> Vec<String> {
        let page = self.ledger.orders(OrderFilter::default(), all_rows()).await;
        let orders = page.expect("orders").rows;
        let mut users: Vec<_> = orders.iter().map(|order| order.user.to_string()).collect();
        users.sort_unstable();
        users
    }
}
