//! Its emergency brake.

use async_trait::async_trait;
use seckill_sale::{ActivityId, Hold};
use seckill_stock::Brake;

use super::Fragile;

#[async_trait]
impl Brake for Fragile {
    async fn hold(&self, activity: ActivityId, hold: Hold) -> Result<(), seckill_stock::Error> {
        self.stock_write()?;
        self.engine.hold(activity, hold).await
    }
    async fn release(&self, activity: ActivityId, hold: Hold) -> Result<(), seckill_stock::Error> {
        self.stock_write()?;
        self.engine.release(activity, hold).await
    }
    fn held(&self, activity: ActivityId) -> Option<Hold> {
        self.engine.held(activity)
    }
    async fn keep_switches(&self, switches: Option<String>) -> Result<(), seckill_stock::Error> {
        self.stock_write()?;
        self.engine.keep_switches(switches).await
    }
    async fn kept_switches(&self) -> Result<Option<String>, seckill_stock::Error> {
        self.engine.kept_switches().await
    }
}
