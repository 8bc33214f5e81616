//! The disk of the store stops answering, and answers again. The test suites of `flow` and `console` take this file in by its path, beside
//! `running.rs`.

use std::time::Duration;

use seckill_queue::Queue;
use seckill_sale::ActivityId;
use seckill_stock::Stock;

use crate::engine::Engine;

/// A sale that nobody has.
pub(crate) fn nobodys() -> ActivityId {
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

    /// The disk answers again; what was handed over is done.
    pub(crate) async fn answer_again(&self) {
        self.disk.shut(false);
        let none = self.handle.take(1).await.expect("taken");
        assert!(none.is_empty() && !self.handle.hangs());
    }
}
