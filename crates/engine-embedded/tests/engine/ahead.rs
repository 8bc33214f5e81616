//! Space that the units on sale may need is taken before anybody asks for them, seldom, and not the last of it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use seckill_engine_embedded::storage::simulated::{Fault, Simulated};
use seckill_engine_embedded::{Embedded, Options, Sequencer, open};
use seckill_sale::{InstallationId, ManualClock, NotReady, Refusal};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Answer, Stock};

use crate::support::block_on;

/// An engine on a simulated disk, whose sequencer works when told to.
struct House {
    disk: Simulated,
    clock: Arc<ManualClock>,
    engine: Embedded,
    sequencer: Sequencer<Simulated>,
}

impl House {
    /// With a sale of so many units.
    async fn open(units: u64) -> Self {
        let disk = Simulated::new(1);
        let clock = Arc::new(ManualClock::at(Fixture::OPENS));
        let opened = open(disk.clone(), Options::default(), InstallationId([1; 16]), clock.clone());
        let opened = opened.expect("the journal opens");
        let mut house = Self {
            disk,
            clock,
            engine: opened.engine,
            sequencer: opened.sequencer,
        };
        let opening = Fixture::opening(Fixture::activity(), units);
        let engine = house.engine.clone();
        house.done(engine.open(opening)).await.expect("open");
        house
    }

    /// Puts the command into the inbox, lets the sequencer do it, and gives the answer.
    async fn done<T>(&mut self, asked: impl Future<Output = T>) -> T {
        let mut asked = pin!(asked);
        let at_once = poll_fn(|context| Poll::Ready(asked.as_mut().poll(context))).await;
        match at_once {
            Poll::Ready(answer) => answer,
            Poll::Pending => {
                self.sequencer.step();
                asked.await
            }
        }
    }

    /// Claims of these users as one batch.
    async fn claim(&mut self, users: impl Iterator<Item = u64>) -> Vec<Answer> {
        let claims = users.map(|user| Fixture::claim(&format!("user-{user:012}"), 1, 1));
        let engine = self.engine.clone();
        self.done(engine.claim(claims.collect())).await
    }

    /// Nobody comes until the sequencer has nothing more to do; how many operations of the disk that were.
    fn rest(&mut self) -> u64 {
        let before = self.disk.operations();
        let mut operations = u64::MAX;
        while operations != self.disk.operations() {
            operations = self.disk.operations();
            assert!(!self.sequencer.step());
        }
        operations - before
    }
}

#[test]
fn rush_for_all_units_needs_no_new_space_once_the_sequencer_had_nothing_to_do() {
    const UNITS: u64 = 200_000;
    const BATCH: u64 = 250;
    block_on(async {
        let mut house = House::open(UNITS).await;
        house.rest();
        let used = house.disk.used_bytes();
        for batch in 0..UNITS / BATCH {
            let answers = house.claim(batch * BATCH..(batch + 1) * BATCH).await;
            assert!(answers.iter().all(Result::is_ok));
        }
        assert_eq!(house.disk.used_bytes(), used);
    });
}

#[test]
fn lone_claims_are_not_each_followed_by_a_sync_that_grows_the_file() {
    block_on(async {
        let mut house = House::open(100_000).await;
        house.rest();
        let mut grown = 0;
        for user in 0..20_000 {
            assert!(house.claim(user..user + 1).await[0].is_ok());
            let used = house.disk.used_bytes();
            house.rest();
            grown += u64::from(house.disk.used_bytes() != used);
        }
        assert!(grown <= 2, "{grown} times for 10 MB");
    });
}

/// More than is ever left of a disk for others.
const ROOM: u64 = 512 << 20;

#[test]
fn last_of_a_disk_is_left_to_frames_and_to_the_database() {
    block_on(async {
        let mut house = House::open(1_000_000).await;
        house.disk.limit_space(house.disk.used_bytes() + (256 << 20));
        let used = house.disk.used_bytes();
        house.rest();
        assert_eq!(house.disk.used_bytes(), used);
        assert!(house.claim(0..9).await.iter().all(Result::is_ok));
        house.disk.limit_space(used + ROOM);
        house.rest();
        assert_eq!(house.disk.used_bytes(), used, "it is not asked all the time");
        house.clock.set(Fixture::OPENS.plus(60_000));
        house.rest();
        assert!(used < house.disk.used_bytes(), "there is room now");
    });
}

#[test]
fn disk_that_turns_out_to_be_full_is_left_alone_for_a_minute() {
    block_on(async {
        let mut house = House::open(1_000_000).await;
        for operation in 0..100 {
            house.disk.fail(house.disk.operations() + operation, Fault::Full);
        }
        assert_ne!(house.rest(), 0, "it was tried");
        for _ in 0..100 {
            assert_eq!(house.rest(), 0);
        }
        house.disk.clear_faults();
        house.clock.set(Fixture::OPENS.plus(60_000));
        assert_ne!(house.rest(), 0, "it is tried again");
    });
}

#[test]
fn journal_that_breaks_while_nobody_waits_admits_nobody_from_then_on() {
    block_on(async {
        let mut house = House::open(1_000_000).await;
        house.disk.fail(house.disk.operations() + 1, Fault::Broken);
        house.rest();
        let answers = house.claim(0..1).await;
        assert_eq!(answers, [Err(Refusal::NotReady(NotReady::StoreReadOnly))]);
    });
}
