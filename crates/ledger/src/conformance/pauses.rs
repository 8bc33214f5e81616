//! Facts about pauses that follow each other, and about the end of a sale.

use seckill_sale::{EpochMs, Hold, Status};

use super::shop::{NOW, at, sale, whole};
use crate::{ActivityPatch, Conflict, Error, Ledger};

/// The newer pause holds, with its moment or without one.
pub async fn a_pause_takes_the_place_of_an_earlier_one(ledger: &dyn Ledger) {
    let id = sale(ledger, 1).await.id;
    let mut version = 0;
    for resumes_at in [Some(EpochMs(NOW.0 + 1)), None, Some(EpochMs(NOW.0 + 2))] {
        let paused = ledger.set_status(id, Status::Paused, resumes_at, at(NOW)).await;
        let paused = paused.expect("paused");
        assert_eq!((paused.status, paused.resumes_at), (Status::Paused, resumes_at));
        assert!(version < paused.version);
        version = paused.version;
    }
    let rows = ledger.audit_rows(whole()).await.expect("rows").rows;
    assert_eq!(rows.iter().filter(|row| row.action == "activity.pause").count(), 3);
}

/// Whoever resumes by the date of a pause must not end a newer one.
pub async fn a_pause_ends_only_at_the_moment_it_was_given(ledger: &dyn Ledger) {
    let id = sale(ledger, 1).await.id;
    let due = EpochMs(NOW.0 + 1);
    let resume = || ledger.resume_due(id, due, at(due));
    assert_eq!(resume().await, Ok(None), "it runs");
    for other in [None, Some(EpochMs(due.0 + 1))] {
        let paused = ledger.set_status(id, Status::Paused, other, at(NOW)).await;
        assert_eq!(resume().await, Ok(None), "{other:?}");
        assert_eq!(ledger.activity(id).await, paused);
    }
    let paused = ledger.set_status(id, Status::Paused, Some(due), at(NOW)).await;
    let paused = paused.expect("paused");
    let resumed = resume().await.expect("asked").expect("due");
    assert_eq!((resumed.status, resumed.resumes_at), (Status::Running, None));
    assert_eq!(ledger.activity(id).await.as_ref(), Ok(&resumed));
    assert!(paused.version < resumed.version);
    let rows = ledger.audit_rows(whole()).await.expect("rows").rows;
    assert_eq!(rows[0].action, "activity.resume");
}

/// It waited in the store, or for a ledger that did not answer, while somebody spoke.
pub async fn a_pause_that_comes_late_gives_way_to_what_was_said_since(ledger: &dyn Ledger) {
    let id = sale(ledger, 1).await.id;
    let hold = |held_at, resumes_at| Hold { held_at, resumes_at };
    let [before, said, since, until] = [1, 2, 3, 9].map(|ms| NOW.plus(ms));
    let of_another = ledger.pause_held(id, hold(NOW.plus(-1), None), at(before)).await;
    assert_eq!(of_another, Ok(None), "the sale is younger");
    let paused = ledger.pause_held(id, hold(before, Some(until)), at(before)).await;
    let paused = paused.expect("asked").expect("nobody has spoken");
    assert_eq!((paused.status, paused.resumes_at), (Status::Paused, Some(until)));
    let resumed = ledger.set_status(id, Status::Running, None, at(said)).await;
    assert_eq!(ledger.pause_held(id, hold(before, None), at(since)).await, Ok(None));
    assert_eq!(ledger.activity(id).await, resumed);
    let other = sale(ledger, 1).await.id;
    for (id, held_at) in [(other, before), (id, since)] {
        let paused = ledger.pause_held(id, hold(held_at, None), at(since)).await;
        let paused = paused.expect("asked").expect("nobody has spoken since");
        assert_eq!((paused.status, paused.resumes_at), (Status::Paused, None));
    }
    // A later pause has the last word, too; one that ended by itself has not.
    let later = ledger.set_status(other, Status::Paused, Some(until), at(said)).await;
    assert_eq!(ledger.pause_held(other, hold(before, None), at(since)).await, Ok(None));
    assert_eq!(ledger.activity(other).await, later);
    let resumed = ledger.resume_due(other, until, at(until)).await;
    assert!(resumed.expect("asked").is_some());
    let paused = ledger.pause_held(other, hold(since, None), at(until)).await;
    assert!(paused.expect("asked").is_some());
}

/// Buyers were told that it has ended. What is no part of the window may still change.
pub async fn the_window_of_an_ended_sale_is_not_moved(ledger: &dyn Ledger) {
    let activity = sale(ledger, 1).await;
    let ends_at = activity.window.ends_at;
    let later = |ends_at: EpochMs| ActivityPatch {
        ends_at: Some(ends_at.plus(10)),
        ..ActivityPatch::default()
    };
    let before = ledger
        .patch_activity(activity.id, later(ends_at), at(ends_at.plus(-1)))
        .await;
    let ends_at = before.expect("it runs").window.ends_at;
    let refused = ledger.patch_activity(activity.id, later(ends_at), at(ends_at)).await;
    assert_eq!(refused, Err(Error::Conflict(Conflict::Ended)));
    let notice = ActivityPatch {
        ends_at: Some(ends_at),
        notice: Some("thanks".to_owned()),
        ..ActivityPatch::default()
    };
    let patched = ledger.patch_activity(activity.id, notice, at(ends_at)).await;
    assert_eq!(patched.map(|activity| activity.notice), Ok(Some("thanks".to_owned())));
}
