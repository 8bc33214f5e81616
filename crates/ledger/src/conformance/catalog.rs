//! Facts about products and activities.

use seckill_sale::{ActivityId, Epoch, EpochMs, ProductId, Status};

use super::books;
use super::shop::{END, NOW, at, close, keyed, new_activity, new_product, page, sale, sold, stock, ticket, user};
use crate::{Error, Ledger};

/// The operator's client sends its request again after a lost answer.
pub async fn the_same_key_makes_one_product_and_one_activity(ledger: &dyn Ledger) {
    let product = ledger
        .create_product(new_product(), keyed("night", 1))
        .await
        .expect("a product");
    assert_eq!(
        ledger.create_product(new_product(), keyed("night", 1)).await,
        Ok(product.clone())
    );
    let new = new_activity(product.id, 10);
    let activity = ledger
        .create_activity(new.clone(), keyed("sale", 1))
        .await
        .expect("an activity");
    assert_eq!(
        ledger.create_activity(new, keyed("sale", 1)).await,
        Ok(activity.clone())
    );
    assert_eq!(ledger.activity(activity.id).await, Ok(activity.clone()));
    assert_eq!(
        (activity.status, activity.epoch, activity.created_at),
        (Status::Running, None, NOW)
    );
    assert_eq!((activity.price, activity.currency), (product.price, product.currency));
    assert_eq!(activity.product_name, product.name);
}

