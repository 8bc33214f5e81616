//! Facts about what operators set and what the house itself keeps.

use seckill_sale::{EpochMs, InstallationId, Status};

use super::shop::{NOW, at, deliveries, keyed, page, sale, settle, sold, stock, whole};
use crate::{ActivityPatch, AuditRow, BlockKind, Conflict, Error, Ledger, NewBlock, StoredSwitches, Twice, written};

/// Of two operators the second sees what the first did before he changes it.
pub async fn switches_are_set_only_on_what_was_seen(ledger: &dyn Ledger) {
    assert_eq!(ledger.switches().await, Ok(None));
    let set = |json: &str, expected, context| ledger.set_switches(json.to_owned(), expected, context);
    assert_eq!(set("{\"a\":1}", 0, keyed("first", 1)).await, Ok(1));
    let stale = Err(Error::Conflict(Conflict::StaleVersion));
    assert_eq!(set("{\"a\":2}", 0, at(NOW)).await, stale);
    assert_eq!(set("{\"a\":3}", 1, at(NOW)).await, Ok(2));
    assert_eq!(set("{\"a\":1}", 0, keyed("first", 1)).await, Ok(1));
    let there = StoredSwitches {
        revision: 2,
        json: "{\"a\":3}".to_owned(),
    };
    assert_eq!(ledger.switches().await, Ok(Some(there)));
}

/// Whoever words the answer of a request asks whether anything was written for it.
pub async fn a_write_is_noted_in_its_request_and_a_refused_one_is_not(ledger: &dyn Ledger) {
    let set = async |expected| {
        let set = ledger.set_switches("{}".to_owned(), expected, at(NOW)).await;
        (set.is_ok(), written::is_noted())
    };
    assert_eq!(written::noting(set(7)).await, (false, false));
    assert_eq!(written::noting(set(0)).await, (true, true));
    let read = async || {
        let read = ledger.switches().await;
        (read.is_ok(), written::is_noted())
    };
    assert_eq!(written::noting(read()).await, (true, false));
}

/// The last millisecond of a block still blocks.
pub async fn blocks_end_by_time_or_by_hand(ledger: &dyn Ledger) {
    let new = |kind, value: &str, expires_at: Option<i64>| NewBlock {
        kind,
        value: value.to_owned(),
        reason: "a bot".to_owned(),
        expires_at: expires_at.map(EpochMs),
    };
    let timed = new(BlockKind::Ip, "10.0.0.0/8", Some(NOW.0 + 10));
    let timed = ledger
        .add_block(timed.clone(), Twice::LaterHolds, keyed("ip", 1))
        .await
        .expect("a block");
    let again = ledger
        .add_block(timed.block.clone(), Twice::LaterHolds, keyed("ip", 1))
        .await;
    assert_eq!(again, Ok(timed.clone()));
    let user = ledger
        .add_block(new(BlockKind::User, "bob", None), Twice::LaterHolds, at(NOW))
        .await
        .expect("a block");
    let device = ledger
        .add_block(new(BlockKind::Device, "d-1", None), Twice::LaterHolds, at(NOW))
        .await
        .expect("a block");
    let listed = ledger.blocks(EpochMs(NOW.0 + 9)).await;
    assert_eq!(listed, Ok(vec![timed, user.clone(), device.clone()]));
    assert_eq!(
        ledger.blocks(EpochMs(NOW.0 + 10)).await,
        Ok(vec![user.clone(), device.clone()])
    );
    ledger.remove_block(device.id, at(NOW)).await.expect("it was there");
    assert_eq!(ledger.blocks(EpochMs(NOW.0 + 10)).await, Ok(vec![user]));
    let next = ledger
        .add_block(new(BlockKind::Device, "d-2", None), Twice::LaterHolds, at(NOW))
        .await
        .expect("a block");
    assert!(device.id < next.id);
}

