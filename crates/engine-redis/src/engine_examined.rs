//! The handle as a store that is looked over before a sale.

use async_trait::async_trait;
use seckill_sale::{ActivityId, Finding};
use seckill_stock::{Error, Examined};

use crate::engine::Engine;
use crate::reading::Reading;
use crate::safety::findings;

#[async_trait]
impl Examined for Engine {
    async fn examine(&self) -> Vec<Finding> {
        findings(&self.0.link, &self.0.options).await
    }

    async fn examine_sale(&self, activity: ActivityId) -> Result<Vec<Finding>, Error> {
        let reading = self.0.look_exactly(activity).await?;
        Ok(reading.iter().filter_map(shards).collect())
    }
}

/// Whether each shard has units to begin with; none where the sale is in one piece.
fn shards(reading: &Reading) -> Option<Finding> {
    const AREA: &str = "shards";
    if reading.shards.len() < 2 {
        return None;
    }
    let lefts: Vec<_> = reading.shards.iter().map(|shard| shard.figures.stock_left).collect();
    let said = lefts.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let said = format!("{} shards have {said} units", lefts.len());
    // While it sells, shards run empty and are filled from the others.
    let has_sold = reading.shards.iter().any(|shard| shard.figures.accepted != 0);
    let empty = lefts.iter().filter(|&&left| left == 0).count();
    Some(match empty {
        0 => Finding::passed(AREA, said),
        _ if has_sold => Finding::passed(AREA, said),
        empty => Finding::warning(
            AREA,
            format!(
                "{said}: buyers of the {empty} empty ones wait until units come from the others; give the sale more units or fewer shards"
            ),
        ),
    })
}
