//! What every queue engine must do, on top of a stock engine that fills it: facts that an engine's tests call one by one with a
//! fresh [`Fixture`]. A fact panics where it does not hold.

use std::sync::Arc;

use async_trait::async_trait;
use seckill_sale::{
    ActivityId, Conclusion, Delivery, EpochMs, FailureReason, ManualClock, Shards, Ticket, TicketState, UnitTo, UserId,
};

use crate::{Adopted, Adoption, Queue, Verdict, Verdicts};

mod waiting;

pub use waiting::*;

/// Buys, and tells what the store says of a buyer: the stock engine in front of the queue.
#[async_trait]
pub trait Front: Send + Sync {
    /// Buys one unit of `activity` for each user, in this order. The sale has units enough and admits now.
    async fn buy(&self, activity: ActivityId, users: &[&str]) -> Vec<Ticket>;
    /// State of a buyer's ticket.
    async fn state(&self, activity: ActivityId, user: &UserId) -> Option<TicketState>;
    /// Units left.
    async fn left(&self, activity: ActivityId) -> u64;
}

/// A fresh engine whose clock stands.
pub struct Fixture {
    /// The queue.
    pub queue: Arc<dyn Queue>,
    /// What fills it.
    pub front: Arc<dyn Front>,
    /// Its clock.
    pub clock: Arc<ManualClock>,
    /// Sub-stocks of its sales. The order of acceptance is kept within each; with one it is kept over the whole sale.
    pub shards: Shards,
}

/// Longer than any engine's lease, in milliseconds.
const PAST_EVERY_LEASE_MS: i64 = 600_000;

impl Fixture {
    fn activity() -> ActivityId {
        ActivityId::new(7).expect("in range")
    }

    async fn bought(&self, users: &[&str]) -> Vec<Ticket> {
        self.front.buy(Self::activity(), users).await
    }

    async fn take(&self, count: usize) -> Vec<Delivery> {
        self.queue.take(count).await.expect("the queue answers")
    }

    async fn record(&self, tickets: Vec<(Ticket, Verdict)>) {
        self.queue
            .record(Verdicts {
                tickets,
                settled_batch: 0,
            })
            .await
            .expect("recorded");
    }

    async fn state(&self, user: &str) -> Option<TicketState> {
        self.front
            .state(Self::activity(), &UserId::new(user).expect("valid"))
            .await
    }

    /// Tickets by their sub-stocks, in each as they stand: with one sub-stock as they are.
    fn by_shard(&self, mut tickets: Vec<Ticket>) -> Vec<Ticket> {
        tickets.sort_by_key(|ticket| self.shards.place(ticket.sequence).0);
        tickets
    }

    fn now(&self) -> EpochMs {
        seckill_sale::Clock::now(&*self.clock)
    }
}

fn tickets(deliveries: &[Delivery]) -> Vec<Ticket> {
    deliveries.iter().map(|delivery| delivery.ticket).collect()
}

const SUCCEEDED: Verdict = Verdict::Conclude(Conclusion::Succeeded);

/// Accepted tickets are handed out in their order, each with its buyer.
pub async fn tickets_come_out_in_the_order_of_acceptance(fixture: &Fixture) {
    let users = ["a", "b", "c"];
    let bought = fixture.bought(&users).await;
    let mut taken = fixture.take(2).await;
    assert_eq!(taken.len(), 2);
    taken.extend(fixture.take(10).await);
    for delivery in &taken {
        let place = bought.iter().position(|ticket| *ticket == delivery.ticket);
        assert_eq!(users[place.expect("bought")], delivery.user.as_str());
    }
    assert_eq!(fixture.by_shard(tickets(&taken)), fixture.by_shard(bought));
}

/// What is with a worker is not handed out again before its lease ends, and is afterwards.
pub async fn a_taken_ticket_comes_back_when_its_lease_ends(fixture: &Fixture) {
    let bought = fixture.bought(&["a"]).await;
    let first = fixture.take(10).await;
    assert_eq!(fixture.take(10).await, []);
    fixture.clock.advance(PAST_EVERY_LEASE_MS);
    let again = fixture.take(10).await;
    assert_eq!(tickets(&again), bought);
    assert!(first[0].deliveries < again[0].deliveries);
    assert_eq!(again[0].attempts, 0, "a lost worker is no failed attempt");
}

