//! Claims gather in front of the real engine, whose sequencer is stepped by hand: between two steps the store is busy.

use std::sync::Arc;

use seckill_engine_embedded::storage::Disk;
use seckill_engine_embedded::{Options, Sequencer, open};
use seckill_sale::{Claim, InstallationId, ManualClock, Refusal, RequestKey};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Answer, Batcher, Bounds, Claims, Stock};
use tempfile::TempDir;
use tokio::task::{JoinHandle, yield_now};

/// More turns of the runtime than any of these tests needs until everything waits.
const TURNS: usize = 50;

struct House {
    stock: Arc<dyn Stock>,
    sequencer: Sequencer<Disk>,
    clock: Arc<ManualClock>,
    _folder: TempDir,
}

impl House {
    async fn open() -> Self {
        let folder = TempDir::new().expect("a folder");
        let clock = Arc::new(ManualClock::at(Fixture::OPENS));
        let mut options = Options::default();
        options.journal.segment_bytes = 8 << 20;
        options.journal.allocate_bytes = 1 << 20;
        options.journal.frame_bytes_max = 1 << 20;
        let storage = Disk::open(folder.path()).expect("a folder");
        let opened = open(storage, options, InstallationId([1; 16]), clock.clone()).expect("the journal opens");
        let mut house = Self {
            stock: Arc::new(opened.engine),
            sequencer: opened.sequencer,
            clock,
            _folder: folder,
        };
        let stock = house.stock.clone();
        let opening = tokio::spawn(async move { stock.open(Fixture::opening(Fixture::activity(), 1_000)).await });
        house.settle_down().await;
        house.step().await;
        opening.await.expect("ended").expect("opened");
        house
    }

    fn core(&self, wait_ms_max: i64) -> Claims {
        let bounds = Bounds {
            waiting_max: 1_000,
            wait_ms_max,
            answer_within: None,
        };
        let (batcher, claims) = Batcher::bounded(self.stock.clone(), bounds);
        tokio::spawn(batcher.run());
        claims
    }

    async fn settle_down(&self) {
        for _ in 0..TURNS {
            yield_now().await;
        }
    }

    /// The store does what waits now; the answers arrive.
    async fn step(&mut self) {
        self.sequencer.step();
        self.settle_down().await;
    }
}

fn claim(number: usize) -> Claim {
    let key = RequestKey((number as u128).to_be_bytes());
    Claim {
        key,
        ..Fixture::claim(&format!("u{number}"), 1, 1)
    }
}

/// Claims of users who have not claimed yet, from number `from` on.
fn ask(claims: &Claims, from: usize, count: usize) -> Vec<JoinHandle<Answer>> {
    let one = |number| {
        let claims = claims.clone();
        tokio::spawn(async move { claims.claim(claim(number)).await })
    };
    (from..from + count).map(one).collect()
}

/// How many were admitted and how many were shed; all of them were answered.
async fn outcomes(asked: Vec<JoinHandle<Answer>>) -> (usize, usize) {
    let (mut admitted, mut shed) = (0, 0);
    for one in asked {
        assert!(one.is_finished());
        match one.await.expect("ended") {
            Ok(_) => admitted += 1,
            Err(refusal) => {
                assert_eq!(refusal, Refusal::Late);
                shed += 1;
            }
        }
    }
    (admitted, shed)
}

#[tokio::test]
async fn one_step_serves_all_claims_of_all_cores() {
    let mut house = House::open().await;
    let cores = [house.core(i64::MAX), house.core(i64::MAX)];
    let mut asked = ask(&cores[0], 0, 1);
    house.settle_down().await;
    // The store is told of the first claim now. Those who come while it is busy need no turn of their own.
    asked.extend(ask(&cores[0], 1, 100));
    asked.extend(ask(&cores[1], 101, 100));
    house.settle_down().await;
    house.step().await;
    assert_eq!(outcomes(asked).await, (201, 0));
}

#[tokio::test]
async fn more_than_a_batch_takes_several_steps_in_order() {
    let mut house = House::open().await;
    let core = house.core(i64::MAX);
    let asked = ask(&core, 0, Batcher::BATCH_SIZE_MAX + 1);
    house.settle_down().await;
    house.step().await;
    assert_eq!(core.waiting(), 1);
    assert!(!asked.last().expect("some").is_finished());
    house.step().await;
    assert_eq!(outcomes(asked).await, (Batcher::BATCH_SIZE_MAX + 1, 0));
}

#[tokio::test]
async fn in_an_overload_those_who_waited_too_long_are_shed() {
    let mut house = House::open().await;
    let core = house.core(25);
    let early = ask(&core, 0, 300);
    house.settle_down().await;
    house.clock.advance(26);
    let late = ask(&core, 300, 100);
    house.settle_down().await;
    // Those who come send the late ones away, two each, as long as more wait than a batch carries.
    assert_eq!(core.waiting(), Batcher::BATCH_SIZE_MAX);
    house.step().await;
    assert_eq!(outcomes(early).await, (156, 144));
    assert_eq!(outcomes(late).await, (100, 0));
}

#[tokio::test]
async fn late_claims_are_shed_when_the_store_begins_and_nobody_comes_any_more() {
    let mut house = House::open().await;
    let core = house.core(25);
    let asked = ask(&core, 0, 300);
    house.settle_down().await;
    house.clock.advance(26);
    assert_eq!(core.waiting(), 300);
    house.step().await;
    assert_eq!(outcomes(asked).await, (256, 44));
}

#[tokio::test]
async fn slow_store_alone_sheds_nobody() {
    let mut house = House::open().await;
    let core = house.core(25);
    let asked = ask(&core, 0, Batcher::BATCH_SIZE_MAX);
    house.settle_down().await;
    house.clock.advance(10_000);
    house.step().await;
    assert_eq!(outcomes(asked).await, (Batcher::BATCH_SIZE_MAX, 0));
}
