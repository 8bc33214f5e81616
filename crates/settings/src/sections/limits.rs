//! How often somebody may come, and when he is kept out by himself.

use std::time::Duration;

use ipnet::IpNet;

use super::DeviceRule;
use crate::rate::RateLimit;
use crate::reader::Reader;

/// When somebody is blocked by himself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abuse {
    /// Refusals of one address.
    pub ip: RateLimit,
    /// Refusals of one user.
    pub user: RateLimit,
    /// Refusals of one device.
    pub device: RateLimit,
    /// How long he is blocked.
    pub block_for: Duration,
}

impl Abuse {
    pub(super) fn narrow(reader: &Reader<'_>, devices: DeviceRule) -> Self {
        let abuse = Self {
            ip: reader.get("abuse.ip"),
            user: reader.get("abuse.user"),
            device: reader.get("abuse.device"),
            block_for: reader.get("abuse.block_for"),
        };
        if abuse.device != RateLimit::Off && devices == DeviceRule::Named {
            reader.warn(
                "abuse.device blocks whatever device a client names, also another's: set auth.devices = \"signed\"",
            );
        }
        abuse
    }
}

/// Whether a limit is kept by each node or by all of them: `limits.scope`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimiting {
    /// Each node counts for itself: `node`.
    Local,
    /// All nodes of the store count together: `cluster`.
    Global,
}

fn rate_limiting(reader: &Reader<'_>) -> RateLimiting {
    let name: String = reader.get("limits.scope");
    if name == "cluster" {
        RateLimiting::Global
    } else {
        RateLimiting::Local
    }
}

/// How often somebody may come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// One address, buy and token routes.
    pub ip: RateLimit,
    /// One network, buy and token routes.
    pub network: RateLimit,
    /// One user in one activity.
    pub user: RateLimit,
    /// One device.
    pub device: RateLimit,
    /// Polls and pages of one user, or of one address where nobody is signed in.
    pub read: RateLimit,
    /// All buyers of an activity together, on one node.
    pub activity: RateLimit,
    /// All buyers of one node together.
    pub node: RateLimit,
    /// Who counts users and devices.
    pub rate_limiting: RateLimiting,
    /// Networks without address and device limit.
    pub exempt: Vec<IpNet>,
    /// Places in the limiter's table.
    pub table_slots: usize,
}

impl Limits {
    pub(super) fn narrow(reader: &Reader<'_>, public: bool) -> Self {
        let limit = |name: &str| {
            let limit: RateLimit = reader.get(name);
            if public && limit == RateLimit::Off {
                reader.warn(format!("{name} is off while server.listen can be reached from outside"));
            }
            limit
        };
        let limits = Self {
            ip: limit("limits.ip"),
            network: reader.get("limits.network"),
            user: limit("limits.user"),
            device: limit("limits.device"),
            read: limit("limits.read"),
            activity: reader.get("limits.activity"),
            node: reader.get("limits.node"),
            rate_limiting: rate_limiting(reader),
            exempt: reader.get("limits.exempt"),
            table_slots: reader.get("limits.table_slots"),
        };
        if limits.exempt.iter().any(|network| network.prefix_len() == 0) {
            reader.warn("limits.exempt exempts every address: no address and no device is limited");
        }
        limits
    }
}