/// A concluded ticket never comes back, and its buyer reads the result.
pub async fn a_concluded_ticket_is_gone(fixture: &Fixture) {
    let bought = fixture.bought(&["a"]).await;
    fixture.take(10).await;
    fixture.record(vec![(bought[0], SUCCEEDED)]).await;
    fixture.clock.advance(PAST_EVERY_LEASE_MS);
    assert_eq!(fixture.take(10).await, []);
    assert_eq!(fixture.state("a").await, Some(TicketState::Succeeded));
    assert_eq!(fixture.queue.depth().tickets, 0);
}

/// A second verdict on a final ticket, whatever it says, changes nothing.
pub async fn a_final_result_never_flips(fixture: &Fixture) {
    let bought = fixture.bought(&["a"]).await;
    fixture.take(10).await;
    fixture.record(vec![(bought[0], SUCCEEDED)]).await;
    let left = fixture.front.left(Fixture::activity()).await;
    let failed = Conclusion::Failed {
        reason: FailureReason::Discarded,
        unit_to: Some(UnitTo::Sale),
    };
    let late = [
        Verdict::Conclude(failed),
        Verdict::Bury {
            reason: "late".to_owned(),
        },
        SUCCEEDED,
    ];
    for verdict in late {
        fixture.record(vec![(bought[0], verdict)]).await;
    }
    let retry = Verdict::Retry {
        attempts: 1,
        not_before: fixture.now(),
    };
    fixture.record(vec![(bought[0], retry)]).await;
    assert_eq!(fixture.state("a").await, Some(TicketState::Succeeded));
    assert_eq!(fixture.front.left(Fixture::activity()).await, left);
    assert_eq!(fixture.take(10).await, []);
}

/// A failed ticket gives its unit back once, and only where the verdict says so.
pub async fn a_failed_ticket_gives_its_unit_back_once(fixture: &Fixture) {
    let bought = fixture.bought(&["a", "b", "c"]).await;
    fixture.take(10).await;
    let before = fixture.front.left(Fixture::activity()).await;
    let failed = |unit_to| {
        Verdict::Conclude(Conclusion::Failed {
            reason: FailureReason::Discarded,
            unit_to,
        })
    };
    for _ in 0..2 {
        fixture.record(vec![(bought[0], failed(Some(UnitTo::Sale)))]).await;
        fixture
            .record(vec![
                (bought[1], failed(Some(UnitTo::Product))),
                (bought[2], failed(None)),
            ])
            .await;
    }
    assert_eq!(fixture.front.left(Fixture::activity()).await, before + 1);
    assert_eq!(
        fixture.state("a").await,
        Some(TicketState::Failed(FailureReason::Discarded))
    );
}

/// A retry waits for its time and keeps its count; what is behind it goes on.
pub async fn a_retry_waits_and_its_neighbours_go_on(fixture: &Fixture) {
    let mut bought = fixture.bought(&["a"]).await;
    fixture.clock.advance(1);
    bought.extend(fixture.bought(&["b"]).await);
    fixture.take(1).await;
    let not_before = fixture.now().plus(1_000);
    fixture
        .record(vec![(
            bought[0],
            Verdict::Retry {
                attempts: 3,
                not_before,
            },
        )])
        .await;
    assert_eq!(tickets(&fixture.take(10).await), bought[1..]);
    fixture.clock.set(not_before);
    let again = fixture.take(10).await;
    assert_eq!(tickets(&again), bought[..1]);
    assert_eq!(again[0].attempts, 3);
}

/// A ticket given back is no failed attempt.
pub async fn a_ticket_given_back_counts_no_attempt(fixture: &Fixture) {
    let bought = fixture.bought(&["a"]).await;
    fixture.take(10).await;
    let not_before = fixture.now().plus(200);
    fixture
        .record(vec![(bought[0], Verdict::GiveBack { not_before })])
        .await;
    assert_eq!(fixture.take(10).await, []);
    fixture.clock.set(not_before);
    assert_eq!(fixture.take(10).await[0].attempts, 0);
}

