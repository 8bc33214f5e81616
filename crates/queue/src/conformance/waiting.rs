//! Facts about what waits: whose turn it is, and how much there is.

use super::{ActivityId, Fixture, SUCCEEDED, tickets};

/// Of two sales the one that waits longest is served, one sale a batch.
pub async fn the_longest_wait_is_served_first(fixture: &Fixture) {
    let other = ActivityId::new(8).expect("in range");
    let first = fixture.front.buy(other, &["a"]).await;
    fixture.clock.advance(1);
    let second = fixture.bought(&["b", "c"]).await;
    assert_eq!(tickets(&fixture.take(10).await), first);
    assert_eq!(
        fixture.by_shard(tickets(&fixture.take(10).await)),
        fixture.by_shard(second)
    );
}

/// Sales take turns, a batch each: one of which many tickets wait does not make those of another wait until all of its own are settled.
pub async fn a_long_queue_keeps_no_other_sale_waiting(fixture: &Fixture) {
    let hot = fixture.bought(&["a", "b", "c", "d", "e", "f", "g", "h"]).await;
    let mut taken = fixture.take(2).await;
    fixture.clock.advance(1);
    let other = ActivityId::new(8).expect("in range");
    let late = fixture.front.buy(other, &["z"]).await;
    assert_eq!(tickets(&fixture.take(2).await), late);
    while taken.len() < hot.len() {
        let more = fixture.take(2).await;
        assert!(!more.is_empty() && more.iter().all(|delivery| hot.contains(&delivery.ticket)));
        taken.extend(more);
    }
    assert_eq!(fixture.take(2).await, []);
}

/// The depth counts what waits, taken or not, and tells the oldest.
pub async fn depth_counts_what_waits(fixture: &Fixture) {
    let began = fixture.now();
    let bought = fixture.bought(&["a", "b"]).await;
    fixture.take(1).await;
    let depth = fixture.queue.depth();
    assert_eq!(
        (depth.tickets, depth.oldest_accepted_at, depth.newest_accepted_at),
        (2, Some(began), Some(began))
    );
    fixture.record(vec![(bought[0], SUCCEEDED)]).await;
    assert_eq!(fixture.queue.depth().tickets, 1);
}

/// The depth of each sale is its own.
pub async fn depths_tell_the_sales_apart(fixture: &Fixture) {
    let began = fixture.now();
    fixture.bought(&["a", "b"]).await;
    fixture.clock.advance(5);
    let other = ActivityId::new(8).expect("in range");
    let bought = fixture.front.buy(other, &["c"]).await;
    let depth = |activity| {
        let depths = fixture.queue.depths();
        let found = depths.iter().find(|depth| depth.activity == activity).copied();
        found.expect("it has a state")
    };
    let (mine, others) = (depth(Fixture::activity()), depth(other));
    assert_eq!((mine.in_queue.tickets, mine.oldest_accepted_at), (2, Some(began)));
    assert_eq!(
        (others.in_queue.tickets, others.oldest_accepted_at),
        (1, Some(began.plus(5)))
    );
    assert_eq!(others.in_queue.units, fixture.front.left(other).await);
    let taken = [fixture.take(10).await.len(), fixture.take(10).await.len()];
    assert_eq!(
        (taken, depth(other)),
        ([2, 1], others),
        "who is with a worker waits still"
    );
    fixture.record(vec![(bought[0], SUCCEEDED)]).await;
    let others = depth(other);
    assert_eq!((others.in_queue.tickets, others.oldest_accepted_at), (0, None));
    assert_eq!(depth(Fixture::activity()), mine);
}

/// Waiting for tickets ends when there are some.
pub async fn ready_returns_when_tickets_wait(fixture: &Fixture) {
    fixture.bought(&["a"]).await;
    fixture.queue.ready().await;
    assert_eq!(fixture.take(10).await.len(), 1);
}
