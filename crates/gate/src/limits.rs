//! The four limits of a node: whom each counts and which refusal it gives.

use std::net::IpAddr;

use seckill_sale::{ActivityId, EpochMs, Refusal, Scope, UserId};

use crate::client_ip::limit_key;
use crate::device::Device;
use crate::limiter::Limiter;
use crate::rate::Limit;

/// How often somebody may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Buy and token routes, per address.
    pub ip: Limit,
    /// Buy and token routes, per user and activity.
    pub user: Limit,
    /// Buy and token routes, per device.
    pub device: Limit,
    /// Polls and pages, per user; per address where nobody is signed in.
    pub read: Limit,
}

/// The limits in force and what they counted.
#[derive(Debug)]
pub(crate) struct Limiters {
    ip: Limiter,
    user: Limiter,
    device: Limiter,
    read: Limiter,
}

/// Users and addresses share the table of reads without ever sharing a key.
#[derive(Hash)]
enum ReadKey<'a> {
    User(&'a str),
    Address(u128),
}

impl Limiters {
    pub(crate) fn new(limits: Limits, table_slots: usize) -> Self {
        let limiter = |limit| Limiter::new(limit, table_slots);
        Self {
            ip: limiter(limits.ip),
            user: limiter(limits.user),
            device: limiter(limits.device),
            read: limiter(limits.read),
        }
    }

    pub(crate) fn set(&self, limits: Limits) {
        self.ip.set(limits.ip);
        self.user.set(limits.user);
        self.device.set(limits.device);
        self.read.set(limits.read);
    }

    pub(crate) fn check_ip(&self, client: IpAddr, now: EpochMs) -> Result<(), Refusal> {
        let checked = self.ip.check(limit_key(client), now);
        checked.map_err(|retry_after_ms| Refusal::LimitedByIp { retry_after_ms })
    }

    pub(crate) fn check_user(&self, user: &UserId, activity: ActivityId, now: EpochMs) -> Result<(), Refusal> {
        let checked = self.user.check((activity, user), now);
        checked.map_err(|retry_after_ms| Refusal::Limited {
            scope: Scope::User,
            retry_after_ms,
        })
    }

    pub(crate) fn check_device(&self, device: Device<'_>, now: EpochMs) -> Result<(), Refusal> {
        let checked = self.device.check(device, now);
        checked.map_err(|retry_after_ms| Refusal::Limited {
            scope: Scope::Device,
            retry_after_ms,
        })
    }

    pub(crate) fn check_read_by_user(&self, user: &UserId, now: EpochMs) -> Result<(), Refusal> {
        let checked = self.read.check(ReadKey::User(user.as_str()), now);
        checked.map_err(|retry_after_ms| Refusal::Limited {
            scope: Scope::User,
            retry_after_ms,
        })
    }

    pub(crate) fn check_read_by_address(&self, client: IpAddr, now: EpochMs) -> Result<(), Refusal> {
        let checked = self.read.check(ReadKey::Address(limit_key(client)), now);
        checked.map_err(|retry_after_ms| Refusal::LimitedByIp { retry_after_ms })
    }
}
