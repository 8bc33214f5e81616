//! A store that doesn't answer: the real engine on a disk whose syncs return only when they are let go.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::Duration;

use seckill_engine_embedded::storage::Disk;
use seckill_engine_embedded::storage::hanging::{Hanging, Latch};
use seckill_engine_embedded::{Embedded, Options, open};
use seckill_queue::{Queue, Verdicts};
use seckill_sale::{EpochMs, Hold, InstallationId, ManualClock, Refusal, Status, Terms};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Batcher, Bounds, Brake, Error, Stock};
use tempfile::TempDir;
use tokio::task::yield_now;

use crate::support::block_on;

/// The runtime looks at its timers only where it has nothing else to do: nothing below depends on how long this is.
const LIMIT: Duration = Duration::from_millis(50);

struct House {
    engine: Embedded,
    latch: Arc<Latch>,
    thread: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl House {
    /// With a sale of ten units.
    fn open() -> Self {
        let (folder, latch) = (TempDir::new().expect("a folder"), Arc::new(Latch::default()));
        let storage = Hanging(Disk::open(folder.path()).expect("a folder"), latch.clone());
        let clock = Arc::new(ManualClock::at(Fixture::OPENS));
        let mut options = Options::default();
        options.journal.segment_bytes = 8 << 20;
        options.journal.allocate_bytes = 8 << 20; // all at the start: the sync that hangs is a frame's
        options.journal.frame_bytes_max = 1 << 20;
        let opened = open(storage, options, InstallationId([1; 16]), clock).expect("the journal opens");
        let (engine, sequencer) = (opened.engine, opened.sequencer);
        let thread = std::thread::spawn(move || sequencer.run());
        block_on(engine.open(Fixture::opening(Fixture::activity(), 10))).expect("opened");
        Self {
            engine,
            latch,
            thread: Some(thread),
            _folder: folder,
        }
    }

    fn end(mut self) {
        self.engine.close();
        let thread = self.thread.take().expect("it runs");
        thread.join().expect("the sequencer ends");
    }
}

impl Drop for House {
    fn drop(&mut self) {
        // A test that failed while the disk hung ends, too.
        self.latch.shut(false);
        self.engine.close();
    }
}

#[test]
fn hanging_store_keeps_nobody_waiting() {
    let house = House::open();
    let (engine, latch) = (&house.engine, &house.latch);
    block_on(async {
        let bounds = Bounds {
            waiting_max: 10,
            wait_ms_max: i64::MAX,
            answer_within: Some(LIMIT),
        };
        let (batcher, claims) = Batcher::bounded(Arc::new(engine.clone()), bounds);
        tokio::spawn(batcher.run());
        let ask = |user: &'static str| {
            let claims = claims.clone();
            tokio::spawn(async move { claims.claim(Fixture::claim(user, 1, 1)).await })
        };
        latch.shut(true);
        let told = ask("told");
        yield_now().await;
        yield_now().await;
        latch.wait_until_somebody_hangs();
        let untold = ask("untold");
        yield_now().await;
        assert_eq!(
            told.await.expect("ended"),
            Err(Refusal::OutcomeUnknown),
            "the store has it"
        );
        assert_eq!(at_once(claims.claim(Fixture::claim("later", 1, 1))), Err(Refusal::Busy));
        assert_eq!(
            untold.await.expect("ended"),
            Err(Refusal::Late),
            "the store was never told"
        );
    });
    latch.shut(false);
    let buyer = |user: &str| block_on(engine.buyer(Fixture::activity(), &Fixture::claim(user, 1, 1).user));
    // Figures come behind everything that waits: then the frame is through.
    let figures = block_on(engine.figures(Fixture::activity()))
        .expect("answers")
        .expect("there");
    assert_eq!(figures.stock_left, 9, "the claim of unknown outcome was decided");
    assert!(buyer("told").expect("answers").is_some());
    assert!(buyer("untold").expect("answers").is_none());
    house.end();
}

/// The outcome of something that waits for nobody.
fn at_once<T>(asked: impl Future<Output = T>) -> T {
    match pin!(asked).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("it waits"),
    }
}

fn hold(held_at: EpochMs) -> Hold {
    Hold {
        held_at,
        resumes_at: None,
    }
}

#[test]
fn whoever_asks_a_hanging_store_is_answered_and_those_after_him_at_once() {
    let house = House::open();
    let bounded = house.engine.clone().answering_within(LIMIT);
    let activity = Fixture::activity();
    let paused = Terms {
        status: Status::Paused,
        ..Fixture::terms(activity)
    };
    house.latch.shut(true);
    assert!(!bounded.hangs());
    let first = block_on(bounded.hold(activity, hold(Fixture::OPENS)));
    assert_eq!(first, Err(Error::OutcomeUnknown), "it is with the sequencer");
    house.latch.wait_until_somebody_hangs();
    assert!(bounded.hangs());
    assert_eq!(at_once(bounded.change(paused)), Err(Error::Unavailable));
    assert_eq!(at_once(bounded.figures(activity)), Err(Error::Unavailable));
    assert_eq!(
        at_once(bounded.keep_switches(None, Some("shut".to_owned()))),
        Err(Error::Unavailable)
    );
    let later = at_once(bounded.hold(activity, hold(Fixture::ENDS)));
    assert_eq!(later, Err(Error::OutcomeUnknown), "the brake is handed over");
    let recorded = at_once(bounded.record(Verdicts::default()));
    assert_eq!(recorded, Err(seckill_queue::Error::OutcomeUnknown));
    assert_eq!(bounded.held(activity), None);
    house.latch.shut(false);
    // He waits as long as it takes, behind everything else.
    assert_eq!(block_on(house.engine.take(1)), Ok(vec![]));
    assert!(!bounded.hangs());
    assert_eq!(bounded.held(activity), Some(hold(Fixture::ENDS)));
    let figures = block_on(house.engine.figures(activity)).expect("answers");
    assert_eq!(figures.expect("there").stock_left, 10);
    assert_eq!(block_on(house.engine.kept_switches()), Ok(None), "nothing was changed");
    house.end();
}

#[test]
fn ends_of_holds_reach_a_hanging_store_behind_the_holds() {
    let house = House::open();
    let bounded = house.engine.clone().answering_within(LIMIT);
    let activity = Fixture::activity();
    let (early, late) = (hold(Fixture::OPENS), hold(Fixture::ENDS));
    house.latch.shut(true);
    assert_eq!(block_on(bounded.hold(activity, early)), Err(Error::OutcomeUnknown));
    for asked in [bounded.hold(activity, late), bounded.release(activity, late)] {
        assert_eq!(at_once(asked), Err(Error::OutcomeUnknown));
    }
    house.latch.shut(false);
    // He waits as long as it takes, behind everything else.
    assert_eq!(block_on(house.engine.take(1)), Ok(vec![]));
    assert_eq!(bounded.held(activity), None);
    house.end();
}

#[test]
fn reader_of_a_hanging_store_hears_that_nothing_was_changed() {
    let house = House::open();
    let bounded = house.engine.clone().answering_within(LIMIT);
    house.latch.shut(true);
    let mut claim = house.engine.claim(vec![Fixture::claim("a", 1, 1)]);
    let begun = claim.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(begun.is_pending());
    house.latch.wait_until_somebody_hangs();
    let figures = block_on(bounded.figures(Fixture::activity()));
    assert_eq!(figures.map(|_| ()), Err(Error::Unavailable));
    house.latch.shut(false);
    assert!(block_on(claim).remove(0).is_ok());
    house.end();
}
