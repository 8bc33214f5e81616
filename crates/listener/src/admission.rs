//! Who may hold a connection: the caps, the permit that gives its place back when dropped.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;

use crate::counts::Counts;
use crate::limits::Limits;

/// Whom a cap counts together: one IPv4 address, or one IPv6 /64 (what a household gets).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Neighbourhood {
    V4(u32),
    V6(u64),
}

impl Neighbourhood {
    fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.to_bits()),
            IpAddr::V6(address) => {
                let prefix = address.to_bits() >> 64;
                Self::V6(u64::try_from(prefix).expect("64 bits were shifted out"))
            }
        }
    }
}

/// The caps of one listener. Only its accept thread asks; permits are dropped anywhere.
#[derive(Debug)]
pub(crate) struct Admission {
    counts: Arc<Counts>,
    per_ip: Arc<Mutex<HashMap<Neighbourhood, usize>>>,
    passed_on_max: usize,
    connections_per_ip: usize,
}

impl Admission {
    pub(crate) fn new(counts: Arc<Counts>, limits: &Limits) -> Self {
        Self {
            counts,
            per_ip: Arc::default(),
            passed_on_max: limits.connections_max.saturating_add(limits.when_full.passed_on_max()),
            connections_per_ip: limits.connections_per_ip,
        }
    }

    /// A permit to hold a connection on a core whose open connections are `core_open`, or none
    /// where a cap is reached (which is counted).
    pub(crate) fn admit(&self, address: IpAddr, core_open: &Arc<AtomicUsize>) -> Option<Permit> {
        self.counts.accepted_total.fetch_add(1, Relaxed);
        if self.passed_on_max <= self.counts.open.load(Relaxed) {
            self.counts.refused_full_total.fetch_add(1, Relaxed);
            return None;
        }
        let neighbourhood = Neighbourhood::of(address);
        {
            let mut per_ip = self.per_ip.lock();
            let held = per_ip.entry(neighbourhood).or_insert(0);
            if self.connections_per_ip <= *held {
                drop(per_ip);
                self.counts.refused_per_ip_total.fetch_add(1, Relaxed);
                return None;
            }
            *held += 1;
        }
        self.counts.open.fetch_add(1, Relaxed);
        core_open.fetch_add(1, Relaxed);
        Some(Permit {
            counts: Arc::clone(&self.counts),
            per_ip: Arc::clone(&self.per_ip),
            core_open: Arc::clone(core_open),
            neighbourhood,
        })
    }
}

/// The right to hold one connection; dropping it gives the place back.
#[derive(Debug)]
pub(crate) struct Permit {
    counts: Arc<Counts>,
    per_ip: Arc<Mutex<HashMap<Neighbourhood, usize>>>,
    core_open: Arc<AtomicUsize>,
    neighbourhood: Neighbourhood,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.counts.open.fetch_sub(1, Relaxed);
        self.core_open.fetch_sub(1, Relaxed);
        let mut per_ip = self.per_ip.lock();
        if let Some(held) = per_ip.get_mut(&self.neighbourhood) {
            *held -= 1;
            if *held == 0 {
                // Forged or passing addresses must not pile up.
                per_ip.remove(&self.neighbourhood);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(connections_max: usize, connections_per_ip: usize) -> Admission {
        let limits = Limits {
            connections_max,
            connections_per_ip,
            ..Limits::default()
        };
        Admission::new(Arc::default(), &limits)
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("a literal address")
    }

    #[test]
    fn dropped_permit_gives_its_place_back() {
        let admission = admission(1, 10);
        let core = Arc::default();
        let first = admission.admit(ip("10.0.0.1"), &core);
        assert!(first.is_some());
        assert!(admission.admit(ip("10.0.0.2"), &core).is_none());
        drop(first);
        assert_eq!(admission.counts.open(), 0);
        assert_eq!(core.load(Relaxed), 0);
        assert!(admission.per_ip.lock().is_empty());
        assert!(admission.admit(ip("10.0.0.2"), &core).is_some());
        assert_eq!(admission.counts.refused_full_total(), 1);
        assert_eq!(admission.counts.accepted_total(), 3);
    }

    #[test]
    fn one_address_fills_only_its_own_share() {
        let admission = admission(10, 1);
        let core = Arc::default();
        let _held = admission.admit(ip("10.0.0.1"), &core).expect("the first");
        assert!(admission.admit(ip("10.0.0.1"), &core).is_none());
        assert!(admission.admit(ip("::ffff:10.0.0.1"), &core).is_none());
        assert!(admission.admit(ip("10.0.0.2"), &core).is_some());
        assert_eq!(admission.counts.refused_per_ip_total(), 2);
    }

    #[test]
    fn ipv6_addresses_of_one_network_count_together() {
        let admission = admission(10, 1);
        let core = Arc::default();
        let _held = admission.admit(ip("2001:db8::1"), &core).expect("the first");
        assert!(admission.admit(ip("2001:db8::ffff:1"), &core).is_none());
        assert!(admission.admit(ip("2001:db8:0:1::1"), &core).is_some());
    }
}
