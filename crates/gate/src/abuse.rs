//! Who is refused again and again: counted by address, user and device, and named to whoever keeps the list of blocks.
//!
//! A refusal costs its sender nothing, so a limit alone lets a bot hammer for the whole sale. Whoever is refused more often than a rule
//! allows is an offender. The gate only names him; he is blocked as soon as the list that all nodes read has him.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;

use ipnet::IpNet;
use parking_lot::Mutex;
use seckill_sale::{EpochMs, Refusal, Scope, UserId};

use crate::blocks::Subject;
use crate::client_ip::limit_key;
use crate::device::Device;
use crate::limits::limiter::Limiter;
use crate::limits::rate::Limit;

/// Offenders that wait to be blocked. More are named again with their next refusal.
pub const OFFENDERS_MAX: usize = 1024;

/// How the reason of every offender begins, and so that of every block that a rule made.
pub const OFFENCE: &str = "refused more often than abuse.";

/// How often somebody may be refused before he is blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AbuseRules {
    /// Refusals of one address.
    pub ip: Limit,
    /// Refusals of one user, over all activities.
    pub user: Limit,
    /// Refusals of one device.
    pub device: Limit,
    /// Milliseconds for which an offender is blocked.
    pub block_for_ms: i64,
}

impl AbuseRules {
    /// Nobody is blocked by himself.
    pub const OFF: Self = Self {
        ip: Limit::Off,
        user: Limit::Off,
        device: Limit::Off,
        block_for_ms: 0,
    };
}

/// Somebody who is to be blocked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offender {
    /// Who.
    pub subject: Subject,
    /// First moment at which he may come again.
    pub expires_at: EpochMs,
    /// Which rule he broke, for operators.
    pub reason: String,
}

/// Whom a refusal was for, as far as he was known by then.
#[derive(Clone, Copy)]
pub(crate) struct Refused<'a> {
    pub(crate) client: IpAddr,
    pub(crate) exempt: bool,
    pub(crate) user: Option<&'a UserId>,
    pub(crate) device: Option<Device<'a>>,
}

/// The same, kept while the store is asked.
#[derive(Debug, Clone)]
pub struct Suspect {
    client: IpAddr,
    exempt: bool,
    user: Option<UserId>,
    device: Option<Box<str>>,
}

impl Suspect {
    pub(crate) fn refused(&self) -> Refused<'_> {
        Refused {
            client: self.client,
            exempt: self.exempt,
            user: self.user.as_ref(),
            device: self.device.as_deref().and_then(Device::new),
        }
    }
}

/// Counts refusals.
#[derive(Debug)]
pub struct Abuse {
    /// Whether there is any rule.
    is_on: bool,
    rules: AbuseRules,
    ip: Limiter,
    user: Limiter,
    device: Limiter,
    offenders: Mutex<HashMap<Subject, Offender>>,
}

impl Abuse {
    pub(crate) fn new(rules: AbuseRules, table_slots: usize) -> Self {
        // A rule that is off needs no table.
        let limiter = |limit| Limiter::new(limit, if limit == Limit::Off { 1 } else { table_slots });
        Self {
            is_on: rules != AbuseRules::OFF,
            rules,
            ip: limiter(rules.ip),
            user: limiter(rules.user),
            device: limiter(rules.device),
            offenders: Mutex::default(),
        }
    }

    /// Those who broke a rule since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<Offender> {
        std::mem::take(&mut *self.offenders.lock()).into_values().collect()
    }

    /// Counts a refusal that tells of hammering or guessing; others, such as "sold out", are what honest people hear.
    /// `refused` is asked only where there is a rule.
    pub(crate) fn note<'a>(&self, refusal: &Refusal, refused: impl FnOnce() -> Refused<'a>, now: EpochMs) {
        if self.is_on && is_suspicious(refusal) {
            self.count(refused(), now);
        }
    }

    /// Who may be refused later; none, and no allocation, where no rule counts it.
    pub(crate) fn suspect<'a>(&self, refused: impl FnOnce() -> Refused<'a>) -> Option<Suspect> {
        self.is_on.then(|| {
            let refused = refused();
            Suspect {
                client: refused.client,
                exempt: refused.exempt,
                user: refused.user.cloned(),
                device: refused.device.map(|device| device.as_str().into()),
            }
        })
    }

    #[cold]
    fn count(&self, refused: Refused<'_>, now: EpochMs) {
        let Refused {
            client,
            exempt,
            user,
            device,
        } = refused;
        if !exempt {
            let network = || Subject::Network(client_network(client));
            self.judge(&self.ip, self.rules.ip, limit_key(client), network, now);
        }
        if let Some(user) = user {
            self.judge(&self.user, self.rules.user, user, || Subject::User(user.clone()), now);
        }
        if let Some(device) = device.filter(|_| !exempt) {
            let subject = || Subject::Device(device.as_str().into());
            self.judge(&self.device, self.rules.device, device, subject, now);
        }
    }

    fn judge(&self, limiter: &Limiter, rule: Limit, key: impl Hash, subject: impl FnOnce() -> Subject, now: EpochMs) {
        if limiter.check(key, now).is_ok() {
            return;
        }
        // Whoever hammers comes again; the requests of others do not wait for his name to be written down.
        let Some(mut offenders) = self.offenders.try_lock() else {
            return;
        };
        if offenders.len() < OFFENDERS_MAX {
            let subject = subject();
            let reason = format!("{OFFENCE}{} = \"{rule}\" allows", subject.kind());
            let expires_at = now.plus(self.rules.block_for_ms);
            let offender = |subject: &Subject| Offender {
                subject: subject.clone(),
                expires_at,
                reason,
            };
            offenders.entry(subject).or_insert_with_key(offender);
        }
    }
}

/// What all buyers together have used up is nobody's fault, and what honest people hear neither.
const fn is_suspicious(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::Limited { scope, .. } => matches!(scope, Scope::User | Scope::Device),
        Refusal::LimitedByIp { .. } | Refusal::Unauthenticated | Refusal::ChallengeFailed => true,
        _ => false,
    }
}

/// What counts as one client: an IPv4 address, or the 64 bits that an IPv6 customer has to himself.
fn client_network(client: IpAddr) -> IpNet {
    let network = match client {
        IpAddr::V4(_) => IpNet::from(client),
        IpAddr::V6(_) => IpNet::new(client, 64).unwrap_or_else(|_| IpNet::from(client)),
    };
    network.trunc()
}

#[cfg(test)]
#[path = "abuse_tests.rs"]
mod tests;
