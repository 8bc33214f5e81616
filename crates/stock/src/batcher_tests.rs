//! A hot sale beside another one: who has a place, and who is answered while the hot one's part of the store does not answer.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use seckill_sale::{ActivityId, Claim, EpochMs, Refusal};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::{JoinHandle, yield_now};

use super::*;
use crate::conformance::Fixture;
use crate::line::Waiting;

/// Answers a batch that has a claim of any sale but the other one only when it is let go.
struct Store {
    let_go: Arc<Semaphore>,
}

const HOT: u64 = 1;
const OTHER: u64 = 2;

impl Decides for Store {
    fn now(&self) -> EpochMs {
        EpochMs(0)
    }

    fn claim_gathered(&self, gathering: Gathering) -> Pin<Box<dyn Future<Output = Vec<Answer>> + Send + '_>> {
        Box::pin(async move {
            let claims = gathering.take();
            if claims.iter().any(|claim| claim.activity.get() != OTHER) {
                self.let_go.acquire().await.expect("never closed").forget();
            }
            claims.iter().map(|_| Err(Refusal::SoldOut)).collect()
        })
    }
}

struct House {
    claims: Claims,
    let_go: Arc<Semaphore>,
    asked: usize,
}

impl House {
    fn new(waiting_max: usize, apart: bool) -> Self {
        let let_go = Arc::new(Semaphore::new(0));
        let store = Store { let_go: let_go.clone() };
        let bounds = Bounds {
            waiting_max,
            wait_ms_max: i64::MAX,
            answer_within: None,
        };
        let (batcher, claims) = Batcher::before(Box::new(store), bounds, apart);
        tokio::spawn(batcher.run());
        Self {
            claims,
            let_go,
            asked: 0,
        }
    }

    fn ask(&mut self, activity: u64) -> JoinHandle<Answer> {
        self.asked += 1;
        let activity = ActivityId::new(activity).expect("in range");
        let claim = Claim {
            activity,
            ..Fixture::claim(&format!("u{}", self.asked), 1, 1)
        };
        tokio::spawn(self.claims.claim(claim))
    }

    async fn settle_down() {
        for _ in 0..1_000 {
            yield_now().await;
        }
    }

    /// The store has two batches of the hot sale, and `waiting` of its claims wait.
    async fn overrun(&mut self, waiting: usize) -> Vec<JoinHandle<Answer>> {
        let mut asked = vec![self.ask(HOT)];
        Self::settle_down().await;
        asked.push(self.ask(HOT));
        Self::settle_down().await;
        asked.extend((0..waiting).map(|_| self.ask(HOT)));
        Self::settle_down().await;
        asked
    }
}

fn answered(asked: &[JoinHandle<Answer>]) -> usize {
    asked.iter().filter(|one| one.is_finished()).count()
}

#[tokio::test]
async fn a_sale_whose_part_of_the_store_does_not_answer_keeps_nobody_else_waiting() {
    let mut house = House::new(20, true);
    let hot = house.overrun(30).await;
    assert_eq!(
        (house.claims.waiting(), answered(&hot)),
        (20, 10),
        "those past the places are shed"
    );
    for _ in 0..5 {
        let other = house.ask(OTHER);
        House::settle_down().await;
        assert!(other.is_finished());
        assert_eq!(other.await.expect("ended"), Err(Refusal::SoldOut));
    }
    // Each of them had a place from the hot sale, whose further claims find one in its stead.
    assert_eq!((house.claims.waiting(), answered(&hot)), (19, 11));
    house.let_go.add_permits(3);
    House::settle_down().await;
    assert_eq!((house.claims.waiting(), answered(&hot)), (0, hot.len()));
}

#[tokio::test]
async fn many_sales_of_a_server_that_does_not_answer_keep_nobody_else_waiting() {
    const SALES: u64 = 60;
    let mut house = House::new(4 * SALES as usize, true);
    let mut stuck = Vec::new();
    for _ in 0..2 {
        stuck.extend((0..SALES).map(|sale| house.ask(OTHER + 1 + sale)));
        House::settle_down().await;
    }
    let other = house.ask(OTHER);
    House::settle_down().await;
    assert!(other.is_finished());
    assert_eq!(answered(&stuck), 0);
}

#[tokio::test]
async fn a_hot_sale_holds_no_more_than_half_of_the_places_while_another_wants_some() {
    for apart in [true, false] {
        let mut house = House::new(20, apart);
        let hot = house.overrun(20).await;
        // None of the other sale is taken: the store has as many of its batches as it may, or is with the hot one.
        house.let_go.close();
        let mut lines = house.claims.0.lines.lock();
        let mut refused = 0;
        let mut places = Vec::new();
        for number in 0..30 {
            let (reply, answer) = oneshot::channel();
            let activity = ActivityId::new(OTHER).expect("in range");
            let claim = Claim {
                activity,
                ..Fixture::claim(&format!("o{number}"), 1, 1)
            };
            let since = EpochMs(0);
            match lines.join(Waiting { claim, since, reply }, &house.claims.0.bounds) {
                Ok(joined) => places.push((answer, joined)),
                Err(refusal) => {
                    assert_eq!(refusal, Refusal::Busy);
                    refused += 1;
                }
            }
        }
        assert_eq!((places.len(), refused, lines.waiting()), (10, 20, 20), "{apart}");
        let pushed_out = places.iter().filter_map(|(_, joined)| joined.pushed_out.as_ref());
        assert!(pushed_out.clone().all(|waiting| waiting.claim.activity.get() == HOT));
        assert_eq!(pushed_out.count(), 10);
        drop(hot);
    }
}

#[tokio::test]
async fn a_hot_sale_of_a_store_with_one_line_keeps_the_claims_of_no_other_waiting_behind_its_own() {
    let mut house = House::new(4 * Batcher::BATCH_SIZE_MAX, false);
    let hot = house.overrun(3 * Batcher::BATCH_SIZE_MAX).await;
    let others: Vec<_> = (0..20).map(|_| house.ask(OTHER)).collect();
    House::settle_down().await;
    assert_eq!((answered(&hot), answered(&others)), (0, 0));
    // The two batches under way, and the next.
    house.let_go.add_permits(3);
    House::settle_down().await;
    assert_eq!(answered(&others), others.len());
    assert_eq!(answered(&hot), 2 + Batcher::BATCH_SIZE_MAX - others.len());
}

#[tokio::test]
async fn a_sale_alone_has_all_places() {
    let mut house = House::new(20, true);
    let hot = house.overrun(20).await;
    assert_eq!((house.claims.waiting(), answered(&hot)), (20, 0));
}

#[tokio::test]
async fn the_store_is_observed_once_a_batch() {
    let let_go = Arc::new(Semaphore::new(9));
    let bounds = Bounds {
        waiting_max: 9,
        wait_ms_max: i64::MAX,
        answer_within: None,
    };
    let (batcher, claims) = Batcher::before(Box::new(Store { let_go }), bounds, false);
    let heard = Arc::new(AtomicUsize::new(0));
    let hears = heard.clone();
    let observed = batcher.observed(move |step| {
        assert_eq!(step.of_sales, [(Fixture::activity(), 1)]);
        hears.fetch_add(1, Relaxed);
    });
    tokio::spawn(observed.run());
    claims.claim(Fixture::claim("a", 1, 1)).await.expect_err("sold out");
    House::settle_down().await;
    assert_eq!(heard.load(Relaxed), 1);
}
