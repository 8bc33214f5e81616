//! Names of the keys. All keys of one sale's shard carry one hash tag, so that a cluster keeps them together and one script may use them.

use seckill_sale::ActivityId;

/// Keys that belong to no sale.
pub(crate) const SALES: &str = "{seckill}:sales";
/// Switches that are kept for the ledger.
pub(crate) const SWITCHES: &str = "{seckill}:switches";
/// Number of the newest settlement batch of all sales that was acknowledged.
pub(crate) const ACKNOWLEDGED: &str = "{seckill}:acknowledged";

/// The keys of a sale's shard in the order in which every script expects them.
pub(crate) fn of_sale(activity: ActivityId) -> [String; 7] {
    ["meta", "buyers", "fresh", "back", "due", "order", "dead"].map(|name| format!("{{a:{activity}:0}}:{name}"))
}

/// Buyers of the sale.
pub(crate) fn buyers(activity: ActivityId) -> String {
    format!("{{a:{activity}:0}}:buyers")
}

/// Shard channel on which changes of the sale are told.
pub(crate) fn changed(activity: ActivityId) -> String {
    format!("{{a:{activity}:0}}:changed")
}

/// The sale of such a channel.
pub(crate) fn changed_sale(channel: &str) -> Option<ActivityId> {
    let id = channel.strip_prefix("{a:")?.strip_suffix(":0}:changed")?;
    ActivityId::new(id.parse().ok()?).ok()
}
