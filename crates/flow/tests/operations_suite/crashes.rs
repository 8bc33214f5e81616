//! Every procedure stopped before its n-th write to the store, for every n: the scheduler finishes what was begun, and the books balance.

use seckill_flow::OperatorSettings;
use seckill_ledger::{DeadLetter, UnitsOnCancel};
use seckill_sale::{ActivityId, OrderNo, Refusal, Stock as Units};

use crate::house::{House, PRODUCT_UNITS, run, user};

/// More writes than any procedure does here.
const WRITES_MAX: i64 = 20;

/// A sale of ten: `a` has an order, `bad` is a dead letter.
struct Begun {
    house: House,
    id: ActivityId,
    order: OrderNo,
    letter: DeadLetter,
}

async fn begin() -> Begun {
    let house = House::with(OperatorSettings {
        units_on_cancel: UnitsOnCancel::Sale,
        ..OperatorSettings::default()
    });
    let id = house.opened(10).await;
    house.buy(id, &["bad"]).await;
    let letter = house.park("bad").await;
    let order = house.claim(id, "a", 1).await.expect("bought").ticket.order_no();
    house.settle().await;
    house.balanced(id).await;
    Begun {
        house,
        id,
        order,
        letter,
    }
}

/// What an interrupted procedure leaves to.
#[derive(Clone, Copy)]
enum After {
    /// The process goes on; the caller got an error or went away.
    Error,
    /// The process died and was started again.
    Death,
}

/// Stops `procedure` before its n-th write for every n, lets the scheduler repair, and looks with `check`.
fn at_every_write(procedure: &impl AsyncFn(&Begun), check: &impl AsyncFn(&House, ActivityId)) {
    for after in [After::Error, After::Death] {
        let mut writes = 0;
        loop {
            assert!(writes < WRITES_MAX, "the procedure never ends");
            let was_stopped = run(async {
                let begun = begin().await;
                begun.house.store.allow(writes);
                procedure(&begun).await;
                let was_stopped = begun.house.store.heal();
                let Begun { house, id, .. } = begun;
                let house = match after {
                    After::Error => house,
                    After::Death => house.restarted(),
                };
                let mut scheduler = house.scheduler();
                scheduler.tick(house.clock_now()).await;
                house.settle().await;
                let ticked = house.scheduler().tick(house.clock_now()).await;
                assert!(ticked.failures.is_empty(), "{:?}", ticked.failures);
                house.balanced(id).await;
                check(&house, id).await;
                was_stopped
            });
            if !was_stopped {
                break;
            }
            writes += 1;
        }
        assert!(0 < writes, "the procedure writes to the store");
    }
}

#[test]
fn closing_is_finished() {
    let close = async |begun: &Begun| {
        // The caller may hear an error; what counts is what the ledger has.
        let _ = begun.house.operator.close(begun.id, begun.house.context()).await;
    };
    at_every_write(&close, &async |house, id| {
        assert_eq!(house.product_units(id).await, PRODUCT_UNITS - 2);
        assert!(matches!(house.claim(id, "late", 1).await, Err(Refusal::Ended)));
    });
}

#[test]
fn pausing_is_finished() {
    let pause = async |begun: &Begun| {
        let _ = begun.house.operator.pause(begun.id, None, begun.house.context()).await;
    };
    at_every_write(&pause, &async |house, id| {
        assert!(matches!(house.claim(id, "late", 1).await, Err(Refusal::Paused { .. })));
    });
}

#[test]
fn added_stock_arrives() {
    let add = async |begun: &Begun| {
        let units = Units::new(5).expect("in range");
        let added = begun
            .house
            .operator
            .add_stock(begun.id, units, begun.house.context())
            .await;
        added.expect("the ledger has it, so it is done");
    };
    at_every_write(&add, &async |house, id| {
        assert_eq!(house.left(id).await, 13);
    });
}

#[test]
fn cancelled_unit_arrives_in_the_sale() {
    let cancel = async |begun: &Begun| {
        let now = begun.house.clock_now();
        let cancelled = begun.house.operator.cancel(begun.order, &user("a"), now).await;
        cancelled.expect("the ledger has it, so it is done");
    };
    at_every_write(&cancel, &async |house, id| {
        assert_eq!(house.left(id).await, 9);
    });
}

#[test]
fn retried_letter_is_settled() {
    let retry = async |begun: &Begun| {
        let retried = begun
            .house
            .operator
            .retry_dead_letter(begun.letter.id, begun.house.context())
            .await;
        retried.expect("the ledger has it, so it is done");
    };
    at_every_write(&retry, &async |house, id| {
        assert_eq!(house.balanced(id).await.orders_live, 2);
    });
}

#[test]
fn discarded_letter_gives_its_unit_back() {
    let discard = async |begun: &Begun| {
        let reason = "bad".to_owned();
        let context = begun.house.context();
        let discarded = begun
            .house
            .operator
            .discard_dead_letter(begun.letter.id, reason, context)
            .await;
        discarded.expect("the ledger has it, so it is done");
    };
    at_every_write(&discard, &async |house, id| {
        assert_eq!((house.left(id).await, house.balanced(id).await.failed), (9, 1));
    });
}

#[test]
fn closing_with_a_letter_discarded_before_returns_all() {
    let discard_and_close = async |begun: &Begun| {
        let (operator, context) = (&begun.house.operator, begun.house.context());
        let _ = operator
            .discard_dead_letter(begun.letter.id, "bad".to_owned(), context.clone())
            .await;
        let _ = operator.close(begun.id, context).await;
    };
    at_every_write(&discard_and_close, &async |house, id| {
        assert_eq!(house.product_units(id).await, PRODUCT_UNITS - 1);
    });
}
