//! What was acknowledged is there after a restart, with and without a snapshot in between.

use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{Conclusion, Delivery, EpochMs, FailureReason, TicketState, UnitTo, UserId};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Glance, Stock};

use crate::support::{Engine, block_on};

pub(crate) fn fixture(engine: &Engine) -> Fixture {
    Fixture {
        stock: std::sync::Arc::new(engine.engine.clone()),
        clock: engine.clock.clone(),
        shards: seckill_sale::Shards::ONE,
    }
}

/// Ten buyers, of whom one each was settled, failed, buried and sent back.
async fn a_busy_sale(engine: &Engine) -> Vec<Delivery> {
    let fixture = fixture(engine);
    fixture.open(20).await;
    for n in 0..10_u8 {
        fixture.bought(&format!("u{n}"), n).await;
    }
    let taken = engine.engine.take(4).await.expect("answers");
    let failed = Conclusion::Failed {
        reason: FailureReason::Discarded,
        unit_to: Some(UnitTo::Sale),
    };
    let verdicts = [
        Verdict::Conclude(Conclusion::Succeeded),
        Verdict::Conclude(failed),
        Verdict::Bury {
            reason: "its row can't be written".to_owned(),
        },
        Verdict::Retry {
            attempts: 2,
            not_before: Fixture::OPENS.plus(1_000),
        },
    ];
    let tickets = taken.iter().map(|delivery| delivery.ticket).zip(verdicts).collect();
    engine
        .engine
        .record(Verdicts {
            tickets,
            settled_batch: 5,
        })
        .await
        .expect("recorded");
    taken
}

async fn assert_busy_sale(engine: &Engine, taken: &[Delivery]) {
    let activity = Fixture::activity();
    let figures = engine
        .engine
        .figures(activity)
        .await
        .expect("answers")
        .expect("has a state");
    assert_eq!(
        (figures.stock_left, figures.accepted, figures.queued, figures.dead),
        (11, 10, 7, 1)
    );
    assert_eq!((figures.next_sequence, engine.engine.acknowledged_batch()), (11, 5));
    let dead = engine.engine.dead_letters(activity).await.expect("answers");
    assert_eq!(dead.len(), 1);
    assert_eq!(
        (dead[0].0.ticket, dead[0].1.as_str()),
        (taken[2].ticket, "its row can't be written")
    );
    let states = [
        TicketState::Succeeded,
        TicketState::Failed(FailureReason::Discarded),
        TicketState::Dead,
        TicketState::Queued,
    ];
    for (delivery, state) in taken.iter().zip(states) {
        let Glance::Holds(buyer) = engine.engine.glance(activity, &delivery.user) else {
            panic!("not known")
        };
        assert_eq!(
            (buyer.ticket, buyer.state, buyer.key),
            (delivery.ticket, state, delivery.key)
        );
    }
}

#[test]
fn a_restart_changes_nothing() {
    block_on(async {
        let engine = Engine::start();
        let taken = a_busy_sale(&engine).await;
        assert_busy_sale(&engine, &taken).await;
        let engine = engine.restart();
        assert_busy_sale(&engine, &taken).await;
    });
}

#[test]
fn a_snapshot_changes_nothing() {
    block_on(async {
        let engine = Engine::start();
        let taken = a_busy_sale(&engine).await;
        let engine = engine.compacted().restart();
        assert_busy_sale(&engine, &taken).await;
        fixture(&engine).bought("later", 1).await;
        let engine = engine.compacted().restart();
        let figures = engine
            .engine
            .figures(Fixture::activity())
            .await
            .expect("answers")
            .expect("has a state");
        assert_eq!((figures.accepted, figures.stock_left), (11, 10));
    });
}

#[test]
fn unfinished_tickets_are_handed_out_again_after_a_restart_and_a_retry_not_too_early() {
    block_on(async {
        let engine = Engine::start();
        a_busy_sale(&engine).await;
        engine.engine.take(100).await.expect("answers");
        let engine = engine.restart();
        let again = engine.engine.take(100).await.expect("answers");
        assert_eq!(
            again
                .iter()
                .map(|delivery| delivery.ticket.sequence)
                .collect::<Vec<_>>(),
            [5, 6, 7, 8, 9, 10]
        );
        engine.clock.set(EpochMs(Fixture::OPENS.0 + 1_000));
        let retried = engine.engine.take(100).await.expect("answers");
        assert_eq!(
            retried
                .iter()
                .map(|delivery| (delivery.ticket.sequence, delivery.attempts))
                .collect::<Vec<_>>(),
            [(4, 2)]
        );
    });
}

#[test]
fn a_retry_gets_the_same_ticket_after_a_restart() {
    block_on(async {
        let engine = Engine::start();
        fixture(&engine).open(2).await;
        let first = fixture(&engine).bought("a", 1).await;
        let engine = engine.restart();
        let again = fixture(&engine).bought("a", 1).await;
        assert_eq!((again.ticket, again.replayed), (first.ticket, true));
    });
}

#[test]
fn what_is_bought_while_the_journal_is_compacted_stays() {
    let engine = Engine::start();
    let buy = |engine: &Engine, user: &str| block_on(fixture(engine).bought(user, 1));
    block_on(fixture(&engine).open(5));
    let mut tickets = vec![("a", buy(&engine, "a").ticket)];
    let engine = engine.compacted_beside(|engine| tickets.push(("b", buy(engine, "b").ticket)));
    tickets.push(("c", buy(&engine, "c").ticket));
    let engine = engine.restart();
    for (user, ticket) in tickets {
        let again = buy(&engine, user);
        assert_eq!((again.ticket, again.replayed), (ticket, true), "{user}");
    }
}

#[test]
fn an_erased_buyer_stays_erased() {
    block_on(async {
        let engine = Engine::start();
        a_busy_sale(&engine).await;
        let user = UserId::new("u9").expect("valid");
        assert_eq!(
            engine.engine.erase_buyer(Fixture::activity(), user.clone()).await,
            Ok(true)
        );
        let engine = engine.restart();
        assert_eq!(engine.engine.buyer(Fixture::activity(), &user).await, Ok(None));
        let figures = engine
            .engine
            .figures(Fixture::activity())
            .await
            .expect("answers")
            .expect("has a state");
        assert_eq!((figures.accepted, figures.queued), (9, 6));
    });
}
