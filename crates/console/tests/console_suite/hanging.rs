//! The disk of the store stops answering, and answers again.

use std::time::Duration;

use seckill_queue::Queue;
use seckill_sale::ActivityId;
use seckill_stock::Stock;

use crate::engine::Engine;

pub(crate) type JoinTask = tokio::task::JoinHandle<Result<(), seckill_stock::Error>>;

fn nobodys() -> ActivityId {
    ActivityId::new(ActivityId::MAX).expect("in range")
}

impl Engine {
    /// The disk stops answering, and the store knows.
    pub(crate) async fn hang(&self) {
        self.disk.shut(true);
        let impatient = self.handle.clone().answering_within(Duration::from_millis(1));
        assert!(impatient.forget(nobodys()).await.is_err(), "it is to be written");
        assert!(impatient.hangs());
    }

    /// The disk stops answering in the middle of a write that nobody bounds.
    pub(crate) async fn stick(&self) -> JoinTask {
        self.disk.shut(true);
        let store = self.handle.clone();
        let stuck = tokio::spawn(async move { store.forget(nobodys()).await });
        tokio::task::yield_now().await;
        self.disk.wait_until_somebody_hangs();
        stuck
    }

    /// The disk answers again; what was handed over is done.
    pub(crate) async fn answer_again(&self) {
        self.disk.shut(false);
        let none = self.handle.take(1).await.expect("taken");
        assert!(none.is_empty() && !self.handle.hangs());
    }
}
