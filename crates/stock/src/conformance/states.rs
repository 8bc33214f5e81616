//! Facts about the state of a sale: opening, status, movements, rebuilding.

use seckill_sale::{FailureReason, Restored, Shards};

use crate::{Condition, GivenUp, Remedy};

use super::{
    Epoch, EpochMs, Fixture, Glance, NotReady, OpenOutcome, Quantity, Refusal, RequestKey, Status, TicketState, UserId,
};

/// A sale that was never preheated admits nobody and says so.
pub async fn a_sale_without_state_is_not_ready(fixture: &Fixture) {
    assert_eq!(
        fixture.buy("a", 1).await,
        Err(Refusal::NotReady(NotReady::NotPreheated))
    );
    assert_eq!(fixture.stock.figures(Fixture::activity()).await, Ok(None));
    assert_eq!(fixture.stock.stock_left(Fixture::activity()), None);
}

/// Preheating in the middle of a sale sells nothing again.
pub async fn opening_twice_changes_nothing(fixture: &Fixture) {
    fixture.open(2).await;
    fixture.bought("a", 1).await;
    let again = fixture.stock.open(fixture.opening_here(2)).await;
    assert_eq!(again, Ok(OpenOutcome::Exists { epoch: Epoch::FIRST }));
    assert_eq!(fixture.stock.stock_left(Fixture::activity()), Some(1));
    assert!(matches!(fixture.buy("a", 2).await, Err(Refusal::AlreadyTook(_))));
}

/// A state that is behind the ledger gives way to one that is not; one that somebody else has built meanwhile does not.
pub async fn a_state_is_replaced_only_where_its_epoch_is_named(fixture: &Fixture) {
    fixture.open(2).await;
    fixture.bought("a", 1).await;
    let mut opening = fixture.opening_here(5);
    let second = Epoch::new(2).expect("in range");
    opening.opened.epoch = second;
    opening.replaces = Some(second);
    let refused = fixture.stock.open(opening.clone()).await;
    assert_eq!(refused, Ok(OpenOutcome::Exists { epoch: Epoch::FIRST }));
    opening.replaces = Some(Epoch::FIRST);
    assert_eq!(fixture.stock.open(opening).await, Ok(OpenOutcome::Created));
    let figures = fixture.stock.figures(Fixture::activity()).await;
    let figures = figures.expect("read").expect("a state");
    assert_eq!(
        (figures.epoch, figures.stock_left, figures.queued_tickets),
        (second, 5, 0)
    );
}

/// Whoever heals states leaves alone those that need no healing.
pub async fn a_state_that_can_be_used_is_not_given_up(fixture: &Fixture) {
    let (stock, activity) = (&fixture.stock, Fixture::activity());
    assert!(matches!(stock.condition(activity).await, Ok(Condition::Absent { .. })));
    fixture.open(2).await;
    let ticket = fixture.bought("a", 1).await.ticket;
    assert!(matches!(stock.condition(activity).await, Ok(Condition::Sound { .. })));
    for by in [Remedy::InPlace, Remedy::Build] {
        assert_eq!(stock.can_heal(activity, Shards::ONE, by).await, Ok(()), "{by:?}");
    }
    let later = Epoch::new(2).expect("in range");
    assert_eq!(stock.give_up(activity, Shards::ONE, later).await, Ok(GivenUp::Sound));
    assert_eq!(fixture.buyer("a").await.map(|buyer| buyer.ticket), Some(ticket));
    assert_eq!(fixture.bought("b", 2).await.ticket.epoch, Epoch::FIRST);
}

/// A paused sale refuses until it is resumed; a closed one has ended.
pub async fn paused_and_closed_sales_admit_nobody(fixture: &Fixture) {
    fixture.open(5).await;
    let with = |status| seckill_sale::Terms {
        status,
        ..Fixture::terms(Fixture::activity())
    };
    fixture.stock.change(with(Status::Paused)).await.expect("done");
    assert_eq!(fixture.buy("a", 1).await, Err(Refusal::Paused { resumes_at: None }));
    fixture.stock.change(with(Status::Running)).await.expect("done");
    fixture.bought("a", 1).await;
    fixture.stock.change(with(Status::Closed)).await.expect("done");
    assert_eq!(fixture.buy("b", 1).await, Err(Refusal::Ended));
    let again = fixture.bought("a", 1).await.ticket.sequence;
    assert_eq!(again, fixture.sequence("a", 1), "his own request again");
}

