//! What is sold, when, and to whom: an activity and the phases it goes through.
//!
//! ```text
//! draft ──publish──▶ upcoming ──starts_at──▶ open ◀──units come back── sold_out
//!                                            │ ▲  ───last unit─────────▶
//!                                       pause│ │resume
//!                                            ▼ │
//!                                           paused      ends_at or close, from any of them ──▶ ended
//! ```

use serde::{Deserialize, Serialize};

use crate::{ActivityId, Challenge, Currency, Epoch, EpochMs, Price, ProductId, Quantity, Shards, Window};

/// What the operator last said about an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not shown and not sold yet.
    Draft,
    /// Sells within its window.
    Running,
    /// Admits nobody until resumed.
    Paused,
    /// Ended for good by hand or after its window; its unsold units went back to the product.
    Closed,
}

/// Who may buy. By default everybody; where there are both conditions both must be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Default)]
pub struct Eligibility {
    /// The least level of a user.
    pub min_level: Option<u32>,
    /// Version of the list of users; it tells the list from the sale's earlier ones.
    pub list: Option<u64>,
}

impl Eligibility {
    /// What anybody may know of it: that there is a list (whether or not there is a level, too), that there is a level, or neither.
    #[must_use]
    pub const fn kind(self) -> Option<&'static str> {
        match self {
            Self { list: Some(_), .. } => Some("list"),
            Self { min_level: Some(_), .. } => Some("level"),
            Self { .. } => None,
        }
    }
}

/// The rules by which one sale admits; all that the claim needs to know about an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The activity.
    pub activity: ActivityId,
    /// When it admits, by the store's clock.
    pub window: Window,
    /// Largest quantity of one purchase.
    pub per_user_limit: Quantity,
    /// What the operator last said.
    pub status: Status,
    /// When the sale was created. A ledger that was restored from an older copy gives the numbers of sales that it lost out again, and this
    /// tells a sale from the one that had its number before. None in states that an earlier version wrote: nobody knows.
    pub created_at: Option<EpochMs>,
}

impl Terms {
    /// Whether they are those of another sale than the one that was created then, as far as is known.
    #[must_use]
    pub fn are_of_another(&self, created_at: EpochMs) -> bool {
        self.created_at.is_some_and(|own| own != created_at)
    }
}

/// One sale of one product, as every node knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Activity {
    /// Its id.
    pub id: ActivityId,
    /// The product it sells.
    pub product_id: ProductId,
    /// Name of the product, for pages.
    pub product_name: String,
    /// Title, for pages.
    pub title: String,
    /// Ordinary price of the product.
    pub price: Price,
    /// Price in this sale; fixed once the activity is preheated.
    pub seckill_price: Price,
    /// Currency of both prices.
    pub currency: Currency,
    /// All units ever given to the sale: at creation and added since.
    pub stock_total: u64,
    /// When it sells.
    pub window: Window,
    /// Largest quantity of one purchase.
    pub per_user_limit: Quantity,
    /// Number of sub-stocks; 1 on the embedded store.
    pub shards: u16,
    /// What a buyer must solve first.
    pub challenge: Challenge,
    /// Who may buy.
    pub eligibility: Eligibility,
    /// What the operator last said.
    pub status: Status,
    /// Generation of its store state; none until it was preheated.
    pub epoch: Option<Epoch>,
    /// Counts every change of the row; a change names the version it saw.
    pub version: u64,
    /// Moment at which a paused sale will go on, where the operator said so.
    pub resumes_at: Option<EpochMs>,
    /// A sentence of the operator for the page.
    pub notice: Option<String>,
    /// When it was created.
    pub created_at: EpochMs,
}

impl Activity {
    /// The rules for the claim.
    #[must_use]
    pub const fn terms(&self) -> Terms {
        Terms {
            activity: self.id,
            window: self.window,
            per_user_limit: self.per_user_limit,
            status: self.status,
            created_at: Some(self.created_at),
        }
    }

    /// Its sub-stocks, as a store is told: within what one can have, whatever a row says.
    #[must_use]
    pub fn sub_stocks(&self) -> Shards {
        let count = u64::from(self.shards).clamp(Shards::MIN, Shards::MAX);
        Shards::new(count).unwrap_or(Shards::ONE)
    }

    /// What a page shows at `now` while the store says that `stock_left` units are left (none: not preheated yet).
    #[must_use]
    pub fn phase(&self, now: EpochMs, stock_left: Option<u64>) -> Phase {
        match self.status {
            Status::Closed => Phase::Ended,
            _ if self.window.ends_at <= now => Phase::Ended,
            Status::Paused => Phase::Paused,
            Status::Draft => Phase::Upcoming,
            Status::Running if now < self.window.starts_at => Phase::Upcoming,
            Status::Running if stock_left == Some(0) => Phase::SoldOut,
            Status::Running => Phase::Open,
        }
    }
}

/// What a buyer sees of a sale's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before its start.
    Upcoming,
    /// Admits.
    Open,
    /// No unit left; units may come back.
    SoldOut,
    /// Over.
    Ended,
    /// Held by the operator.
    Paused,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(status: Status) -> Activity {
        Activity {
            id: ActivityId::new(1).expect("in range"),
            product_id: ProductId::new(1).expect("in range"),
            product_name: String::new(),
            title: String::new(),
            price: Price::new(2).expect("in range"),
            seckill_price: Price::new(1).expect("in range"),
            currency: Currency::new("CNY").expect("three capitals"),
            stock_total: 1,
            window: Window {
                starts_at: EpochMs(10),
                ends_at: EpochMs(20),
            },
            per_user_limit: Quantity::ONE,
            shards: 1,
            challenge: Challenge::None,
            eligibility: Eligibility::default(),
            status,
            epoch: None,
            version: 1,
            resumes_at: None,
            notice: None,
            created_at: EpochMs(0),
        }
    }

    #[test]
    fn phase_follows_window_status_and_stock() {
        let at = |status, now, left| activity(status).phase(EpochMs(now), left);
        assert_eq!(at(Status::Running, 9, Some(1)), Phase::Upcoming);
        assert_eq!(at(Status::Running, 10, Some(1)), Phase::Open);
        assert_eq!(at(Status::Running, 10, None), Phase::Open);
        assert_eq!(at(Status::Running, 19, Some(0)), Phase::SoldOut);
        assert_eq!(at(Status::Running, 20, Some(0)), Phase::Ended);
        assert_eq!(at(Status::Paused, 10, Some(1)), Phase::Paused);
        assert_eq!(at(Status::Paused, 20, Some(1)), Phase::Ended);
        assert_eq!(at(Status::Closed, 9, Some(1)), Phase::Ended);
    }
}
