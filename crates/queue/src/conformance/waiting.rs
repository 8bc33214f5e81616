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

/// Waiting for tickets ends when there are some.
pub async fn ready_returns_when_tickets_wait(fixture: &Fixture) {
    fixture.bought(&["a"]).await;
    fixture.queue.ready().await;
    assert_eq!(fixture.take(10).await.len(), 1);
}
