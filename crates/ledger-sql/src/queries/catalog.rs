//! Products, activities, stock rows, movements.

use async_trait::async_trait;
use seckill_ledger::{
    ActivityPatch, Catalog, Context, Error, Movement, NewActivity, NewProduct, OpeningRow, Page, PageRequest, Product,
};
use seckill_sale::{Activity, ActivityId, EpochMs, Hold, ProductId, Status, Stock};

use super::admin::once;
use super::errors::{Stop, rejected};
use super::movements::{add_stock, read_movement, return_unsold};
use super::pages::{collect, limit, number_cursor, page};
use super::products::{create_product, product_id, read_product, restock_product};
use super::rows::{MOVEMENT, PRODUCT, movement, product, signed, small};
use super::{Database, Lane, activities, activity_changes, pauses};

pub(super) fn activity_id(id: u64) -> Result<ActivityId, Stop> {
    ActivityId::new(id).map_err(|error| rejected(error.to_string()))
}

#[async_trait]
impl Catalog for Database {
    async fn create_product(&self, product: NewProduct, context: Context) -> Result<Product, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || create_product(transaction, &product, &context).map(|made| (made.clone(), made.id.get()));
            let again = |id| read_product(transaction, product_id(id)?);
            once(transaction, &context, "product.create", work, again)
        })
        .await
    }

    async fn restock_product(&self, id: ProductId, units: Stock, context: Context) -> Result<Product, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || {
                let restocked = restock_product(transaction, id, units, &context)?;
                Ok((restocked.clone(), restocked.id.get()))
            };
            let again = |id| read_product(transaction, product_id(id)?);
            once(transaction, &context, "product.add_stock", work, again)
        })
        .await
    }

    async fn product(&self, id: ProductId) -> Result<Product, Error> {
        self.read(move |transaction| read_product(transaction, id)).await
    }

    async fn products(&self, request: PageRequest) -> Result<Page<Product>, Error> {
        self.read(move |transaction| {
            let sql = format!("SELECT {PRODUCT} FROM products WHERE id > ?1 ORDER BY id LIMIT ?2");
            let bounds = [number_cursor(&request, 0)?, limit(&request)];
            let rows = collect(&mut *transaction.prepare_cached(&sql)?, bounds, product)?;
            Ok(page(&request, rows, |last| last.id.to_string()))
        })
        .await
    }

    async fn create_activity(&self, activity: NewActivity, context: Context) -> Result<Activity, Error> {
        self.write(Lane::Person, move |transaction| {
            let work =
                || activities::create(transaction, &activity, &context).map(|made| (made.clone(), made.id.get()));
            let again = |id| activities::activity(transaction, activity_id(id)?);
            once(transaction, &context, "activity.create", work, again)
        })
        .await
    }

    async fn activity(&self, id: ActivityId) -> Result<Activity, Error> {
        self.read(move |transaction| activities::activity(transaction, id))
            .await
    }

    async fn activities(&self, request: PageRequest) -> Result<Page<Activity>, Error> {
        self.read(move |transaction| {
            let sql = format!("{} WHERE a.id < ?1 ORDER BY a.id DESC LIMIT ?2", activities::ACTIVITY);
            let bounds = [number_cursor(&request, i64::MAX)?, limit(&request)];
            let rows = collect(
                &mut *transaction.prepare_cached(&sql)?,
                bounds,
                activities::read_activity,
            )?;
            Ok(page(&request, rows, |last| last.id.to_string()))
        })
        .await
    }

    async fn live_activities(&self, since: EpochMs) -> Result<Vec<Activity>, Error> {
        self.read(move |transaction| {
            let sql = format!(
                "{} WHERE a.closed_at IS NULL OR a.closed_at > ?1 OR a.ends_at > ?1 ORDER BY a.id",
                activities::ACTIVITY
            );
            collect(
                &mut *transaction.prepare_cached(&sql)?,
                [since.0],
                activities::read_activity,
            )
        })
        .await
    }

    async fn patch_activity(&self, id: ActivityId, patch: ActivityPatch, context: Context) -> Result<Activity, Error> {
        self.write(Lane::Person, move |transaction| {
            let work =
                || activity_changes::patch(transaction, id, patch.clone(), &context).map(|after| (after, id.get()));
            let again = |_| activities::activity(transaction, id);
            once(transaction, &context, "activity.patch", work, again)
        })
        .await
    }

    async fn set_status(
        &self,
        id: ActivityId,
        status: Status,
        resumes_at: Option<EpochMs>,
        context: Context,
    ) -> Result<Activity, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || {
                let after = pauses::set_status(transaction, id, status, resumes_at, &context)?;
                Ok((after, id.get()))
            };
            let again = |_| activities::activity(transaction, id);
            once(transaction, &context, "activity.set_status", work, again)
        })
        .await
    }

    async fn pause_held(&self, id: ActivityId, hold: Hold, context: Context) -> Result<Option<Activity>, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || {
                let after = pauses::pause_held(transaction, id, hold, &context)?;
                Ok((after, id.get()))
            };
            let again = |_| activities::activity(transaction, id).map(Some);
            once(transaction, &context, "activity.set_status", work, again)
        })
        .await
    }

    async fn resume_due(&self, id: ActivityId, due: EpochMs, context: Context) -> Result<Option<Activity>, Error> {
        self.write(Lane::Person, move |transaction| {
            pauses::resume_due(transaction, id, due, &context)
        })
        .await
    }

    async fn add_stock(&self, id: ActivityId, units: Stock, context: Context) -> Result<Movement, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || add_stock(transaction, id, units, &context).map(|moved| (moved.clone(), moved.id));
            let again = |movement| read_movement(transaction, movement);
            once(transaction, &context, "activity.add_stock", work, again)
        })
        .await
    }

    async fn return_unsold(&self, id: ActivityId, units: u64, context: Context) -> Result<Movement, Error> {
        self.write(Lane::Person, move |transaction| {
            let work = || return_unsold(transaction, id, units, &context).map(|moved| (moved.clone(), moved.id));
            let again = |movement| read_movement(transaction, movement);
            once(transaction, &context, "activity.return_unsold", work, again)
        })
        .await
    }

    async fn store_movements(&self, id: ActivityId, after: u64) -> Result<Vec<Movement>, Error> {
        self.read(move |transaction| {
            let sql = format!(
                "SELECT {MOVEMENT} FROM stock_movements WHERE activity_id = ?1 AND id > ?2 AND units > 0
                 AND kind IN ('added', 'unsold_returned', 'cancelled_to_sale') ORDER BY id"
            );
            let bounds = [small(id.get()), signed("movement", after)?];
            collect(&mut *transaction.prepare_cached(&sql)?, bounds, movement)
        })
        .await
    }

    async fn movements(&self, id: ActivityId, request: PageRequest) -> Result<Page<Movement>, Error> {
        self.read(move |transaction| {
            let sql = format!(
                "SELECT {MOVEMENT} FROM stock_movements WHERE activity_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3"
            );
            let bounds = [small(id.get()), number_cursor(&request, 0)?, limit(&request)];
            let rows = collect(&mut *transaction.prepare_cached(&sql)?, bounds, movement)?;
            Ok(page(&request, rows, |last| last.id.to_string()))
        })
        .await
    }

    async fn begin_opening(&self, id: ActivityId, context: Context) -> Result<OpeningRow, Error> {
        self.write(Lane::Person, move |transaction| {
            activities::begin_opening(transaction, id, &context)
        })
        .await
    }
}
