//! Products, activities and movements, passed on.

use async_trait::async_trait;
use seckill_ledger::{
    ActivityPatch, Catalog, Context, Error, Movement, NewActivity, NewProduct, OpeningRow, Page, PageRequest, Product,
};
use seckill_sale::{Activity, ActivityId, EpochMs, Hold, ProductId, Status, Stock};

use super::SimLedger;

#[async_trait]
impl Catalog for SimLedger {
    async fn create_product(&self, product: NewProduct, context: Context) -> Result<Product, Error> {
        self.call(self.inner.create_product(product, context)).await
    }

    async fn restock_product(&self, id: ProductId, units: Stock, context: Context) -> Result<Product, Error> {
        self.call(self.inner.restock_product(id, units, context)).await
    }

    async fn product(&self, id: ProductId) -> Result<Product, Error> {
        self.call(self.inner.product(id)).await
    }

    async fn products(&self, page: PageRequest) -> Result<Page<Product>, Error> {
        self.call(self.inner.products(page)).await
    }

    async fn create_activity(&self, activity: NewActivity, context: Context) -> Result<Activity, Error> {
        self.call(self.inner.create_activity(activity, context)).await
    }

    async fn activity(&self, id: ActivityId) -> Result<Activity, Error> {
        self.call(self.inner.activity(id)).await
    }

    async fn activities(&self, page: PageRequest) -> Result<Page<Activity>, Error> {
        self.call(Catalog::activities(&*self.inner, page)).await
    }

    async fn live_activities(&self, since: EpochMs) -> Result<Vec<Activity>, Error> {
        self.call(self.inner.live_activities(since)).await
    }

    async fn patch_activity(&self, id: ActivityId, patch: ActivityPatch, context: Context) -> Result<Activity, Error> {
        self.call(self.inner.patch_activity(id, patch, context)).await
    }

    async fn set_status(
        &self,
        id: ActivityId,
        status: Status,
        resumes_at: Option<EpochMs>,
        context: Context,
    ) -> Result<Activity, Error> {
        self.call(self.inner.set_status(id, status, resumes_at, context)).await
    }

    async fn pause_held(&self, id: ActivityId, hold: Hold, context: Context) -> Result<Option<Activity>, Error> {
        self.call(self.inner.pause_held(id, hold, context)).await
    }

    async fn resume_due(&self, id: ActivityId, due: EpochMs, context: Context) -> Result<Option<Activity>, Error> {
        self.call(self.inner.resume_due(id, due, context)).await
    }

    async fn add_stock(&self, id: ActivityId, units: Stock, context: Context) -> Result<Movement, Error> {
        self.call(self.inner.add_stock(id, units, context)).await
    }

    async fn return_unsold(&self, id: ActivityId, units: u64, context: Context) -> Result<Movement, Error> {
        self.call(self.inner.return_unsold(id, units, context)).await
    }

    async fn store_movements(&self, id: ActivityId, after: u64) -> Result<Vec<Movement>, Error> {
        self.call(self.inner.store_movements(id, after)).await
    }

    async fn movements(&self, id: ActivityId, page: PageRequest) -> Result<Page<Movement>, Error> {
        self.call(self.inner.movements(id, page)).await
    }

    async fn begin_opening(&self, id: ActivityId, context: Context) -> Result<OpeningRow, Error> {
        self.call(self.inner.begin_opening(id, context)).await
    }
}