/// Whoever says it last has the word, and whoever does not want to overrule does not.
pub async fn a_subject_has_one_block(ledger: &dyn Ledger) {
    let new = |kind, reason: &str, expires_at: Option<i64>| NewBlock {
        kind,
        value: "d-1".to_owned(),
        reason: reason.to_owned(),
        expires_at: expires_at.map(EpochMs),
    };
    let add = async |block: NewBlock, twice, now| {
        let added = ledger.add_block(block, twice, at(EpochMs(now))).await;
        added.expect("a block")
    };
    let first = add(new(BlockKind::User, "a bot", None), Twice::LaterHolds, NOW.0).await;
    let other = add(new(BlockKind::Device, "a bot", None), Twice::EarlierHolds, NOW.0).await;
    let rows = async || ledger.audit_rows(whole()).await.expect("audit rows").rows;
    let before = rows().await.len();
    let kept = add(
        new(BlockKind::User, "a rule", Some(NOW.0 + 5)),
        Twice::EarlierHolds,
        NOW.0 + 1,
    )
    .await;
    assert_eq!((&kept, rows().await.len()), (&first, before));
    let later = new(BlockKind::User, "two cards", Some(NOW.0 + 10));
    let changed = add(later.clone(), Twice::LaterHolds, NOW.0 + 2).await;
    assert_eq!(
        (changed.id, changed.created_at, &changed.block),
        (first.id, NOW, &later)
    );
    assert_eq!(rows().await[0].action, "block.change");
    assert_eq!(ledger.blocks(NOW).await, Ok(vec![changed.clone(), other]));
    let after_its_end = add(later, Twice::LaterHolds, NOW.0 + 10).await;
    assert!(changed.id < after_its_end.id, "what is over is another block");
}

/// Who, what, before, after; and none for what was refused or already so.
pub async fn writes_of_operators_leave_audit_rows(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let patch = |title: &str, version| ActivityPatch {
        version: Some(version),
        title: Some(title.to_owned()),
        ..ActivityPatch::default()
    };
    let renamed = ledger
        .patch_activity(activity.id, patch("new", activity.version), at(NOW))
        .await;
    let stale = ledger
        .patch_activity(activity.id, patch("newer", activity.version), at(NOW))
        .await;
    assert!(renamed.is_ok() && stale.is_err());
    for _ in 0..2 {
        ledger
            .set_status(activity.id, Status::Paused, None, at(NOW))
            .await
            .expect("paused");
        ledger
            .add_stock(activity.id, stock(1), keyed("more", 1))
            .await
            .expect("added");
    }
    let own = ledger.add_audit_row(
        "store.recover".to_owned(),
        "activity 1".to_owned(),
        String::new(),
        "{}".to_owned(),
        at(NOW),
    );
    own.await.expect("written");
    let rows = ledger.audit_rows(whole()).await.expect("audit rows").rows;
    assert_eq!(rows.len(), 6, "{rows:#?}");
    assert!(rows.is_sorted_by(|newer, older| older.id < newer.id));
    assert!(rows.iter().all(|row| row.actor == "admin" && row.at == NOW));
    assert_eq!(
        (rows[0].action.as_str(), rows[0].after.as_str()),
        ("store.recover", "{}")
    );
    let says = |row: &AuditRow, before: &str, after: &str| row.before.contains(before) && row.after.contains(after);
    assert!(
        rows.iter().any(|row| says(row, "Night of the keyboards", "\"new\"")),
        "{rows:#?}"
    );
    assert!(
        rows.iter().any(|row| says(row, "\"running\"", "\"paused\"")),
        "{rows:#?}"
    );
    let first = ledger.audit_rows(page(None, 4)).await.expect("audit rows");
    let second = ledger.audit_rows(page(first.next, 4)).await.expect("audit rows");
    assert_eq!([first.rows, second.rows].concat(), rows);
    assert_eq!(second.next, None);
}

/// A journal is never put beside the ledger of another; the number of batches is raised, never lowered.
pub async fn an_installation_keeps_its_id(ledger: &dyn Ledger) {
    let fresh = ledger.installation().await.expect("the installation");
    assert_eq!((fresh.id, fresh.settled_batch), (None, 0));
    let (mine, other) = (InstallationId([1; 16]), InstallationId([2; 16]));
    assert_eq!(ledger.set_installation(mine, 0).await, Ok(()));
    assert_eq!(ledger.set_installation(mine, 7).await, Ok(()));
    let refused = ledger.set_installation(other, 9).await;
    assert_eq!(refused, Err(Error::Conflict(Conflict::StaleVersion)));
    let after = ledger.installation().await.expect("the installation");
    assert_eq!((after.id, after.settled_batch), (Some(mine), 7));
    assert_eq!(ledger.set_installation(mine, 3).await, Ok(()));
    assert_eq!(ledger.installation().await, Ok(after));
    let sale = sold(ledger, 5, 1).await;
    assert_eq!(settle(ledger, sale.id, deliveries(sale.id, 2)).await.batch, 9);
}

/// For `/readyz`.
pub async fn a_ledger_answers(ledger: &dyn Ledger) {
    assert_eq!(ledger.ping().await, Ok(()));
}
