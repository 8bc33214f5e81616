//! Where the units of expired orders belong.

use serde::Serialize;

use crate::audit::Audit;

/// Where the units of expired orders are sent (`units.on_cancel`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitsTo {
    /// Back to the product.
    Product,
    /// Back to the running sale.
    Sale,
}

impl UnitsTo {
    /// As the setting has it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::Sale => "sale",
        }
    }
}

/// Units that are not where the setting sends them.
pub(super) fn misplaced(units_to: UnitsTo, units: u64, audit: &Audit, product_stock: u64) -> Vec<String> {
    let (in_product, in_sale) = match units_to {
        UnitsTo::Product => (units, 0),
        UnitsTo::Sale => (0, units),
    };
    let mut said = Vec::new();
    for (place, held, wanted) in [
        ("the product", product_stock, in_product),
        ("the sale", audit.stock_left, in_sale),
        ("the audit's returns", audit.returned, in_product),
        ("cancelled orders", audit.orders_cancelled, units),
    ] {
        if held != wanted {
            said.push(format!("{held} units in {place}, {wanted} should be"));
        }
    }
    said
}

#[cfg(test)]
#[path = "units_tests.rs"]
mod tests;
