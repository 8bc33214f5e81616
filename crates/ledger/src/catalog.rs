//! Products, activities, stock rows and the movements between them.

use async_trait::async_trait;
use seckill_sale::{
    Activity, ActivityId, Challenge, Currency, Epoch, EpochMs, Hold, Price, ProductId, Quantity, Status, Stock, Window,
};

use crate::{Context, Error, Movement, Page, PageRequest};

/// A product of the shop, as far as sales need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// Its id.
    pub id: ProductId,
    /// Its name.
    pub name: String,
    /// Its ordinary price.
    pub price: Price,
    /// The price's currency.
    pub currency: Currency,
    /// Units that no activity holds.
    pub stock: u64,
    /// Counts every change of the row.
    pub version: u64,
    /// When it was created.
    pub created_at: EpochMs,
}

/// A product to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProduct {
    /// Its name, 1 to 120 characters.
    pub name: String,
    /// Its ordinary price.
    pub price: Price,
    /// The price's currency.
    pub currency: Currency,
    /// Its units.
    pub stock: Stock,
}

/// An activity to be made; its units are taken from the product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewActivity {
    /// The product.
    pub product_id: ProductId,
    /// Title, 1 to 120 characters.
    pub title: String,
    /// Price of one unit in the sale.
    pub seckill_price: Price,
    /// Units.
    pub stock: Stock,
    /// When it sells.
    pub window: Window,
    /// Largest quantity of one purchase.
    pub per_user_limit: Quantity,
    /// Number of sub-stocks.
    pub shards: u16,
    /// What a buyer must solve first.
    pub challenge: Challenge,
    /// The least level of a user who may buy.
    pub min_level: Option<u32>,
    /// Whether it stays hidden until published.
    pub draft: bool,
    /// A sentence for the page.
    pub notice: Option<String>,
}

/// What an operator changes of an activity; none: stays. Price, start and limit are fixed once it is preheated.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActivityPatch {
    /// The version that the operator saw; none: whatever it is.
    pub version: Option<u64>,
    /// Title.
    pub title: Option<String>,
    /// Price in the sale.
    pub seckill_price: Option<Price>,
    /// Start.
    pub starts_at: Option<EpochMs>,
    /// End; must lie after the start. May be changed while selling.
    pub ends_at: Option<EpochMs>,
    /// Largest quantity of one purchase.
    pub per_user_limit: Option<Quantity>,
    /// What a buyer must solve first.
    pub challenge: Option<Challenge>,
    /// The least level of a user who may buy; none of a level: any.
    pub min_level: Option<Option<u32>>,
    /// Opens it to everybody: neither a level nor a list is asked for any more, unless `min_level` names one.
    pub for_everybody: bool,
    /// A sentence for the page; an empty one removes it.
    pub notice: Option<String>,
    /// Makes a draft public.
    pub publish: bool,
}

/// What a store state is built from, read in the transaction that counted the epoch up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpeningRow {
    /// The activity with its new epoch.
    pub activity: Activity,
    /// The new epoch.
    pub epoch: Epoch,
    /// Units that are neither sold nor returned.
    pub available: u64,
    /// Id of the newest movement; `available` contains it.
    pub last_movement: u64,
}

/// Products, activities, stock rows, movements.
#[async_trait]
pub trait Catalog: Send + Sync + 'static {
    /// Makes a product. Idempotent by the context's key.
    async fn create_product(&self, product: NewProduct, context: Context) -> Result<Product, Error>;
    /// Gives a product more units, which no activity holds yet. Idempotent by the context's key.
    async fn restock_product(&self, id: ProductId, units: Stock, context: Context) -> Result<Product, Error>;
    /// A product.
    async fn product(&self, id: ProductId) -> Result<Product, Error>;
    /// All products by id.
    async fn products(&self, page: PageRequest) -> Result<Page<Product>, Error>;
    /// Makes an activity and takes its units from the product, or [`crate::Conflict::ProductShort`]. Idempotent by the context's key.
    async fn create_activity(&self, activity: NewActivity, context: Context) -> Result<Activity, Error>;
    /// An activity.
    async fn activity(&self, id: ActivityId) -> Result<Activity, Error>;
    /// All activities, newest first.
    async fn activities(&self, page: PageRequest) -> Result<Page<Activity>, Error>;
    /// Every activity that is not closed, and every closed or ended one whose end or closing lies after `since`.
    async fn live_activities(&self, since: EpochMs) -> Result<Vec<Activity>, Error>;
    /// Changes an activity.
    async fn patch_activity(&self, id: ActivityId, patch: ActivityPatch, context: Context) -> Result<Activity, Error>;
    /// Pauses (running → paused), resumes (paused → running) or closes (any → closed). Asking for the present status changes nothing, except
    /// that a pause takes the moment of the newer one, or none. A closed activity stays closed: [`crate::Conflict::Closed`].
    async fn set_status(
        &self,
        id: ActivityId,
        status: Status,
        resumes_at: Option<EpochMs>,
        context: Context,
    ) -> Result<Activity, Error>;
    /// Pauses by a `hold` of the store that the ledger hears of later than it was asked for; none where an operator has paused it or gone on
    /// since, or the activity is younger: nothing was changed. The context tells when it is written, not when it was asked for.
    async fn pause_held(&self, id: ActivityId, hold: Hold, context: Context) -> Result<Option<Activity>, Error>;
    /// Resumes a paused activity whose `resumes_at` is still `due`, in one guarded write; none where it is not: nothing was changed.
    async fn resume_due(&self, id: ActivityId, due: EpochMs, context: Context) -> Result<Option<Activity>, Error>;
    /// Takes units from the product and adds them to the activity. Idempotent by the context's key. Refused once closed.
    async fn add_stock(&self, id: ActivityId, units: Stock, context: Context) -> Result<Movement, Error>;
    /// Gives `units` unsold units of a closed activity back to the product; more than once gives the first movement again.
    async fn return_unsold(&self, id: ActivityId, units: u64, context: Context) -> Result<Movement, Error>;
    /// Movements of an activity with an id above `after` whose [`Movement::store_delta`] is not 0, ascending.
    async fn store_movements(&self, id: ActivityId, after: u64) -> Result<Vec<Movement>, Error>;
    /// All movements of an activity, ascending.
    async fn movements(&self, id: ActivityId, page: PageRequest) -> Result<Page<Movement>, Error>;
    /// Counts the epoch up under the stock row's lock and reads what a store state is built from.
    async fn begin_opening(&self, id: ActivityId, context: Context) -> Result<OpeningRow, Error>;
}
