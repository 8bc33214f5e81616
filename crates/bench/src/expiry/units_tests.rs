//! Where units must be.

use super::*;

const AUDIT: Audit = Audit {
    stock_total: 100,
    stock_left: 0,
    accepted: 100,
    queued: 0,
    succeeded: 100,
    failed: 0,
    dead: 0,
    orders_live: 0,
    orders_cancelled: 100,
    returned: 100,
    balanced: Some(true),
};

fn placed(units_to: UnitsTo, audit: Audit, product_stock: u64) -> usize {
    misplaced(units_to, 100, &audit, product_stock).len()
}

#[test]
fn units_must_be_where_the_setting_sends_them() {
    let in_sale = Audit {
        stock_left: 100,
        returned: 0,
        ..AUDIT
    };
    assert_eq!(placed(UnitsTo::Product, AUDIT, 100), 0);
    assert_eq!(placed(UnitsTo::Sale, in_sale, 0), 0);
    assert_eq!(placed(UnitsTo::Product, in_sale, 0), 3);
    assert_eq!(placed(UnitsTo::Sale, AUDIT, 100), 3);
    assert_eq!(placed(UnitsTo::Product, AUDIT, 99), 1);
    let kept = Audit {
        orders_cancelled: 99,
        ..AUDIT
    };
    assert_eq!(placed(UnitsTo::Product, kept, 100), 1);
}
