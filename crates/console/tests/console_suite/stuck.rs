//! The disk of the store stops answering in the middle of a write.

use seckill_stock::Stock;

use crate::engine::Engine;
use crate::hanging::nobodys;

pub(crate) type JoinTask = tokio::task::JoinHandle<Result<(), seckill_stock::Error>>;

impl Engine {
    /// The disk stops answering in the middle of a write that nobody bounds.
    pub(crate) async fn stick(&self) -> JoinTask {
        self.disk.shut(true);
        let store = self.handle.clone();
        let stuck = tokio::spawn(async move { store.forget(nobodys()).await });
        tokio::task::yield_now().await;
        self.disk.wait_until_somebody_hangs();
        stuck
    }
}
