//! Facts about what an operator changes of an activity.

use seckill_sale::{EpochMs, Price, Quantity, Status};

use super::shop::{END, NOW, at, close, keyed, new_activity, new_product, sale};
use crate::{ActivityPatch, Conflict, Error, Ledger, NewActivity};

/// And the present status again changes nothing.
pub async fn status_goes_from_running_to_paused_to_closed_and_never_back(ledger: &dyn Ledger) {
    let id = sale(ledger, 1).await.id;
    let resumes_at = Some(EpochMs(NOW.0 + 1));
    let paused = ledger
        .set_status(id, Status::Paused, resumes_at, at(NOW))
        .await
        .expect("paused");
    assert_eq!((paused.status, paused.resumes_at), (Status::Paused, resumes_at));
    let again = ledger.set_status(id, Status::Paused, resumes_at, at(NOW)).await;
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

/// Resuming is for what was paused, and pausing for what buyers see.
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
    for status in [Status::Running, Status::Paused] {
        let refused = ledger.set_status(draft.id, status, None, at(NOW)).await;
        assert_eq!(refused, Err(Error::Conflict(Conflict::Draft)));
    }
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

/// Or begun. Buyers and the store rely on them; everything else may change.
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
    let begun = ActivityPatch {
        seckill_price: price(6),
        ..ActivityPatch::default()
    };
    let refused = ledger
        .patch_activity(activity.id, begun, at(activity.window.starts_at))
        .await;
    assert!(
        matches!(refused, Err(Error::Conflict(Conflict::Fixed(_)))),
        "{refused:?}"
    );
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