/// A movement that was applied, and any older one, changes nothing.
pub async fn a_movement_is_applied_once_and_in_order(fixture: &Fixture) {
    fixture.open(1).await;
    let activity = Fixture::activity();
    for (movement, delta, left) in [(10, 5, 6), (10, 5, 6), (9, 100, 6), (11, -2, 4), (11, -2, 4)] {
        fixture
            .stock
            .apply_movement(activity, movement, delta)
            .await
            .expect("done");
        assert_eq!(
            fixture.stock.stock_left(activity),
            Some(left),
            "after movement {movement}"
        );
    }
}

/// Units added after the sell-out are sold.
pub async fn added_units_reopen_a_sold_out_sale(fixture: &Fixture) {
    fixture.open(1).await;
    fixture.bought("a", 1).await;
    assert_eq!(fixture.buy("b", 2).await, Err(Refusal::SoldOut));
    fixture
        .stock
        .apply_movement(Fixture::activity(), 1, 1)
        .await
        .expect("done");
    fixture.bought("b", 2).await;
    assert_eq!(fixture.buy("c", 3).await, Err(Refusal::SoldOut));
}

/// A state built from the ledger knows every buyer with his result, and gives out no sequence twice.
pub async fn a_rebuilt_state_knows_its_buyers(fixture: &Fixture) {
    let states = [
        TicketState::Succeeded,
        TicketState::Failed(FailureReason::Discarded),
        TicketState::Dead,
        TicketState::Queued,
    ];
    let buyers = (1..).zip(states).map(|(n, state)| Restored {
        user: UserId::new(&format!("u{n}")).expect("valid"),
        key: RequestKey([9; 16]),
        quantity: Quantity::ONE,
        sequence: fixture.sequence(&format!("u{n}"), n),
        epoch: Epoch::FIRST,
        accepted_at: EpochMs(5),
        state,
        attempts: 0,
        request_id: None,
        dead_reason: String::new(),
    });
    let mut opening = fixture.opening_here(1);
    opening.buyers = buyers.collect();
    assert_eq!(fixture.stock.open(opening).await, Ok(OpenOutcome::Created));
    for (n, state) in (1..).zip(states) {
        assert_eq!(
            fixture.buyer(&format!("u{n}")).await.map(|buyer| buyer.state),
            Some(state)
        );
        assert!(matches!(
            fixture.buy(&format!("u{n}"), 1).await,
            Err(Refusal::AlreadyTook(_))
        ));
    }
    let new = fixture.bought("new", 1).await.ticket.sequence;
    assert!((1..=4).all(|n| fixture.sequence(&format!("u{n}"), n) != new));
    assert!(fixture.shards.is_split() || new == 5, "{new}");
    let figures = fixture
        .stock
        .figures(Fixture::activity())
        .await
        .expect("answers")
        .expect("has a state");
    assert_eq!(
        (figures.accepted, figures.queued, figures.dead, figures.stock_left),
        (5, 2, 1, 0)
    );
}

/// A forgotten sale can be opened anew.
pub async fn forgotten_sale_has_no_state(fixture: &Fixture) {
    fixture.open(1).await;
    fixture.bought("a", 1).await;
    fixture.stock.forget(Fixture::activity()).await.expect("done");
    assert_eq!(fixture.stock.figures(Fixture::activity()).await, Ok(None));
    assert_eq!(fixture.stock.activities().await, Ok(Vec::new()));
    assert_eq!(fixture.buyer("a").await, None);
}

/// What memory alone knows is never wrong about buyers and the sell-out.
pub async fn glance_knows_strangers_and_buyers(fixture: &Fixture) {
    let glance = |user: &str| {
        fixture
            .stock
            .glance(Fixture::activity(), &UserId::new(user).expect("valid"))
    };
    assert_eq!(glance("a"), Glance::Ask);
    fixture.open(1).await;
    assert!(matches!(glance("a"), Glance::Stranger | Glance::Ask));
    let ticket = fixture.bought("a", 1).await.ticket;
    assert!(matches!(glance("a"), Glance::Holds(buyer) if buyer.ticket == ticket) || glance("a") == Glance::Ask);
    assert!(matches!(glance("b"), Glance::SoldOut | Glance::Ask));
}
