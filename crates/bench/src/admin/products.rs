//! Products.

use serde_json::json;

use super::{Admin, number};
use crate::Result;
use crate::http::get;

impl Admin {
    /// A new product; its id.
    ///
    /// # Errors
    /// [`crate::Error::Answer`] where the server refuses.
    pub fn create_product(&self, name: &str, stock: u64) -> Result<u64> {
        let body = json!({"name": name, "price_cents": 9900, "currency": "CNY", "stock": stock});
        let data = self
            .write("/admin/api/products", &body)?
            .expect(201, "create a product")?;
        number(&data["id"], "create a product")
    }

    /// Units of a product that no activity holds.
    ///
    /// # Errors
    /// [`crate::Error::Answer`] where the server refuses.
    pub fn product_stock(&self, product_id: u64) -> Result<u64> {
        let path = format!("/admin/api/products/{product_id}");
        let data = get(self.address, &path, Some(&self.token))?.expect(200, "show a product")?;
        number(&data["stock"], "show a product")
    }
}
