//! Names of the keys. All keys of one sale's shard carry one hash tag, so that a cluster keeps them together and one script may use them.

use std::fmt;

use seckill_sale::{ActivityId, Shards, Ticket, UserId};

/// Sales that have a state: the id, and behind a slash the number of shards where there is more than one.
pub(crate) const SALES: &str = "{seckill}:sales";
/// Switches that are kept for the ledger.
pub(crate) const SWITCHES: &str = "{seckill}:switches";
/// Switches that wait for their turn at a node.
pub(crate) const WAITING: &str = "{seckill}:waiting";
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

/// What is counted of a rate that all nodes share. Its tag begins like a permit's, so that a user who may have those may have these.
pub(crate) fn rate(of: &str) -> String {
    format!("{{p:{of}}}:rate")
}

/// Permits of a key; its tag is its own, so that a cluster spreads them.
pub(crate) fn permit(key: [u8; 16]) -> String {
    format!("{{p:{:032x}}}", u128::from_be_bytes(key))
}

/// Keys with this tag, one of each type, on which it is tried what the user may do.
pub(crate) fn probes(tag: &str) -> [String; 5] {
    ["hash", "stream", "zset", "set", "text"].map(|kind| format!("{tag}:probe:{kind}"))
}

/// The name that a key has aside.
pub(crate) fn aside(key: &str) -> String {
    format!("{key}:old")
}

/// One shard of a sale, by which its keys are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) activity: ActivityId,
    /// How many the sale has.
    pub(crate) shards: Shards,
    /// Which of them, from 0.
    pub(crate) shard: u64,
}

impl Place {
    /// All shards of a sale, in their order.
    pub(crate) fn all(activity: ActivityId, shards: Shards) -> impl Iterator<Item = Self> + Clone {
        (0..shards.get()).map(move |shard| Self::of(activity, shards, shard))
    }

    pub(crate) const fn of(activity: ActivityId, shards: Shards, shard: u64) -> Self {
        Self {
            activity,
            shards,
            shard,
        }
    }

    /// The only shard of a sale in one piece.
    pub(crate) const fn whole(activity: ActivityId) -> Self {
        Self::of(activity, Shards::ONE, 0)
    }

    pub(crate) fn of_user(activity: ActivityId, shards: Shards, user: &UserId) -> Self {
        Self::of(activity, shards, shards.of(user))
    }

    /// Another shard of the same sale.
    pub(crate) const fn sibling(self, shard: u64) -> Self {
        Self { shard, ..self }
    }

    pub(crate) const fn index(self) -> usize {
        // Shards are sixteen at the most.
        self.shard as usize
    }

    /// The sequence of the shard's `nth` ticket: scripts count each shard by itself.
    pub(crate) const fn sequence(self, nth: u64) -> u64 {
        self.shards.sequence(self.shard, nth)
    }

    /// The keys in the order in which every script expects them.
    pub(crate) fn keys(self) -> [String; 7] {
        ["meta", "buyers", "fresh", "back", "due", "order", "dead"].map(|name| self.key(name))
    }

    /// The same, and after them the names that they have aside.
    pub(crate) fn keys_and_aside(self) -> Vec<String> {
        let keys = self.keys();
        let aside = keys.iter().map(|key| aside(key));
        keys.iter().cloned().chain(aside).collect()
    }

    /// Keys on which it is tried what the user may do.
    pub(crate) fn probes(self) -> [String; 5] {
        probes(&format!("{{a:{}:{}}}", self.activity, self.shard))
    }

    /// Where admissions that wait for copies are followed by a write of their own connection.
    pub(crate) fn waited(self) -> String {
        self.key("waited")
    }

    /// Buyers of the shard.
    pub(crate) fn buyers(self) -> String {
        self.key("buyers")
    }

    /// Shard channel on which changes of the shard are told.
    pub(crate) fn changed(self) -> String {
        self.key("changed")
    }

    fn key(self, name: &str) -> String {
        format!("{{a:{}:{}}}:{name}", self.activity, self.shard)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.activity, self.shard)
    }
}

/// Where a ticket is, and which ticket of the shard it is.
pub(crate) fn of_ticket(shards: Shards, ticket: Ticket) -> (Place, u64) {
    let (shard, nth) = shards.place(ticket.sequence);
    (Place::of(ticket.activity, shards, shard), nth)
}

/// How a sale is listed in [`SALES`].
pub(crate) fn listed(activity: ActivityId, shards: Shards) -> String {
    match shards.is_split() {
        true => format!("{activity}/{shards}"),
        false => activity.to_string(),
    }
}

/// Reads a member of [`SALES`].
pub(crate) fn read_listed(member: &str) -> Option<(ActivityId, Shards)> {
    let (activity, shards) = member.split_once('/').unwrap_or((member, "1"));
    Some((activity.parse().ok()?, shards.parse().ok()?))
}

/// The sale and the shard of a channel.
pub(crate) fn read_changed(channel: &str) -> Option<(ActivityId, u64)> {
    let (activity, shard) = channel
        .strip_prefix("{a:")?
        .strip_suffix("}:changed")?
        .split_once(':')?;
    Some((ActivityId::new(activity.parse().ok()?).ok()?, shard.parse().ok()?))
}
