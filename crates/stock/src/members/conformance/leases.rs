//! Facts about leases.

use std::future::poll_fn;
use std::task::Poll;

use super::Fixture;
use crate::members::LEASE_MS_MAX;

/// A lease in use here.
const LEASE: &str = "scheduler";
/// How long it is taken for.
const LEASE_MS: i64 = 10_000;

impl Fixture {
    async fn lease(&self, holder: &str) -> bool {
        self.members
            .lease(LEASE, holder, LEASE_MS)
            .await
            .expect("the store answers")
    }

    async fn holder(&self) -> Option<String> {
        self.members.holder(LEASE).await.expect("the store answers")
    }
}

/// Who has it renews it, all others do not get it.
pub async fn a_lease_has_one_holder(fixture: &Fixture) {
    assert_eq!(fixture.holder().await, None);
    assert!(fixture.lease("a").await);
    assert!(!fixture.lease("b").await);
    assert!(fixture.lease("a").await);
    assert_eq!(fixture.holder().await.as_deref(), Some("a"));
    assert!(
        fixture
            .members
            .lease("another", "b", LEASE_MS)
            .await
            .expect("the store answers")
    );
    assert_eq!(fixture.holder().await.as_deref(), Some("a"));
}

/// However many ask at the same time.
pub async fn of_those_who_ask_at_once_one_gets_the_lease(fixture: &Fixture) {
    let holders: Vec<_> = (0..20).map(|n| n.to_string()).collect();
    let mut asked: Vec<_> = holders
        .iter()
        .map(|holder| fixture.members.lease(LEASE, holder, LEASE_MS))
        .collect();
    let mut had = Vec::new();
    poll_fn(|context| {
        asked.retain_mut(|asked| {
            let answer = asked.as_mut().poll(context);
            if let Poll::Ready(has) = &answer {
                had.push(has.expect("the store answers"));
            }
            answer.is_pending()
        });
        asked.is_empty().then_some(()).map_or(Poll::Pending, Poll::Ready)
    })
    .await;
    assert_eq!((had.len(), had.iter().filter(|has| **has).count()), (20, 1));
}

/// A renewal counts from its own moment on.
pub async fn a_lease_ends_by_the_stores_clock(fixture: &Fixture) {
    assert!(fixture.lease("a").await);
    fixture.clock.advance(LEASE_MS / 2);
    assert!(fixture.lease("a").await);
    fixture.clock.advance(LEASE_MS - 1);
    assert!(!fixture.lease("b").await);
    fixture.clock.advance(1);
    assert_eq!(fixture.holder().await, None);
    assert!(fixture.lease("b").await);
    assert!(!fixture.lease("a").await, "he comes too late");
    assert_eq!(fixture.holder().await.as_deref(), Some("b"));
}

/// Then the next one need not wait for its end.
pub async fn a_lease_is_released_by_its_holder_alone(fixture: &Fixture) {
    assert!(fixture.lease("a").await);
    fixture.members.release(LEASE, "b").await.expect("done");
    assert!(!fixture.lease("b").await);
    for _ in 0..2 {
        fixture.members.release(LEASE, "a").await.expect("done");
    }
    assert_eq!(fixture.holder().await, None);
    assert!(fixture.lease("b").await);
}

/// Nobody holds a lease for longer than any may be, also where the clock goes back.
pub async fn a_lease_is_never_longer_than_any_may_be(fixture: &Fixture) {
    assert!(
        fixture
            .members
            .lease(LEASE, "a", i64::MAX)
            .await
            .expect("the store answers")
    );
    fixture.clock.advance(LEASE_MS_MAX - 1);
    assert!(!fixture.lease("b").await);
    fixture.clock.advance(1);
    assert!(fixture.lease("b").await);
    fixture.clock.advance(-LEASE_MS_MAX);
    assert_eq!(fixture.holder().await, None);
    assert!(fixture.lease("a").await);
}
