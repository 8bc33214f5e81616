//! Facts about products and activities.

use seckill_sale::{ActivityId, Epoch, EpochMs, Price, ProductId, Quantity, Status};

use super::books;
use super::shop::{END, NOW, at, close, keyed, new_activity, new_product, page, sale, sold, stock, ticket, user};
use crate::{ActivityPatch, Conflict, Error, Ledger, NewActivity};

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

/// And the present status again changes nothing.
pub async fn status_goes_from_running_to_paused_to_closed_and_never_back(ledger: &dyn Ledger) {
    let id = sale(ledger, 1).await.id;
    let resumes_at = Some(EpochMs(NOW.0 + 1));
    let paused = ledger
        .set_status(id, Status::Paused, resumes_at, at(NOW))
        .await
        .expect("paused");
    assert_eq!((paused.status, paused.resumes_at), (Status::Paused, resumes_at));
    let again = ledger.set_status(id, Status::Paused, None, at(NOW)).await;
    assert_eq!(again, Ok(paused.clone()));
    let resumed = ledger
        .set_status(id, Status::Running, None, at(NOW))
        .await
        .expect("resumed");
    assert_eq!((resumed.status, resumed.resumes_at), (Status::Running, None));
    assert!(paused.version < resumed.version);
    let closed = close(ledger, id).await;
    assert_eq!(close(ledger, id).await, closed);
    for status in [Status::Running, Status::Paused, Status::Draft] {
        let refused = ledger.set_status(id, status, None, at(NOW)).await;
        assert_eq!(refused, Err(Error::Conflict(Conflict::Closed)));
    }
    let patch = ActivityPatch {
        title: Some("again".to_owned()),
        ..ActivityPatch::default()
    };
    let refused = ledger.patch_activity(id, patch, at(NOW)).await;
    assert_eq!(refused, Err(Error::Conflict(Conflict::Closed)));
}

/// Resuming is for what was paused.
pub async fn a_draft_is_published_by_a_patch_alone(ledger: &dyn Ledger) {
    let product = ledger
        .create_product(new_product(), at(NOW))
        .await
        .expect("a product")
        .id;
    let new = NewActivity {
        draft: true,
        ..new_activity(product, 1)
    };
    let draft = ledger.create_activity(new, at(NOW)).await.expect("an activity");
    assert_eq!(draft.status, Status::Draft);
    let resumed = ledger.set_status(draft.id, Status::Running, None, at(NOW)).await;
    assert!(matches!(resumed, Err(Error::Conflict(_))), "{resumed:?}");
    let publish = ActivityPatch {
        publish: true,
        ..ActivityPatch::default()
    };
    let published = ledger
        .patch_activity(draft.id, publish.clone(), at(NOW))
        .await
        .expect("published");
    assert_eq!(published.status, Status::Running);
    assert_eq!(ledger.patch_activity(draft.id, publish, at(NOW)).await, Ok(published));
}

/// Buyers and the store rely on them; everything else may change.
pub async fn price_start_and_limit_are_fixed_once_preheated(ledger: &dyn Ledger) {
    let activity = sale(ledger, 1).await;
    let before_start = at(EpochMs(activity.window.starts_at.0 - 1));
    let price = |cents| Some(Price::new(cents).expect("in range"));
    let cheaper = ActivityPatch {
        seckill_price: price(5),
        ..ActivityPatch::default()
    };
    let changed = ledger.patch_activity(activity.id, cheaper, before_start.clone()).await;
    assert_eq!(changed.map(|activity| activity.seckill_price.cents()), Ok(5));
    ledger
        .begin_opening(activity.id, before_start.clone())
        .await
        .expect("opened");
    let none = ActivityPatch::default;
    let fixed = [
        ActivityPatch {
            seckill_price: price(6),
            ..none()
        },
        ActivityPatch {
            starts_at: Some(EpochMs(1)),
            ..none()
        },
        ActivityPatch {
            per_user_limit: Some(Quantity::ONE),
            ..none()
        },
    ];
    for patch in fixed {
        let refused = ledger.patch_activity(activity.id, patch, before_start.clone()).await;
        assert!(
            matches!(refused, Err(Error::Conflict(Conflict::Fixed(_)))),
            "{refused:?}"
        );
    }
    let free = ActivityPatch {
        seckill_price: price(5),
        ends_at: Some(EpochMs(END.0 + 9)),
        title: Some("longer".to_owned()),
        ..none()
    };
    let changed = ledger
        .patch_activity(activity.id, free, before_start)
        .await
        .expect("changed");
    assert_eq!(
        (changed.window.ends_at.0, changed.title.as_str()),
        (END.0 + 9, "longer")
    );
}

/// Of two operators the second sees what the first did before he changes it.
pub async fn a_patch_that_saw_an_older_version_is_refused(ledger: &dyn Ledger) {
    let activity = sale(ledger, 1).await;
    let patch = |title: &str| ActivityPatch {
        version: Some(activity.version),
        title: Some(title.to_owned()),
        ..ActivityPatch::default()
    };
    let first = ledger
        .patch_activity(activity.id, patch("mine"), keyed("patch", 1))
        .await
        .expect("changed");
    let second = ledger.patch_activity(activity.id, patch("yours"), at(NOW)).await;
    assert_eq!(second, Err(Error::Conflict(Conflict::StaleVersion)));
    let resent = ledger
        .patch_activity(activity.id, patch("mine"), keyed("patch", 1))
        .await;
    assert_eq!(resent, Ok(first));
}

/// By the database itself, which nobody gets around.
pub async fn an_end_before_the_start_is_rejected(ledger: &dyn Ledger) {
    let activity = sale(ledger, 1).await;
    let patch = ActivityPatch {
        ends_at: Some(activity.window.starts_at),
        ..ActivityPatch::default()
    };
    let refused = ledger.patch_activity(activity.id, patch, at(NOW)).await;
    assert!(matches!(refused, Err(Error::Rejected(_))), "{refused:?}");
    assert_eq!(ledger.activity(activity.id).await, Ok(activity));
}

/// While no notice leaves it as it is.
pub async fn an_empty_notice_removes_it(ledger: &dyn Ledger) {
    let activity = sale(ledger, 1).await;
    let untouched = ledger
        .patch_activity(activity.id, ActivityPatch::default(), at(NOW))
        .await;
    assert_eq!(untouched, Ok(activity.clone()));
    let empty = ActivityPatch {
        notice: Some(String::new()),
        ..ActivityPatch::default()
    };
    let removed = ledger.patch_activity(activity.id, empty, at(NOW)).await;
    assert_eq!(removed.map(|activity| activity.notice), Ok(None));
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
