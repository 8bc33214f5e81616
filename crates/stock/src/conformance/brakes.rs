//! Facts about the emergency brake.

use std::task::{Context, Waker};

use seckill_sale::{Epoch, Hold, Status};

use super::{EpochMs, Fixture, NotReady, Refusal, RequestKey};
use crate::{Error, Standing, WAITING_MS};

fn hold(resumes_at: Option<i64>) -> Hold {
    Hold {
        held_at: Fixture::OPENS,
        resumes_at: resumes_at.map(EpochMs),
    }
}

/// Rules that are handed over do not lift it, and who has a ticket still hears so.
pub async fn a_held_sale_admits_nobody_whatever_its_rules_say(fixture: &Fixture) {
    fixture.open(5).await;
    let activity = Fixture::activity();
    let reserved = fixture.bought("a", 1).await;
    let until = Fixture::OPENS.plus(9);
    fixture.stock.hold(activity, hold(Some(until.0))).await.expect("held");
    let refused = Refusal::Paused {
        resumes_at: Some(until),
    };
    assert_eq!(fixture.buy("b", 1).await, Err(refused.clone()));
    fixture.stock.change(Fixture::terms(activity)).await.expect("done");
    assert_eq!(fixture.buy("b", 1).await, Err(refused));
    let held = hold(Some(until.0));
    let standing = |hold, status| {
        let epoch = Epoch::FIRST;
        Some(Standing { epoch, hold, status })
    };
    assert_eq!(
        fixture.stock.standing(activity),
        standing(Some(held), Some(Status::Paused))
    );
    let again = fixture.stock.claim(vec![Fixture::claim("a", 1, 1)]).await.remove(0);
    assert_eq!(again.map(|again| again.ticket), Ok(reserved.ticket));
    assert_eq!(
        fixture.buyer("a").await.map(|buyer| buyer.key),
        Some(RequestKey([1; 16]))
    );
    fixture.stock.release(activity, held).await.expect("released");
    assert_eq!(fixture.stock.standing(activity), standing(None, Some(Status::Running)));
}

/// A later hold is not ended by whoever wrote the earlier one into the ledger.
pub async fn a_release_ends_only_the_hold_it_names(fixture: &Fixture) {
    fixture.open(5).await;
    let activity = Fixture::activity();
    let (first, second) = (hold(Some(1)), hold(None));
    for hold in [first, second] {
        fixture.stock.hold(activity, hold).await.expect("held");
    }
    fixture.stock.release(activity, first).await.expect("done");
    assert_eq!(fixture.stock.held(activity), Some(second));
    assert_eq!(fixture.buy("a", 1).await, Err(Refusal::Paused { resumes_at: None }));
    fixture.stock.release(activity, second).await.expect("done");
    assert_eq!(fixture.stock.held(activity), None);
    fixture.bought("a", 1).await;
}

/// Nobody waits for the earlier answers, as where a store hangs; figures come behind everything that was asked for.
pub async fn holds_and_their_ends_are_done_in_the_order_in_which_they_are_asked_for(fixture: &Fixture) {
    fixture.open(5).await;
    let activity = Fixture::activity();
    let (first, second) = (hold(Some(1)), hold(None));
    let stock = &fixture.stock;
    for (asked, held) in [
        (vec![stock.hold(activity, first), stock.release(activity, first)], None),
        (
            vec![
                stock.hold(activity, second),
                stock.release(activity, second),
                stock.hold(activity, first),
            ],
            Some(first),
        ),
        (
            vec![
                stock.hold(activity, second),
                stock.release(activity, first),
                stock.hold(activity, first),
                stock.hold(activity, second),
            ],
            Some(second),
        ),
    ] {
        let mut waiting = Vec::new();
        for mut asked in asked {
            let begun = asked.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            if begun.is_pending() {
                waiting.push(asked);
            }
        }
        stock.figures(activity).await.expect("the store answers");
        assert_eq!(stock.held(activity), held);
        for asked in waiting {
            asked.await.expect("done");
        }
        assert_eq!(stock.held(activity), held);
    }
}

