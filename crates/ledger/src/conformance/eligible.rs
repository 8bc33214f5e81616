//! Facts about who may buy.

use std::sync::Arc;

use seckill_sale::{ActivityId, Eligibility};

use super::shop::{NOW, at, close, keyed, sale};
use crate::{ActivityPatch, Conflict, EligibleForm, EligibleList, Error, Ledger};

fn users(bytes: Vec<u8>) -> Arc<EligibleList> {
    let form = EligibleForm::Users { salt: [3; 16] };
    Arc::new(EligibleList { form, bytes })
}

/// Also one that needs several pieces, and a Bloom filter.
pub async fn a_list_reads_back_as_it_was_written(ledger: &dyn Ledger) {
    let id = sale(ledger, 10).await.id;
    let bloom = Arc::new(EligibleList {
        form: EligibleForm::Bloom { bits: 20, hashes: 3 },
        bytes: vec![255, 0, 15],
    });
    let many: Vec<u8> = (0..1_500_000_u32).map(|n| (n % 251) as u8).collect();
    for list in [
        users(vec![1, 2, 3, 4, 5, 6, 7, 8]),
        bloom,
        users(many),
        users(Vec::new()),
    ] {
        let activity = ledger.set_eligible_list(id, list.clone(), at(NOW)).await.expect("set");
        let version = activity.eligibility.list.expect("a list");
        assert_eq!(ledger.activity(id).await, Ok(activity));
        assert_eq!(ledger.eligible_versions().await, Ok(vec![(id, version)]));
        assert_eq!(ledger.eligible_list(id, version).await, Ok(Some((*list).clone())));
        assert_eq!(ledger.eligible_list(id, version + 1).await, Ok(None));
    }
}

/// So that a node that has the earlier one sees that it is another.
pub async fn each_list_has_a_version_of_its_own(ledger: &dyn Ledger) {
    let id = sale(ledger, 10).await.id;
    let set = |bytes, context| ledger.set_eligible_list(id, users(bytes), context);
    let first = set(vec![1; 8], keyed("a", 1)).await.expect("set");
    assert_eq!(
        set(vec![1; 8], keyed("a", 1)).await,
        Ok(first.clone()),
        "the same request"
    );
    let second = set(vec![1; 8], keyed("b", 2)).await.expect("set");
    assert!(first.eligibility.list < second.eligibility.list && first.version < second.version);
    let removed = ledger.remove_eligible_list(id, at(NOW)).await.expect("removed");
    assert_eq!(removed.eligibility, Eligibility::default());
    assert_eq!(ledger.eligible_versions().await, Ok(Vec::new()));
    assert_eq!(
        ledger.remove_eligible_list(id, at(NOW)).await,
        Ok(removed),
        "nothing to remove"
    );
    let third = set(vec![1; 8], at(NOW)).await.expect("set");
    assert!(second.eligibility.list < third.eligibility.list);
}

/// Two processes may set lists, each by its own clock: an hour apart either way, or by as many milliseconds as there are changes in between.
pub async fn a_later_list_has_a_greater_version_whatever_the_clocks_say(ledger: &dyn Ledger) {
    let id = sale(ledger, 10).await.id;
    let mut versions = Vec::new();
    for off_ms in [0, -1, -2, 0, 3_600_000, -3_600_000, 0] {
        let set = ledger.set_eligible_list(id, users(vec![1; 8]), at(NOW.plus(off_ms)));
        versions.push(set.await.expect("set").eligibility.list.expect("a list"));
    }
    assert!(versions.is_sorted_by(|earlier, later| earlier < later), "{versions:?}");
}

/// So that one of a ledger that was restored from an older copy is taken for another, whether it has as many changes as before by now, or
/// one less a millisecond later.
pub async fn lists_of_different_moments_have_different_versions(ledger: &dyn Ledger) {
    let set = |id, now| ledger.set_eligible_list(id, users(vec![1; 8]), at(now));
    let (one, other) = (sale(ledger, 10).await, sale(ledger, 10).await);
    let [same, fewer] = [set(other.id, NOW.plus(1)).await, set(one.id, NOW).await].map(|set| set.expect("set"));
    assert_eq!(same.version, fewer.version);
    assert_ne!(same.eligibility.list, fewer.eligibility.list);
    let more = set(one.id, NOW).await.expect("set");
    assert_eq!(same.version + 1, more.version);
    assert_ne!(same.eligibility.list, more.eligibility.list);
}

/// A patch names the level; one that opens the sale to everybody takes the list away, too.
pub async fn level_and_list_stand_side_by_side(ledger: &dyn Ledger) {
    let id = sale(ledger, 10).await.id;
    let patch = |patch| ledger.patch_activity(id, patch, at(NOW));
    let level = |min_level| ActivityPatch {
        min_level: Some(min_level),
        ..ActivityPatch::default()
    };
    let with_list = ledger
        .set_eligible_list(id, users(vec![1; 8]), at(NOW))
        .await
        .expect("set");
    let both = patch(level(Some(3))).await.expect("patched");
    assert_eq!(
        (both.eligibility.min_level, both.eligibility.list),
        (Some(3), with_list.eligibility.list)
    );
    let without_list = ledger.remove_eligible_list(id, at(NOW)).await.expect("removed");
    assert_eq!(without_list.eligibility.min_level, Some(3));
    let neither = patch(level(None)).await.expect("patched");
    assert_eq!(neither.eligibility, Eligibility::default());
    patch(level(Some(u32::MAX))).await.expect("patched");
    ledger
        .set_eligible_list(id, users(vec![1; 8]), at(NOW))
        .await
        .expect("set");
    let everybody = ActivityPatch {
        for_everybody: true,
        ..ActivityPatch::default()
    };
    assert_eq!(
        patch(everybody).await.expect("patched").eligibility,
        Eligibility::default()
    );
    assert_eq!(ledger.eligible_versions().await, Ok(Vec::new()));
}

/// Its list is not asked for any more.
pub async fn a_closed_sale_takes_no_list(ledger: &dyn Ledger) {
    let id = sale(ledger, 10).await.id;
    let set = || ledger.set_eligible_list(id, users(vec![1; 8]), at(NOW));
    set().await.expect("set");
    close(ledger, id).await;
    assert_eq!(set().await, Err(Error::Conflict(Conflict::Closed)));
    assert_eq!(ledger.eligible_versions().await, Ok(Vec::new()));
    let nowhere = ActivityId::new(99).expect("in range");
    let set = ledger.set_eligible_list(nowhere, users(Vec::new()), at(NOW)).await;
    assert_eq!(set, Err(Error::NotFound("activity")));
}
