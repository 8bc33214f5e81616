//! What every implementation of [`Members`] must do, as facts that an engine's tests call one by one with a fresh [`Fixture`].

use std::sync::Arc;

use seckill_sale::{EpochMs, ManualClock, NotReady};

use super::{FIGURES_BYTES_MAX, Fingerprints, Living, Member, Members};
use crate::Error;

mod leases;

pub use leases::*;

/// A fresh store whose clock stands somewhere and moves by hand.
#[derive(Clone)]
pub struct Fixture {
    /// The store.
    pub members: Arc<dyn Members>,
    /// Its clock.
    pub clock: Arc<ManualClock>,
}

/// How young a beat must be.
const AGE_MS_MAX: i64 = 5_000;

impl Fixture {
    fn now(&self) -> EpochMs {
        seckill_sale::Clock::now(&*self.clock)
    }

    fn member(&self, id: &str) -> Member {
        Member {
            id: id.to_owned(),
            roles: vec!["api".to_owned(), "worker".to_owned()],
            version: "1.2.3".to_owned(),
            admin: "127.0.0.1:8081".to_owned(),
            started_at: self.now().plus(-60_000),
            sent_at: self.now().plus(250),
            fingerprints: Fingerprints {
                database: "d1".to_owned(),
                user_keys: "k1".to_owned(),
                purchase_tokens: "t1".to_owned(),
            },
            figures: format!("{{\"of\":\"{id}\",\"note\":\"秒杀 \\\" %s \\n\"}}"),
        }
    }

    async fn beat(&self, id: &str) {
        self.members.beat(self.member(id)).await.expect("heard");
    }

    async fn living(&self) -> Vec<Living> {
        self.members.members(AGE_MS_MAX).await.expect("the store answers")
    }

    async fn ids(&self) -> Vec<String> {
        self.living().await.into_iter().map(|living| living.member.id).collect()
    }
}

/// Nothing of it is changed on the way, the time of the beat is the store's.
pub async fn a_member_that_beats_is_known_by_what_it_said(fixture: &Fixture) {
    assert_eq!(fixture.ids().await, [""; 0]);
    fixture.beat("a").await;
    let said = fixture.member("a");
    let beat_at = fixture.now();
    fixture.clock.advance(40);
    let living = fixture.living().await;
    assert_eq!(living.len(), 1);
    assert_eq!(
        (&living[0].member, living[0].beat_at, living[0].age_ms),
        (&said, beat_at, 40)
    );
    assert_eq!(living[0].clock_ahead_ms(), 250);
}

/// The newest word counts.
pub async fn a_later_beat_takes_the_place_of_the_earlier_one(fixture: &Fixture) {
    fixture.beat("a").await;
    fixture.clock.advance(1_000);
    let mut later = fixture.member("a");
    later.figures = "{}".to_owned();
    fixture.members.beat(later.clone()).await.expect("heard");
    let living = fixture.living().await;
    assert_eq!(living.iter().map(|living| &living.member).collect::<Vec<_>>(), [&later]);
    assert_eq!(living[0].age_ms, 0);
}

/// Whoever lives longest comes first, whatever the order of the beats.
pub async fn members_stand_in_the_order_of_their_starts(fixture: &Fixture) {
    for (id, started_at) in [("c", 30), ("a", 20), ("b", 10), ("d", 20)] {
        let mut member = fixture.member(id);
        member.started_at = EpochMs(started_at);
        fixture.members.beat(member).await.expect("heard");
    }
    assert_eq!(fixture.ids().await, ["b", "a", "d", "c"]);
}

/// A limit is told by whoever asks, and an age that equals it is too old.
pub async fn who_does_not_beat_any_more_is_not_among_the_living(fixture: &Fixture) {
    fixture.beat("a").await;
    fixture.clock.advance(1_000);
    fixture.beat("b").await;
    fixture.clock.advance(AGE_MS_MAX - 1_001);
    assert_eq!(fixture.ids().await, ["a", "b"]);
    fixture.clock.advance(1);
    assert_eq!(fixture.ids().await, ["b"]);
    let longer = fixture
        .members
        .members(AGE_MS_MAX + 1)
        .await
        .expect("the store answers");
    assert_eq!(longer.len(), 2);
    fixture.beat("a").await;
    assert_eq!(fixture.ids().await.len(), 2);
    fixture.clock.advance(-60_000);
    assert_eq!(fixture.ids().await, [""; 0], "the clock went back");
    fixture.beat("b").await;
    assert_eq!(fixture.ids().await, ["b"]);
}

/// Also twice, also where nobody has heard of it.
pub async fn who_leaves_is_gone_at_once(fixture: &Fixture) {
    fixture.beat("a").await;
    fixture.beat("b").await;
    for id in ["a", "a", "nobody"] {
        fixture.members.leave(id).await.expect("done");
    }
    assert_eq!(fixture.ids().await, ["b"]);
}

/// Processes that were killed leave nothing behind for ever.
pub async fn who_was_not_heard_of_for_long_is_forgotten(fixture: &Fixture) {
    const DAY_MS: i64 = 24 * 3_600 * 1_000;
    for id in ["a", "b", "c"] {
        fixture.beat(id).await;
    }
    fixture.clock.advance(DAY_MS);
    fixture.beat("d").await;
    let all = fixture.members.members(2 * DAY_MS).await.expect("the store answers");
    assert_eq!(all.iter().map(|living| &living.member.id).collect::<Vec<_>>(), ["d"]);
}

/// Nobody fills the store with figures.
pub async fn figures_that_are_too_long_are_not_taken(fixture: &Fixture) {
    let mut member = fixture.member("a");
    member.figures = "1".repeat(FIGURES_BYTES_MAX);
    fixture.members.beat(member.clone()).await.expect("heard");
    member.figures.push('1');
    let refused = fixture.members.beat(member).await;
    assert_eq!(refused, Err(Error::NotReady(NotReady::StoreFull)));
    assert_eq!(fixture.living().await[0].member.figures.len(), FIGURES_BYTES_MAX);
}

/// Calls every fact of this suite with a fresh fixture each, as tests of the calling module: `members_conformance!(fixture, block_on)`.
#[macro_export]
macro_rules! members_conformance {
    ($fixture:expr, $block_on:expr) => {
        $crate::members_conformance!(@each $fixture, $block_on,
            a_member_that_beats_is_known_by_what_it_said, a_later_beat_takes_the_place_of_the_earlier_one,
            members_stand_in_the_order_of_their_starts,
            who_does_not_beat_any_more_is_not_among_the_living, who_leaves_is_gone_at_once,
            who_was_not_heard_of_for_long_is_forgotten, figures_that_are_too_long_are_not_taken, a_lease_has_one_holder,
            of_those_who_ask_at_once_one_gets_the_lease, a_lease_ends_by_the_stores_clock,
            a_lease_is_released_by_its_holder_alone, a_lease_is_never_longer_than_any_may_be,
        );
    };
    (@each $fixture:expr, $block_on:expr, $($fact:ident),* $(,)?) => {
        $(#[test]
        fn $fact() {
            let fixture = $fixture;
            $block_on($crate::members::conformance::$fact(&fixture));
        })*
    };
}
