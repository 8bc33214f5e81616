//! Names of the keys. All keys of one sale's shard carry one hash tag, so that a cluster keeps them together and one script may use them.

use seckill_sale::ActivityId;

/// Keys that belong to no sale.
pub(crate) const SALES: &str = "{seckill}:sales";
/// Switches that are kept for the ledger.
pub(crate) const SWITCHES: &str = "{seckill}:switches";
/// Number of the newest settlement batch of all sales that was acknowledged.
pub(crate) const ACKNOWLEDGED: &str = "{seckill}:acknowledged";
/// The installation that the server belongs to.
pub(crate) const INSTALLATION: &str = "{seckill}:installation";

/// What nodes say of themselves, and when they last did.
pub(crate) fn members() -> [String; 2] {
    ["members", "beats"].map(|name| format!("{{seckill}}:{name}"))
}

/// Who holds the lease of this name.
pub(crate) fn lease(name: &str) -> String {
    format!("{{seckill}}:lease:{name}")
}

/// The keys of a sale's shard in the order in which every script expects them.
pub(crate) fn of_sale(activity: ActivityId) -> [String; 7] {
    ["meta", "buyers", "fresh", "back", "due", "order", "dead"].map(|name| format!("{{a:{activity}:0}}:{name}"))
}

/// Buyers of the sale.
pub(crate) fn buyers(activity: ActivityId) -> String {
    format!("{{a:{activity}:0}}:buyers")
}

/// Stream of the sale's fresh tickets.
pub(crate) fn fresh(activity: ActivityId) -> String {
    format!("{{a:{activity}:0}}:fresh")
}
