//! Facts about claims.

use super::{Fixture, Refusal, UserId};

/// Exactly as many units as there are; the rest is sold out; what is left is never negative.
pub async fn units_are_sold_exactly(fixture: &Fixture) {
    fixture.open(5).await;
    let claims = (0..20).map(|n| Fixture::claim(&format!("u{n}"), n, 1)).collect();
    let answers = fixture.in_order(claims).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 5);
    assert!(answers.iter().skip(5).all(|answer| *answer == Err(Refusal::SoldOut)));
    assert_eq!(fixture.stock.stock_left(Fixture::activity()), Some(0));
}

/// Of two claims of one user in a batch the second hears of the first.
pub async fn a_later_claim_of_a_batch_sees_the_earlier_one(fixture: &Fixture) {
    fixture.open(5).await;
    let answers = fixture
        .stock
        .claim(vec![Fixture::claim("a", 1, 1), Fixture::claim("a", 2, 1)])
        .await;
    let first = answers[0].as_ref().expect("admitted");
    let Err(Refusal::AlreadyTook(buyer)) = &answers[1] else {
        panic!("{answers:?}")
    };
    assert_eq!(buyer.ticket, first.ticket);
}

/// Another request of a buyer is told the ticket he has, and takes nothing.
pub async fn repeat_hears_his_own_ticket(fixture: &Fixture) {
    fixture.open(5).await;
    let first = fixture.bought("a", 1).await;
    let Err(Refusal::AlreadyTook(buyer)) = fixture.buy("a", 2).await else {
        panic!("admitted twice")
    };
    assert_eq!(buyer.ticket, first.ticket);
    assert_eq!(fixture.stock.stock_left(Fixture::activity()), Some(4));
}

/// The same key again, however often and also in one batch, is the same ticket.
pub async fn the_same_request_again_gets_the_same_ticket(fixture: &Fixture) {
    fixture.open(5).await;
    let first = fixture.bought("a", 1).await;
    let answers = fixture.stock.claim(vec![Fixture::claim("a", 1, 1); 100]).await;
    for answer in answers {
        let again = answer.expect("a replay is no refusal");
        assert_eq!((again.ticket, again.replayed), (first.ticket, true));
    }
    assert!(!first.replayed);
    assert_eq!(fixture.stock.stock_left(Fixture::activity()), Some(4));
}

/// The same key with another quantity is another request: refused, nothing changed.
pub async fn the_same_key_with_another_quantity_is_refused(fixture: &Fixture) {
    fixture.open(5).await;
    fixture.bought("a", 1).await;
    let answer = fixture.stock.claim(vec![Fixture::claim("a", 1, 2)]).await.remove(0);
    assert_eq!(answer, Err(Refusal::KeyReused));
    assert_eq!(fixture.stock.stock_left(Fixture::activity()), Some(4));
}

/// The first millisecond of the window admits, the one at its end does not; the store's clock decides.
pub async fn window_is_half_open_by_the_stores_clock(fixture: &Fixture) {
    fixture.open(5).await;
    fixture.clock.set(Fixture::OPENS.plus(-1));
    assert_eq!(
        fixture.buy("a", 1).await,
        Err(Refusal::NotStarted {
            starts_at: Fixture::OPENS
        })
    );
    fixture.clock.set(Fixture::OPENS);
    assert_eq!(fixture.bought("b", 2).await.accepted_at, Fixture::OPENS);
    fixture.clock.set(Fixture::ENDS.plus(-1));
    fixture.bought("c", 3).await;
    fixture.clock.set(Fixture::ENDS);
    assert_eq!(fixture.buy("d", 4).await, Err(Refusal::Ended));
}

/// After the last unit a buyer still hears of his ticket, a stranger that nothing is left.
pub async fn sold_out_sale_still_knows_its_buyers(fixture: &Fixture) {
    fixture.open(1).await;
    let ticket = fixture.bought("a", 1).await.ticket;
    assert!(matches!(fixture.buy("a", 2).await, Err(Refusal::AlreadyTook(buyer)) if buyer.ticket == ticket));
    assert_eq!(fixture.buy("b", 3).await, Err(Refusal::SoldOut));
}

/// Refusals leave units, buyers and queue as they are.
pub async fn a_refused_claim_changes_nothing(fixture: &Fixture) {
    fixture.open(1).await;
    fixture.bought("a", 1).await;
    let before = fixture.stock.figures(Fixture::activity()).await;
    assert!(fixture.buy("a", 2).await.is_err());
    assert!(fixture.buy("b", 2).await.is_err());
    fixture.clock.set(Fixture::ENDS);
    assert!(fixture.buy("c", 2).await.is_err());
    assert_eq!(fixture.stock.figures(Fixture::activity()).await, before);
    assert_eq!(fixture.buyer("b").await, None);
}

/// Two units can't be had of one; one can.
pub async fn quantity_above_what_is_left_is_sold_out(fixture: &Fixture) {
    fixture.open(3).await;
    let two = |user, key| Fixture::claim(user, key, 2);
    let answers = fixture
        .in_order(vec![two("a", 1), two("b", 2), Fixture::claim("c", 3, 1)])
        .await;
    assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
    assert_eq!(answers[1], Err(Refusal::SoldOut));
}

/// A full backlog admits nobody, but a buyer hears of his ticket and a stranger of the sell-out first.
pub async fn full_backlog_refuses_after_repeat_and_sold_out(fixture: &Fixture) {
    fixture.open(2).await;
    fixture.stock.set_backlog_max(1);
    fixture.bought("a", 1).await;
    assert_eq!(fixture.buy("b", 2).await, Err(Refusal::BacklogFull));
    assert!(matches!(fixture.buy("a", 3).await, Err(Refusal::AlreadyTook(_))));
    fixture.stock.set_backlog_max(2);
    fixture.bought("b", 2).await;
    assert_eq!(fixture.buy("c", 4).await, Err(Refusal::SoldOut));
}

/// A lost reply is cured by asking again with the same key at any time.
pub async fn replay_is_answered_after_the_end_and_while_paused(fixture: &Fixture) {
    fixture.open(5).await;
    let ticket = fixture.bought("a", 1).await.ticket;
    fixture.clock.set(Fixture::ENDS);
    assert_eq!(fixture.bought("a", 1).await.ticket, ticket);
    assert_eq!(fixture.buy("a", 2).await, Err(Refusal::Ended));
}

/// Case and every character count.
pub async fn users_are_told_apart_bytewise(fixture: &Fixture) {
    fixture.open(10).await;
    for (key, user) in (0..).zip([
        "Alice", "alice", "ALICE", "alice.", "a:lice", "a-lice", "a_lice", "a@lice",
    ]) {
        fixture.bought(user, key).await;
        assert_eq!(
            fixture.buyer(user).await.map(|buyer| buyer.user),
            Some(UserId::new(user).expect("valid"))
        );
    }
}

/// Tickets count from one without a gap; those of a sub-stock in steps of their own.
pub async fn sequences_ascend_from_one(fixture: &Fixture) {
    fixture.open(10).await;
    let mut given = [0; 16];
    for n in 1..=10 {
        let user = format!("u{n}");
        let (shard, nth) = fixture.shards.place(fixture.bought(&user, 1).await.ticket.sequence);
        given[usize::try_from(shard).expect("small")] += 1;
        assert_eq!(nth, given[usize::try_from(shard).expect("small")]);
        assert_eq!(shard, fixture.shards.of(&UserId::new(&user).expect("valid")));
    }
}