/// It admits nobody anyway.
pub async fn a_sale_without_state_cannot_be_held(fixture: &Fixture) {
    let refused = Err(Error::NotReady(NotReady::NotPreheated));
    assert_eq!(fixture.stock.hold(Fixture::activity(), hold(None)).await, refused);
    assert_eq!(fixture.stock.standing(Fixture::activity()), None);
    assert_eq!(fixture.stock.release(Fixture::activity(), hold(None)).await, Ok(()));
}

/// The store does not read them.
pub async fn switches_are_kept_until_taken_back(fixture: &Fixture) {
    assert_eq!(fixture.stock.kept_switches().await, Ok(None));
    let mut before = None;
    for kept in [Some("shut"), Some("shut more"), None] {
        let kept = kept.map(str::to_owned);
        // Also where the answer to the first time was lost.
        for _ in 0..2 {
            let now = fixture.stock.keep_switches(before.clone(), kept.clone()).await;
            assert_eq!(now.as_ref(), Ok(&kept));
        }
        assert_eq!(fixture.stock.kept_switches().await.as_ref(), Ok(&kept));
        before = kept;
    }
}

/// Nobody takes back, or writes over, what he has not seen.
pub async fn switches_that_others_had_kept_meanwhile_stay(fixture: &Fixture) {
    let text = |text: &str| Some(text.to_owned());
    let keep = |instead_of: Option<String>, kept: Option<String>| fixture.stock.keep_switches(instead_of, kept);
    assert_eq!(keep(None, text("of one")).await, Ok(text("of one")));
    assert_eq!(keep(None, text("of another")).await, Ok(text("of one")));
    assert_eq!(keep(None, None).await, Ok(text("of one")));
    assert_eq!(keep(text("of one"), text("of both")).await, Ok(text("of both")));
    assert_eq!(keep(text("of one"), None).await, Ok(text("of both")));
    assert_eq!(fixture.stock.kept_switches().await, Ok(text("of both")));
    assert_eq!(keep(text("of both"), None).await, Ok(None));
    assert_eq!(keep(text("of both"), text("of one")).await, Ok(None));
}

/// A node hears nothing of its own, and the latest word of each other one.
pub async fn each_node_hears_what_waits_at_the_others_until_it_is_taken_back_or_its_node_falls_silent(
    fixture: &Fixture,
) {
    let tell = async |node: &str, waiting: Option<&str>| {
        let heard = fixture.stock.tell_waiting(node, waiting.map(str::to_owned)).await;
        let mut heard = heard.expect("heard");
        heard.sort();
        heard
    };
    assert_eq!(tell("a", Some("shut")).await, [""; 0]);
    assert_eq!(tell("b", Some("half of it")).await, ["shut"]);
    assert_eq!(tell("c", None).await, ["half of it", "shut"]);
    assert_eq!(tell("a", Some("shut more")).await, ["half of it"]);
    assert_eq!(tell("b", None).await, ["shut more"]);
    assert_eq!(tell("c", None).await, ["shut more"]);
    fixture.clock.advance(WAITING_MS - 1);
    assert_eq!(tell("c", None).await, ["shut more"]);
    fixture.clock.advance(1);
    assert_eq!(tell("c", None).await, [""; 0]);
    tell("a", Some("shut")).await;
    // The store's clock goes back: nothing waits for longer than it may.
    fixture.clock.set(Fixture::OPENS.plus(-WAITING_MS));
    assert_eq!(tell("c", None).await, [""; 0]);
    let long = "x".repeat(crate::SWITCHES_BYTES_MAX + 1);
    let refused = Err(Error::NotReady(NotReady::StoreFull));
    assert_eq!(fixture.stock.tell_waiting("a", Some(long)).await, refused);
}
