//! Fixtures of the conformance suites: an engine with a clock that is set by hand.

use std::cell::RefCell;
use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use seckill_engine_redis::Engine;
use seckill_sale::{ActivityId, Claim, ManualClock, Shards, Ticket, TicketState, UserId};
use seckill_stock::conformance::Fixture;
use seckill_stock::{OpenOutcome, Opening, Stock};

use crate::support::{Running, new_runtime};

/// The suites of all contracts, of sales in one piece and of split ones, on what the suite runs on.
macro_rules! conformance {
    () => {
        mod stock {
            use crate::contracts::{block_on, fixture};
            seckill_stock::stock_conformance!(fixture(1), block_on);
        }

        mod queue {
            use crate::contracts::{block_on, queue_fixture};
            seckill_queue::queue_conformance!(queue_fixture(1), block_on);
        }

        /// The same facts of a sale that is split.
        mod split_stock {
            use crate::contracts::{block_on, fixture};
            seckill_stock::stock_conformance!(fixture(4), block_on);
        }

        mod split_queue {
            use crate::contracts::{block_on, queue_fixture};
            seckill_queue::queue_conformance!(queue_fixture(4), block_on);
        }

        mod members {
            use crate::contracts::{block_on, members_fixture};
            seckill_stock::members_conformance!(members_fixture(), block_on);
        }
    };
}

thread_local! {
    /// What a fixture needs until its fact has been checked: [`block_on`] ends it.
    static KEPT: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            KEPT.with_borrow_mut(Vec::clear);
        }
    }
    let _end = End;
    new_runtime().block_on(future)
}

fn kept() -> (Engine, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(Fixture::OPENS));
    let running = Running::start(Some(clock.clone()));
    let engine = running.engine.clone();
    KEPT.with_borrow_mut(|kept| kept.push(running));
    (engine, clock)
}

/// For the stock's conformance, with so many shards.
pub fn fixture(shards: u64) -> Fixture {
    let (engine, clock) = kept();
    Fixture {
        stock: Arc::new(engine),
        clock,
        shards: Shards::new(shards).expect("in range"),
    }
}

/// For the conformance of members.
pub fn members_fixture() -> seckill_stock::members::conformance::Fixture {
    let (engine, clock) = kept();
    seckill_stock::members::conformance::Fixture {
        members: Arc::new(engine),
        clock,
    }
}

/// For the queue's conformance: two sales are open, with so many shards each.
pub fn queue_fixture(shards: u64) -> seckill_queue::conformance::Fixture {
    let (engine, clock) = kept();
    let shards = Shards::new(shards).expect("in range");
    let opening = async {
        for id in [7, 8] {
            let activity = ActivityId::new(id).expect("in range");
            let opening = Opening {
                shards,
                ..Fixture::opening(activity, 100)
            };
            let outcome = engine.open(opening).await;
            assert_eq!(outcome, Ok(OpenOutcome::Created));
        }
    };
    KEPT.with_borrow(|kept| kept[0].block_on(opening));
    seckill_queue::conformance::Fixture {
        queue: Arc::new(engine.clone()),
        front: Arc::new(Front(engine)),
        clock,
        shards,
    }
}

struct Front(Engine);

#[async_trait]
impl seckill_queue::conformance::Front for Front {
    async fn buy(&self, activity: ActivityId, users: &[&str]) -> Vec<Ticket> {
        let claims = users
            .iter()
            .map(|user| Claim {
                activity,
                ..Fixture::claim(user, 1, 1)
            })
            .collect();
        let answers = self.0.claim(claims).await;
        answers
            .into_iter()
            .map(|answer| answer.expect("admitted").ticket)
            .collect()
    }

    async fn state(&self, activity: ActivityId, user: &UserId) -> Option<TicketState> {
        let buyer = self.0.buyer(activity, user).await.expect("answers");
        buyer.map(|buyer| buyer.state)
    }

    async fn left(&self, activity: ActivityId) -> u64 {
        let figures = self.0.figures(activity).await.expect("answers");
        figures.expect("has a state").stock_left
    }
}
