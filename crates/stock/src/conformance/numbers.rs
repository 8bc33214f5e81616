//! Facts about a number that the ledger gave out twice: it was restored from an older copy.

use std::collections::BTreeMap;

use crate::Condition;

use super::{Epoch, EpochMs, Fixture, Glance, NotReady, OpenOutcome, Refusal, UserId};

/// The ledger gave the number of a sale that it has lost out again: the state of that one sells nothing, tells nobody that he has a ticket, and
/// does not take on the rules of this one.
pub async fn a_state_of_another_sale_is_left_alone_until_it_is_given_up(fixture: &Fixture) {
    let (stock, activity) = (&fixture.stock, Fixture::activity());
    let created = |at: EpochMs| BTreeMap::from([(activity, at)]);
    let later = EpochMs(Fixture::CREATED.0 + 1);
    fixture.open(5).await;
    let ticket = fixture.bought("a", 1).await.ticket;
    stock.set_created(created(Fixture::CREATED));
    fixture.bought("b", 1).await;
    assert_eq!(
        stock.give_up_another(activity).await,
        Ok(Vec::new()),
        "it is this sale's"
    );

    stock.set_created(created(later));
    let refused = Err(Refusal::NotReady(NotReady::Recovering));
    for user in ["a", "b", "new"] {
        assert_eq!(fixture.buy(user, 1).await, refused, "{user}");
    }
    let user = UserId::new("a").expect("valid");
    assert_eq!(stock.glance(activity, &user), Glance::Ask);
    assert!(!matches!(stock.buyer(activity, &user).await, Ok(Some(_))));
    assert_eq!(stock.stock_left(activity), None);
    let terms = seckill_sale::Terms {
        created_at: Some(later),
        ..Fixture::terms(activity)
    };
    assert!(stock.change(terms).await.is_err());
    assert!(stock.apply_movement(activity, 1, 5).await.is_err());
    let another = Condition::Another { epoch: Epoch::FIRST };
    assert_eq!(stock.condition(activity).await, Ok(another));

    let buyers = stock.give_up_another(activity).await.expect("given up");
    let mut named: Vec<_> = buyers.iter().map(|buyer| buyer.user.as_str()).collect();
    named.sort_unstable();
    assert_eq!(named, ["a", "b"]);
    assert!(buyers.iter().any(|buyer| buyer.sequence == ticket.sequence));
    assert!(matches!(stock.condition(activity).await, Ok(Condition::Absent { .. })));
    let mut opening = fixture.opening_here(1);
    opening.opened.terms = terms;
    opening.opened.epoch = Epoch::new(2).expect("in range");
    assert_eq!(stock.open(opening).await, Ok(OpenOutcome::Created));
    assert_eq!(stock.give_up_another(activity).await, Ok(Vec::new()));
    fixture.bought("a", 1).await;
    assert_eq!(fixture.buy("b", 1).await, Err(Refusal::SoldOut));
}

/// One that an earlier version built does not know it: until it does it may be used, and then it says so for good.
pub async fn a_state_learns_once_when_its_sale_was_created(fixture: &Fixture) {
    let (stock, activity) = (&fixture.stock, Fixture::activity());
    let at = |created_at| seckill_sale::Terms {
        created_at,
        ..Fixture::terms(activity)
    };
    let mut opening = fixture.opening_here(5);
    opening.opened.terms = at(None);
    assert_eq!(stock.open(opening).await, Ok(OpenOutcome::Created));
    let later = EpochMs(Fixture::CREATED.0 + 1);
    stock.set_created(BTreeMap::from([(activity, Fixture::CREATED)]));
    fixture.bought("a", 1).await;
    stock.change(at(Some(Fixture::CREATED))).await.expect("it learns it");
    stock.change(at(None)).await.expect("it knows it");
    fixture.bought("b", 1).await;
    stock.set_created(BTreeMap::from([(activity, later)]));
    let another = Condition::Another { epoch: Epoch::FIRST };
    assert_eq!(stock.condition(activity).await, Ok(another));
}
