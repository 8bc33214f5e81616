//! What buyers, a worker and the books do in a [`House`].

use seckill_flow::Audit;
use seckill_ledger::{DeadLetter, DeadLetters, Ledger, Parking};
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{ActivityId, Claim, Figures, Quantity, RequestId, RequestKey, Ticket};
use seckill_stock::{Answer, Stock};

use crate::house::{House, user};

/// A claim with a key made of the name.
pub(crate) fn claim_of(id: ActivityId, name: &str, quantity: u64) -> Claim {
    let mut key = [0; 16];
    key[..name.len().min(16)].copy_from_slice(&name.as_bytes()[..name.len().min(16)]);
    Claim {
        activity: id,
        user: user(name),
        key: RequestKey(key),
        quantity: Quantity::new(quantity).expect("in range"),
        request_id: RequestId::new(&format!("request-of-{name}")).expect("valid"),
    }
}

impl House {
    pub(crate) async fn claim(&self, id: ActivityId, name: &str, quantity: u64) -> Answer {
        self.store.claim(vec![claim_of(id, name, quantity)]).await.remove(0)
    }

    /// Every one of `names` buys one unit.
    pub(crate) async fn buy(&self, id: ActivityId, names: &[&str]) {
        for name in names {
            self.claim(id, name, 1)
                .await
                .unwrap_or_else(|refusal| panic!("{name}: {refusal:?}"));
        }
    }

    /// The ticket that the store says somebody has.
    pub(crate) async fn ticket_of(&self, id: ActivityId, name: &str) -> Ticket {
        let buyer = self.store.buyer(id, &user(name)).await.expect("read");
        buyer.expect("a buyer").ticket
    }

    /// Settles whatever can be taken.
    pub(crate) async fn settle(&self) {
        while self.worker.pass().await.expect("the queue answers").taken != 0 {}
    }

    /// Takes the whole queue, parks the ticket of `name` and puts the others back.
    pub(crate) async fn park(&self, name: &str) -> DeadLetter {
        let taken = self.store.take(1_000).await.expect("taken");
        let mut verdicts = Verdicts::default();
        let mut ticket = None;
        for delivery in taken {
            let verdict = if delivery.user == user(name) {
                ticket = Some(delivery.ticket);
                let reason = "bad row".to_owned();
                let parking = Parking {
                    delivery: delivery.clone(),
                    reason: reason.clone(),
                };
                self.ledger.park(vec![parking], self.store.now()).await.expect("parked");
                Verdict::Bury { reason }
            } else {
                Verdict::GiveBack {
                    not_before: self.store.now(),
                }
            };
            verdicts.tickets.push((delivery.ticket, verdict));
        }
        self.store.record(verdicts).await.expect("recorded");
        let ticket = ticket.expect("the ticket was in the queue");
        self.ledger
            .dead_letter_of(ticket)
            .await
            .expect("read")
            .expect("a letter")
    }

    pub(crate) async fn figures(&self, id: ActivityId) -> Figures {
        self.store.figures(id).await.expect("figures").expect("a state")
    }

    pub(crate) async fn left(&self, id: ActivityId) -> u64 {
        self.figures(id).await.stock_left
    }

    /// Units of the product of a sale.
    pub(crate) async fn product_units(&self, id: ActivityId) -> u64 {
        let ledger: &dyn Ledger = &*self.ledger;
        let product = ledger.activity(id).await.expect("an activity").product_id;
        ledger.product(product).await.expect("a product").stock
    }

    /// The books, which balance.
    pub(crate) async fn balanced(&self, id: ActivityId) -> Audit {
        let audit = self.operator.audit(id).await.expect("an audit");
        assert_eq!(audit.balanced, Some(true), "{audit:?}");
        audit
    }
}
