//! Facts about room for tickets where several sales want some.

use std::collections::BTreeSet;

use seckill_sale::{ActivityId, Claim, Refusal};

use super::{Answer, Fixture};

fn other() -> ActivityId {
    ActivityId::new(8).expect("in range")
}

/// So many strangers come to a sale, one after another, of whom the first is number `from`.
async fn come(fixture: &Fixture, activity: ActivityId, from: usize, count: usize) -> Vec<Answer> {
    let mut answers = Vec::new();
    for number in from..from + count {
        let claim = Claim {
            activity,
            ..Fixture::claim(&format!("u{number}"), 1, 1)
        };
        answers.extend(fixture.stock.claim(vec![claim]).await);
    }
    answers
}

fn admitted(answers: &[Answer]) -> usize {
    let refused = answers.iter().filter(|answer| **answer == Err(Refusal::BacklogFull));
    assert_eq!(
        answers.iter().flatten().count() + refused.count(),
        answers.len(),
        "{answers:?}"
    );
    answers.iter().flatten().count()
}

/// A hot sale that fills the backlog leaves another one its part of it, and never do more tickets wait than may.
pub async fn a_full_backlog_has_room_for_a_sale_that_has_less_than_its_part(fixture: &Fixture) {
    fixture.open(100).await;
    let opened = fixture.stock.open(Fixture::opening(other(), 100)).await;
    assert!(opened.is_ok(), "{opened:?}");
    fixture.stock.set_backlog_max(8);
    assert_eq!(admitted(&come(fixture, Fixture::activity(), 0, 9).await), 6);
    assert_eq!(admitted(&come(fixture, other(), 0, 9).await), 2);
    assert_eq!(admitted(&come(fixture, Fixture::activity(), 9, 3).await), 0);
    fixture.stock.set_backlog_max(12);
    assert_eq!(admitted(&come(fixture, Fixture::activity(), 9, 9).await), 3);
    assert_eq!(admitted(&come(fixture, other(), 9, 9).await), 1);
}

/// A sale that is held back has no room; who has a ticket of it hears of that, and the others sell.
pub async fn a_sale_that_is_held_back_admits_nobody_and_its_neighbours_do(fixture: &Fixture) {
    fixture.open(2).await;
    let opened = fixture.stock.open(Fixture::opening(other(), 100)).await;
    assert!(opened.is_ok(), "{opened:?}");
    let ticket = fixture.bought("a", 1).await.ticket;
    fixture.stock.set_held_back(BTreeSet::from([Fixture::activity()]));
    assert_eq!(fixture.buy("b", 2).await, Err(Refusal::BacklogFull));
    assert_eq!(fixture.bought("a", 1).await.ticket, ticket);
    assert!(matches!(fixture.buy("a", 3).await, Err(Refusal::AlreadyTook(_))));
    assert_eq!(admitted(&come(fixture, other(), 0, 3).await), 3);
    fixture.stock.set_held_back(BTreeSet::new());
    fixture.bought("b", 2).await;
    fixture.stock.set_held_back(BTreeSet::from([Fixture::activity()]));
    assert_eq!(fixture.buy("c", 4).await, Err(Refusal::SoldOut));
}
