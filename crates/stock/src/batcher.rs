//! Gathers single claims of one core into batches. While one batch is with the store the next gathers; a lone claim never waits.
//!
//! One [`Batcher`] a core, run as a task there; handlers hold the cheap [`Claims`] handle. It is bounded: past `waiting_max`
//! claims are shed at once. A caller that goes away leaves its claim in the batch: it is decided whole, never half.

use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;
use seckill_sale::{Claim, Refusal};
use tokio::sync::{Notify, oneshot};

use crate::{Answer, Stock};

/// Claims, and beside each the caller's end of its answer: apart, since the store takes the claims alone.
#[derive(Default)]
struct Batch {
    claims: Vec<Claim>,
    replies: Vec<oneshot::Sender<Answer>>,
}

impl Batch {
    /// Room for as many as the last batch had.
    fn with_capacity(count: usize) -> Self {
        Self {
            claims: Vec::with_capacity(count),
            replies: Vec::with_capacity(count),
        }
    }

    /// The first `count` of them, out of more.
    fn split(&mut self, count: usize) -> Self {
        Self {
            claims: self.claims.drain(..count).collect(),
            replies: self.replies.drain(..count).collect(),
        }
    }
}

struct Gathering {
    waiting: Batch,
    closed: bool,
}

struct Shared {
    gathering: Mutex<Gathering>,
    arrived: Notify,
    waiting_max: usize,
}

/// Handle for those who claim.
#[derive(Clone)]
pub struct Claims(Arc<Shared>);

impl Claims {
    /// Asks the store for units. The claim goes on even where the caller stops waiting.
    ///
    /// # Errors
    /// The store's refusal; [`Refusal::Busy`] where too many claims wait already.
    pub async fn claim(&self, claim: Claim) -> Answer {
        let (reply, answer) = oneshot::channel();
        let first = {
            let mut gathering = self.0.gathering.lock();
            if gathering.closed || self.0.waiting_max <= gathering.waiting.claims.len() {
                return Err(Refusal::Busy);
            }
            gathering.waiting.claims.push(claim);
            gathering.waiting.replies.push(reply);
            gathering.waiting.claims.len() == 1
        };
        if first {
            self.0.arrived.notify_one();
        }
        answer.await.unwrap_or(Err(Refusal::OutcomeUnknown))
    }

    /// Claims that wait for their batch.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.gathering.lock().waiting.claims.len()
    }
}

/// The task that carries batches to the store.
pub struct Batcher {
    shared: Arc<Shared>,
    stock: Arc<dyn Stock>,
    batch_size_max: usize,
}

impl Batcher {
    /// Largest batch handed to the store.
    pub const BATCH_SIZE_MAX: usize = 256;

    /// A batcher in front of `stock` that holds at most `waiting_max` claims.
    #[must_use]
    pub fn new(stock: Arc<dyn Stock>, waiting_max: usize) -> (Self, Claims) {
        let gathering = Mutex::new(Gathering {
            waiting: Batch::default(),
            closed: false,
        });
        let shared = Arc::new(Shared {
            gathering,
            arrived: Notify::new(),
            waiting_max,
        });
        (
            Self {
                shared: shared.clone(),
                stock,
                batch_size_max: Self::BATCH_SIZE_MAX,
            },
            Claims(shared),
        )
    }

    /// Carries batches for ever; to be dropped at shutdown after the last request was answered.
    pub async fn run(self) {
        loop {
            let Batch { claims, replies } = self.next_batch().await;
            let answers = self.stock.claim(claims).await;
            for (reply, answer) in replies.into_iter().zip(answers) {
                // A caller that went away does not take its answer; it can ask again with its key.
                let _ = reply.send(answer);
            }
        }
    }

    async fn next_batch(&self) -> Batch {
        loop {
            {
                let waiting = &mut self.shared.gathering.lock().waiting;
                let count = waiting.claims.len();
                if self.batch_size_max < count {
                    return waiting.split(self.batch_size_max);
                }
                if 0 < count {
                    return mem::replace(waiting, Batch::with_capacity(count));
                }
            }
            self.shared.arrived.notified().await;
        }
    }
}

impl Drop for Batcher {
    fn drop(&mut self) {
        let mut gathering = self.shared.gathering.lock();
        gathering.closed = true;
        gathering.waiting = Batch::default();
    }
}
