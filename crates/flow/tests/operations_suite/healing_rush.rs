//! Buyers who rush in while a store loses something, a worker settles and a scheduler heals: what has to hold when it is over.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use seckill_ledger::{Operations, Settlement};
use seckill_queue::Queue;
use seckill_sale::{ActivityId, Refusal, Ticket};
use seckill_stock::Stock;

use crate::healing_house::GRACE_MS;
use crate::house::{House, all_rows, user};

/// More buyers than units.
pub(crate) const UNITS: u64 = 60;
const BUYERS_AT_ONCE: usize = 4;
const BUYERS_EACH: usize = 20;
const PATIENCE: Duration = Duration::from_secs(120);

/// So many have a ticket when something is lost for the first, and for the second time.
pub(crate) const HARMED_AT: [u64; 2] = [15, 40];

/// A rush that is under way.
pub(crate) struct Rush<'a> {
    house: &'a House,
    id: ActivityId,
    tickets: RefCell<BTreeMap<String, Ticket>>,
    over: Cell<bool>,
    until: Instant,
}

impl<'a> Rush<'a> {
    /// Sells all units of a sale while `harm` is called once for each of [`HARMED_AT`], and looks whether all is well behind it.
    pub(crate) async fn through(house: &'a House, id: ActivityId, harm: impl Fn(usize)) {
        let rush = Self {
            house,
            id,
            tickets: RefCell::default(),
            over: Cell::new(false),
            until: Instant::now() + PATIENCE,
        };
        let buyers = futures_util::future::join_all((0..BUYERS_AT_ONCE).map(|buyer| rush.buy(buyer)));
        let buying = async {
            buyers.await;
            rush.over.set(true);
        };
        tokio::join!(buying, rush.settle_and_heal(), rush.harm(harm));
        rush.check().await;
    }

    fn accepted(&self) -> u64 {
        self.tickets.borrow().len() as u64
    }

    async fn breathe(&self) {
        assert!(
            Instant::now() < self.until,
            "{} have a ticket, and it does not go on",
            self.accepted()
        );
        tokio::task::yield_now().await;
    }

    /// One after another, each with a key of his own, until he has an answer that stays.
    async fn buy(&self, buyer: usize) {
        for number in 0..BUYERS_EACH {
            let name = format!("u{buyer}-{number}");
            loop {
                match self.house.claim(self.id, &name, 1).await {
                    Ok(reserved) => {
                        self.tickets.borrow_mut().insert(name, reserved.ticket);
                        break;
                    }
                    Err(Refusal::SoldOut) => break,
                    Err(Refusal::NotReady(_) | Refusal::Busy | Refusal::OutcomeUnknown) => self.breathe().await,
                    Err(refusal) => panic!("{name}: {refusal:?}"),
                }
            }
            self.breathe().await;
        }
    }

    /// What is healed is open for a while before strangers come, and by then each node has offered what it admitted.
    async fn settle_and_heal(&self) {
        let House { worker, store, .. } = self.house;
        while !self.over.get() {
            let _outage = worker.pass().await;
            let ticked = self.house.heal(self.id).await;
            self.sold_at_most_all().await;
            if ticked.healed.is_empty() {
                self.breathe().await;
                continue;
            }
            let _read = store.activities().await;
            while store.has_orphans() || worker.has_strays() {
                worker.adopt_strays().await;
                self.house.heal(self.id).await;
                let _read = store.activities().await;
                self.breathe().await;
            }
            self.house.clock.advance(GRACE_MS);
        }
    }

    async fn harm(&self, harm: impl Fn(usize)) {
        for (nth, at) in HARMED_AT.into_iter().enumerate() {
            while self.accepted() < at && !self.over.get() {
                self.breathe().await;
            }
            assert!(!self.over.get(), "it comes in the middle of the rush");
            harm(nth);
        }
    }

    async fn sold_at_most_all(&self) {
        let tally = self.house.ledger.tally(self.id).await.expect("read");
        assert!(tally.succeeded <= UNITS, "{tally:?}");
    }

    /// Everything is sold, once; everybody who was told of a ticket has an order by it; the books balance, and a second look changes nothing.
    async fn check(self) {
        let Self { house, id, tickets, .. } = self;
        let tickets = tickets.into_inner();
        let names: Vec<_> = tickets.keys().map(String::as_str).collect();
        house.is_well(id, &names).await;
        let audit = house.balanced(id).await;
        let said = losses(house).await;
        assert_eq!(
            (audit.orders_live, audit.stock_left, audit.dead),
            (UNITS, 0, 0),
            "{said}"
        );
        for (name, ticket) in &tickets {
            let record = house.ledger.record(id, &user(name)).await.expect("read");
            let record = record.expect("is_well has looked");
            assert!(house.succeeded(id, name).await, "{name}: {record:?}; {said}");
            assert_eq!(record.ticket, *ticket, "{name}; {said}");
            let again = house.claim(id, name, 1).await.expect("his own");
            assert_eq!((again.ticket, again.replayed), (*ticket, true), "{name}");
        }
    }
}

/// What was said of losses.
async fn losses(house: &House) -> String {
    let rows = house.ledger.audit_rows(all_rows()).await.expect("read").rows;
    let heals = rows.into_iter().filter(|row| row.action == "store.heal");
    heals.map(|row| row.after).collect::<Vec<_>>().join("\n")
}
