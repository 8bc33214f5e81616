//! The limits of a node: whom each counts and which refusal it gives.

pub(crate) mod limiter;
pub(crate) mod per_limit;
pub(crate) mod rate;
pub(crate) mod retry_after;
pub(crate) mod shared_rates;
pub(crate) mod switches;

use std::net::IpAddr;

use seckill_sale::{ActivityId, EpochMs, Refusal, Scope, UserId};

use crate::client_ip::{limit_key, network_key};
use crate::device::Device;
use crate::limits::limiter::{Limiter, Permit, Wait};
use crate::limits::per_limit::PerLimit;
use crate::limits::rate::Limit;

/// How often somebody may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Buy and token routes.
    pub buy: PerLimit<Limit>,
    /// Polls and pages, per user; per address where nobody is signed in.
    pub read: Limit,
}

impl Limits {
    /// No limit at all.
    pub const OFF: Self = Self {
        buy: PerLimit::OFF,
        read: Limit::Off,
    };
}

impl PerLimit<Limit> {
    /// No limit at all.
    pub const OFF: Self = Self::all(Limit::Off);
}

impl From<PerLimit<Limit>> for Limits {
    fn from(buy: PerLimit<Limit>) -> Self {
        Self { buy, ..Self::OFF }
    }
}

/// Places for activities: more than are open at once, so that none takes another's place.
const ACTIVITY_SLOTS: usize = 16 * 1024;

/// The limits in force and what they counted.
#[derive(Debug)]
pub(crate) struct Limiters {
    buy: PerLimit<Limiter>,
    read: Limiter,
}

/// Users and addresses share the table of reads without ever sharing a key.
#[derive(Hash)]
enum ReadKey<'a> {
    User(&'a str),
    Address(u128),
}

/// What was taken of an address.
#[derive(Debug)]
pub(crate) enum Permits {
    Purchase { address: Permit, network: Permit },
    Read(Permit),
}

/// Which limit of an address a route counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Buy and token routes: [`Limits::buy`].
    Purchase,
    /// All others: [`Limits::read`].
    Read,
}

/// Whether a limit is kept by each node or by all of them, as proxies and gateways call it; in the settings it is `limits.scope`. Whom a limit
/// counts is another thing: [`Scope`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RateLimiting {
    /// Each node counts for itself: `node`.
    #[default]
    Local,
    /// All nodes of the store count together: behind its own count, a node asks the store. Users and devices alone: `cluster`.
    Global,
}

impl Limiters {
    pub(crate) fn new(limits: Limits, table_slots: usize) -> Self {
        let slots = PerLimit {
            activity: ACTIVITY_SLOTS.min(table_slots),
            node: 1,
            ..PerLimit::all(table_slots)
        };
        Self {
            buy: limits.buy.zip(slots).map(|(limit, slots)| Limiter::new(limit, slots)),
            read: Limiter::new(limits.read, table_slots),
        }
    }

    pub(crate) fn set(&self, limits: Limits) {
        let _set = self
            .buy
            .as_ref()
            .zip(limits.buy)
            .map(|(limiter, limit)| limiter.set(limit));
        self.read.set(limits.read);
    }

    pub(crate) fn check_ip(&self, client: IpAddr, now: EpochMs) -> Result<(), Refusal> {
        limited_by_ip(self.buy.ip.check(limit_key(client), now))
    }

    pub(crate) fn check_network(&self, client: IpAddr, now: EpochMs) -> Result<(), Refusal> {
        limited_by_ip(self.buy.network.check(network_key(client), now))
    }

    /// Takes what a route counts of an address. Where it is refused nothing was taken.
    pub(crate) fn charge(&self, route: Route, client: IpAddr, now: EpochMs) -> Result<Permits, Refusal> {
        let address = limit_key(client);
        match route {
            Route::Read => limited_by_ip(self.read.take(ReadKey::Address(address), now)).map(Permits::Read),
            Route::Purchase => {
                let address = limited_by_ip(self.buy.ip.take(address, now))?;
                match limited_by_ip(self.buy.network.take(network_key(client), now)) {
                    Ok(network) => Ok(Permits::Purchase { address, network }),
                    Err(refusal) => {
                        self.buy.ip.give_back(limit_key(client), address, now);
                        Err(refusal)
                    }
                }
            }
        }
    }

    /// Gives back what was taken of the same address.
    pub(crate) fn refund(&self, client: IpAddr, permits: Permits, now: EpochMs) {
        match permits {
            Permits::Read(address) => self.read.give_back(ReadKey::Address(limit_key(client)), address, now),
            Permits::Purchase { address, network } => {
                self.buy.ip.give_back(limit_key(client), address, now);
                self.buy.network.give_back(network_key(client), network, now);
            }
        }
    }

    pub(crate) fn check_user(&self, user: &UserId, activity: ActivityId, now: EpochMs) -> Result<(), Refusal> {
        limited(Scope::User, self.buy.user.check((activity, user), now))
    }

    pub(crate) fn check_device(&self, device: Device<'_>, now: EpochMs) -> Result<(), Refusal> {
        limited(Scope::Device, self.buy.device.check(device, now))
    }

    /// What all buyers together may do. Asked last: whoever is refused for himself takes nothing from the others.
    pub(crate) fn check_everybody(&self, activity: ActivityId, now: EpochMs) -> Result<(), Refusal> {
        limited(Scope::Activity, self.buy.activity.check(activity, now))?;
        limited(Scope::Node, self.buy.node.check((), now))
    }

    pub(crate) fn check_read_by_user(&self, user: &UserId, now: EpochMs) -> Result<(), Refusal> {
        limited(Scope::User, self.read.check(ReadKey::User(user.as_str()), now))
    }

    pub(crate) fn check_read_by_address(&self, client: IpAddr, now: EpochMs) -> Result<(), Refusal> {
        let checked = self.read.check(ReadKey::Address(limit_key(client)), now);
        limited_by_ip(checked)
    }
}

fn limited_by_ip<T>(checked: Result<T, Wait>) -> Result<T, Refusal> {
    checked.map_err(
        |Wait {
             ms: retry_after_ms,
             quota,
         }| Refusal::LimitedByIp { retry_after_ms, quota },
    )
}

fn limited(scope: Scope, checked: Result<(), Wait>) -> Result<(), Refusal> {
    checked.map_err(
        |Wait {
             ms: retry_after_ms,
             quota,
         }| Refusal::Limited {
            scope,
            retry_after_ms,
            quota,
        },
    )
}
