//! What every sale of a product says, whether it is held once or in rounds, and within which ranges.

use seckill_ledger::NewActivity;
use seckill_sale::{Challenge, Price, ProductId, Quantity, Stock, Window};
use serde::Deserialize;

use crate::error::Error;
use crate::input;

/// Who may buy, as far as it is said beside an activity: a list of users has a route of its own.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LevelAsked {
    /// The least level of a user; null: any.
    pub(crate) min_level: Option<u32>,
}

/// An offer as it was sent.
pub(crate) struct Offer {
    pub(crate) product_id: u64,
    pub(crate) title: String,
    pub(crate) seckill_price_cents: u64,
    pub(crate) stock: u64,
    pub(crate) per_user_limit: u64,
    pub(crate) shards: u64,
    pub(crate) challenge: Challenge,
    pub(crate) eligibility: Option<LevelAsked>,
    pub(crate) notice: Option<String>,
}

impl Offer {
    /// The activity that offers this within `window`.
    pub(crate) fn within(self, window: Window, shards_max: u16) -> Result<NewActivity, Error> {
        let stock = input::number("stock", self.stock, Stock::new)?;
        let per_user_limit = input::number("per_user_limit", self.per_user_limit, Quantity::new)?;
        check_limit(per_user_limit, stock.get())?;
        Ok(NewActivity {
            product_id: input::number("product_id", self.product_id, ProductId::new)?,
            title: input::title("title", self.title)?,
            seckill_price: input::number("seckill_price_cents", self.seckill_price_cents, Price::new)?,
            stock,
            window,
            per_user_limit,
            shards: shards(self.shards, stock, shards_max)?,
            challenge: self.challenge,
            min_level: self.eligibility.and_then(|asked| asked.min_level),
            draft: false,
            notice: self
                .notice
                .map(|notice| input::sentence("notice", notice))
                .transpose()?,
        })
    }
}

pub(crate) fn check_limit(per_user_limit: Quantity, stock: u64) -> Result<(), Error> {
    if stock < per_user_limit.get() {
        return Err(Error::invalid("per_user_limit", "must not be above the stock"));
    }
    Ok(())
}

fn shards(wanted: u64, stock: Stock, shards_max: u16) -> Result<u16, Error> {
    let fine = u16::try_from(wanted)
        .ok()
        .filter(|shards| (1..=shards_max).contains(shards));
    if fine.is_some_and(|shards| stock.get() < u64::from(shards)) {
        return Err(Error::invalid(
            "shards",
            "must not be above the stock: a shard without units sells nothing",
        ));
    }
    fine.ok_or_else(|| {
        let why = match shards_max {
            1 => "must be 1: this store keeps a sale in one piece".to_owned(),
            _ => format!("must be from 1 to {shards_max}"),
        };
        Error::invalid("shards", why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shard_begins_without_a_unit() {
        let of = |wanted, units| shards(wanted, Stock::new(units).expect("in range"), 16).ok();
        assert_eq!([of(4, 4), of(1, 1), of(16, 100)], [Some(4), Some(1), Some(16)]);
        assert_eq!(
            [of(5, 4), of(2, 1), of(17, 100), of(0, 4), of(65_537, 100_000)],
            [None; 5]
        );
    }
}