/// A dead letter keeps its unit, is told with its reason, and is handed out again once revived.
pub async fn a_dead_letter_waits_until_it_is_revived(fixture: &Fixture) {
    let bought = fixture.bought(&["a"]).await;
    fixture.take(10).await;
    let left = fixture.front.left(Fixture::activity()).await;
    fixture
        .record(vec![(
            bought[0],
            Verdict::Bury {
                reason: "no such product".to_owned(),
            },
        )])
        .await;
    fixture.clock.advance(PAST_EVERY_LEASE_MS);
    assert_eq!(fixture.take(10).await, []);
    assert_eq!(fixture.state("a").await, Some(TicketState::Dead));
    let dead = fixture.queue.dead_letters(Fixture::activity()).await.expect("answers");
    assert_eq!(
        dead.iter()
            .map(|(buyer, reason)| (buyer.ticket, reason.as_str()))
            .collect::<Vec<_>>(),
        [(bought[0], "no such product")]
    );
    assert_eq!(
        (
            fixture.queue.depth().dead,
            fixture.front.left(Fixture::activity()).await
        ),
        (1, left)
    );
    for _ in 0..2 {
        fixture.queue.revive(bought[0]).await.expect("done");
    }
    assert_eq!(tickets(&fixture.take(10).await), bought);
    assert_eq!(fixture.state("a").await, Some(TicketState::Queued));
    assert_eq!(
        fixture.queue.dead_letters(Fixture::activity()).await.expect("answers"),
        []
    );
}

/// Tickets that a worker offers to a state which has them stay what they are, and are handed out again.
pub async fn a_ticket_that_is_still_there_is_not_adopted_twice(fixture: &Fixture) {
    fixture.bought(&["a", "b"]).await;
    let left = fixture.front.left(Fixture::activity()).await;
    let taken = fixture
        .queue
        .take_of_state(10)
        .await
        .expect("the queue answers")
        .tickets;
    for _ in 0..2 {
        let adopted = fixture.queue.adopt(taken.clone(), Adoption::Waiting).await;
        assert_eq!(adopted, Ok(vec![Adopted::Waits; 2]));
    }
    assert_eq!(fixture.queue.depth().tickets, 2);
    assert_eq!(fixture.front.left(Fixture::activity()).await, left);
    let not_before = fixture.now();
    let give_back = taken
        .iter()
        .map(|delivery| (delivery.ticket, Verdict::GiveBack { not_before }));
    fixture.record(give_back.collect()).await;
    assert_eq!(tickets(&fixture.take(10).await), tickets(&taken));
}

/// Calls every fact of this suite with a fresh fixture each, as tests of the calling module: `queue_conformance!(fixture, block_on)`.
#[macro_export]
macro_rules! queue_conformance {
    ($fixture:expr, $block_on:expr) => {
        $crate::queue_conformance!(@each $fixture, $block_on,
            tickets_come_out_in_the_order_of_acceptance, a_taken_ticket_comes_back_when_its_lease_ends,
            a_concluded_ticket_is_gone, a_final_result_never_flips, a_failed_ticket_gives_its_unit_back_once,
            a_retry_waits_and_its_neighbours_go_on, a_ticket_given_back_counts_no_attempt,
            a_dead_letter_waits_until_it_is_revived, the_longest_wait_is_served_first, depth_counts_what_waits,
            a_long_queue_keeps_no_other_sale_waiting, depths_tell_the_sales_apart,
            a_ticket_that_is_still_there_is_not_adopted_twice, ready_returns_when_tickets_wait,
        );
    };
    (@each $fixture:expr, $block_on:expr, $($fact:ident),* $(,)?) => {
        $(#[test]
        fn $fact() {
            let fixture = $fixture;
            $block_on($crate::conformance::$fact(&fixture));
        })*
    };
}