/// Units that arrive late: a product has them once, and a sale can be given them.
pub async fn a_product_is_given_more_units_once_and_a_sale_takes_them(ledger: &dyn Ledger) {
    let product = ledger.create_product(new_product(), at(NOW)).await.expect("a product");
    let all = stock(product.stock);
    let activity = ledger
        .create_activity(new_activity(product.id, product.stock), at(NOW))
        .await;
    let activity = activity.expect("an activity");
    assert!(
        ledger.add_stock(activity.id, stock(1), at(NOW)).await.is_err(),
        "it has none left"
    );
    let more = async || ledger.restock_product(product.id, stock(7), keyed("more", 1)).await;
    let restocked = more().await.expect("restocked");
    assert_eq!((restocked.stock, &restocked.name), (7, &product.name));
    assert_eq!(more().await, Ok(restocked.clone()));
    assert_eq!(ledger.product(product.id).await, Ok(restocked));
    let other = ledger.restock_product(product.id, all, keyed("more", 2)).await;
    assert_eq!(other, Err(Error::KeyReused));
    let added = ledger.add_stock(activity.id, stock(7), at(NOW)).await;
    assert!(added.is_ok(), "{added:?}");
    let nobody = ProductId::new(99).expect("in range");
    let missing = ledger.restock_product(nobody, stock(1), at(NOW)).await;
    assert_eq!(missing, Err(Error::NotFound("product")));
    let rows = ledger.audit_rows(page(None, 9)).await.expect("audit rows").rows;
    let row = rows
        .iter()
        .find(|row| row.action == "product.add_stock")
        .expect("a row");
    assert_eq!(
        (row.before.as_str(), row.after.as_str()),
        (r#"{"stock":0}"#, r#"{"stock":7}"#)
    );
}

/// Whatever it asks, also of another kind.
pub async fn a_key_with_another_digest_is_refused(ledger: &dyn Ledger) {
    let product = ledger
        .create_product(new_product(), keyed("key", 1))
        .await
        .expect("a product");
    let other = ledger.create_product(new_product(), keyed("key", 2)).await;
    assert_eq!(other, Err(Error::KeyReused));
    let other = ledger
        .create_activity(new_activity(product.id, 1), keyed("key", 2))
        .await;
    assert_eq!(other.map(drop), Err(Error::KeyReused));
    let patch = ledger
        .add_stock(ActivityId::new(1).expect("in range"), stock(1), keyed("key", 3))
        .await;
    assert_eq!(patch, Err(Error::KeyReused));
}

/// What is sold is not left, and what the newest movement did is contained.
pub async fn opening_counts_the_epoch_and_reads_what_is_left(ledger: &dyn Ledger) {
    let activity = sold(ledger, 10, 3).await;
    let opening = ledger.begin_opening(activity.id, at(NOW)).await.expect("opened");
    assert_eq!((opening.epoch, opening.available), (Epoch::FIRST, 7));
    assert_eq!(opening.activity.epoch, Some(Epoch::FIRST));
    let newest = books::all_movements(ledger, activity.id)
        .await
        .last()
        .map(|movement| movement.id);
    assert_eq!(Some(opening.last_movement), newest);
    let again = ledger
        .begin_opening(activity.id, keyed("preheat", 1))
        .await
        .expect("opened");
    let third = ledger
        .begin_opening(activity.id, keyed("preheat", 1))
        .await
        .expect("opened");
    assert_eq!((again.epoch.get(), third.epoch.get()), (2, 3));
    let there = ledger.activity(activity.id).await.expect("the activity");
    assert_eq!(there, third.activity);
}

/// A node holds what may still be asked for.
pub async fn live_activities_leave_out_what_ended_long_ago(ledger: &dyn Ledger) {
    let (open, closed) = (sale(ledger, 1).await, sale(ledger, 1).await);
    close(ledger, closed.id).await;
    let ids = |activities: Vec<seckill_sale::Activity>| activities.into_iter().map(|activity| activity.id).collect();
    let live =
        async |since| -> Vec<ActivityId> { ids(ledger.live_activities(EpochMs(since)).await.expect("activities")) };
    assert_eq!(live(NOW.0 - 1).await, [open.id, closed.id]);
    assert_eq!(live(END.0 - 1).await, [open.id, closed.id]);
    assert_eq!(live(END.0).await, [open.id]);
}

/// From the first page to the last, in the promised order.
pub async fn lists_show_every_row_once(ledger: &dyn Ledger) {
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(sale(ledger, 1).await);
    }
    let (mut activities, mut products) = (Vec::new(), Vec::new());
    let mut cursor = None;
    loop {
        let found = ledger.activities(page(cursor, 2)).await.expect("activities");
        activities.extend(found.rows.into_iter().map(|activity| activity.id));
        cursor = found.next;
        if cursor.is_none() {
            break;
        }
    }
    loop {
        let found = ledger.products(page(cursor, 2)).await.expect("products");
        products.extend(found.rows.into_iter().map(|product| product.id));
        cursor = found.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(
        products,
        made.iter().map(|activity| activity.product_id).collect::<Vec<_>>()
    );
    assert_eq!(
        activities,
        made.iter().rev().map(|activity| activity.id).collect::<Vec<_>>()
    );
    let bad = ledger.activities(page(Some("x".to_owned()), 2)).await;
    assert!(matches!(bad, Err(Error::Rejected(_))), "{bad:?}");
}

/// Rather than empty or an outage.
pub async fn rows_that_are_not_there_are_not_found(ledger: &dyn Ledger) {
    let id = ActivityId::new(77).expect("in range");
    let product = ProductId::new(77).expect("in range");
    assert_eq!(ledger.product(product).await, Err(Error::NotFound("product")));
    assert_eq!(ledger.activity(id).await, Err(Error::NotFound("activity")));
    assert_eq!(ledger.tally(id).await, Err(Error::NotFound("activity")));
    let missing = ledger.create_activity(new_activity(product, 1), at(NOW)).await;
    assert_eq!(missing.map(drop), Err(Error::NotFound("product")));
    let missing = ledger.set_status(id, Status::Closed, None, at(NOW)).await;
    assert_eq!(missing.map(drop), Err(Error::NotFound("activity")));
    let missing = ledger.begin_opening(id, at(NOW)).await;
    assert_eq!(missing.map(drop), Err(Error::NotFound("activity")));
    let missing = ledger.add_stock(id, stock(1), at(NOW)).await;
    assert_eq!(missing, Err(Error::NotFound("activity")));
    assert_eq!(
        ledger.order(ticket(id, 1).order_no(), None).await,
        Err(Error::NotFound("order"))
    );
    assert_eq!(ledger.dead_letter(77).await, Err(Error::NotFound("dead letter")));
    assert_eq!(ledger.record(id, &user("ann")).await, Ok(None));
    assert_eq!(ledger.remove_block(77, at(NOW)).await, Err(Error::NotFound("block")));
}
