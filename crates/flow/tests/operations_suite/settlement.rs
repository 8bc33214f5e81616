//! What a worker makes of a batch.

use seckill_ledger::{DeadLetters, Parking};
use seckill_queue::Queue;
use seckill_sale::{FailureReason, TicketState};
use seckill_stock::Stock;

use crate::house::{House, run, user};

#[test]
fn a_batch_becomes_orders_and_the_second_delivery_changes_nothing() {
    run(async {
        let (house, id) = House::selling(10).await;
        house.buy(id, &["a", "b", "c"]).await;
        let pass = house.worker.pass().await.expect("the queue answers");
        assert_eq!((pass.taken, pass.orders_written, pass.activity), (3, 3, Some(id)));
        let again = house.worker.pass().await.expect("the queue answers");
        assert_eq!(again.taken, 0);
        house.balanced(id).await;
    });
}

/// The worker died between parking a ticket in the ledger and burying it in the store; meanwhile an operator discarded it.
#[test]
fn a_ticket_discarded_while_the_store_had_it_queued_gives_its_unit_back_once() {
    run(async {
        let (house, id) = House::selling(10).await;
        house.buy(id, &["a"]).await;
        let delivery = house.store.take(1).await.expect("answers").remove(0);
        let ticket = delivery.ticket;
        let parking = Parking {
            delivery,
            reason: "its row can't be written".to_owned(),
        };
        house
            .ledger
            .park(vec![parking], house.store.now())
            .await
            .expect("parked");
        let letter = house
            .ledger
            .dead_letter_of(ticket)
            .await
            .expect("answers")
            .expect("parked");
        let context = seckill_ledger::Context {
            actor: "admin".to_owned(),
            now: house.store.now(),
            idempotency: None,
        };
        house
            .ledger
            .discard_dead_letter(letter.id, "by hand".to_owned(), context)
            .await
            .expect("discarded");
        let house = house.restarted();
        house.settle().await;
        let buyer = house
            .store
            .buyer(id, &user("a"))
            .await
            .expect("answers")
            .expect("known");
        assert_eq!(buyer.state, TicketState::Failed(FailureReason::Discarded));
        assert_eq!(house.left(id).await, 10);
        house.balanced(id).await;
    });
}
