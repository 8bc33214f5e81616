//! Wrong tokens cost their address a growing wait. The right one is let in all the same: with 32 random characters no rate of guessing
//! gets anywhere, and nobody can lock the operator out from behind the same address on the night of a sale.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use parking_lot::Mutex;
use seckill_sale::EpochMs;

use crate::error::Error;

/// What is remembered of an address that sent wrong tokens.
#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last_at: EpochMs,
}

/// Addresses that sent wrong tokens.
#[derive(Debug, Default)]
pub(crate) struct Penalties(Mutex<HashMap<IpAddr, Failures>>);

impl Penalties {
    /// Wrong tokens of an address before it has to wait.
    const FREE_COUNT: u32 = 20;
    /// First wait, in milliseconds; each further wrong token doubles it.
    const WAIT_FIRST_MS: i64 = 1_000;
    /// Longest wait, in milliseconds.
    const WAIT_MAX_MS: i64 = 60_000;
    /// After so much silence an address begins anew, in milliseconds.
    const FORGET_AFTER_MS: i64 = 10 * 60_000;
    /// Addresses that are remembered; beyond it the one that was silent longest is forgotten.
    const ADDRESSES_MAX: usize = 4_096;

    /// Counts a wrong token.
    ///
    /// # Errors
    /// [`Error::TooOften`] where the address has to wait; then it is not counted.
    pub(crate) fn failed(&self, client: IpAddr, now: EpochMs) -> Result<(), Error> {
        let client = one_client(client);
        let mut known = self.0.lock();
        let failures = known
            .get(&client)
            .filter(|failures| now.since(failures.last_at) < Self::FORGET_AFTER_MS);
        let count = failures.map_or(0, |failures| failures.count);
        if let Some(failures) = failures {
            let wait_ms = Self::wait_ms(count);
            let waited_ms = now.since(failures.last_at).max(0);
            if waited_ms < wait_ms {
                return Err(Error::TooOften {
                    wait_ms: wait_ms.abs_diff(waited_ms),
                });
            }
        }
        if known.len() == Self::ADDRESSES_MAX && !known.contains_key(&client) {
            known.retain(|_, failures| now.since(failures.last_at) < Self::FORGET_AFTER_MS);
            let longest_silent = known
                .iter()
                .min_by_key(|(_, failures)| failures.last_at)
                .map(|(address, _)| *address);
            longest_silent
                .filter(|_| known.len() == Self::ADDRESSES_MAX)
                .map(|address| known.remove(&address));
        }
        let count = count.saturating_add(1);
        known.insert(client, Failures { count, last_at: now });
        Ok(())
    }

    fn wait_ms(count: u32) -> i64 {
        match count.checked_sub(Self::FREE_COUNT) {
            None => 0,
            Some(beyond) => Self::WAIT_FIRST_MS
                .checked_shl(beyond.min(16))
                .unwrap_or(i64::MAX)
                .min(Self::WAIT_MAX_MS),
        }
    }
}

/// An IPv6 customer has 64 bits of addresses to himself.
fn one_client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(network))
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn wait(penalties: &Penalties, client: &str, now: i64) -> Option<u64> {
        match penalties.failed(client.parse().unwrap(), EpochMs(now)) {
            Ok(()) => None,
            Err(Error::TooOften { wait_ms }) => Some(wait_ms),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn wait_grows_with_wrong_tokens_up_to_a_minute_and_is_of_one_address() {
        let penalties = Penalties::default();
        for _ in 0..Penalties::FREE_COUNT {
            assert_eq!(wait(&penalties, "10.0.0.1", 0), None);
        }
        assert_eq!(wait(&penalties, "10.0.0.1", 0), Some(1_000));
        assert_eq!(wait(&penalties, "10.0.0.1", 999), Some(1));
        assert_eq!(wait(&penalties, "10.0.0.1", 1_000), None);
        assert_eq!(wait(&penalties, "10.0.0.1", 1_000), Some(2_000));
        assert_eq!(wait(&penalties, "10.0.0.2", 1_000), None);
        let mut now = 3_000;
        for _ in 0..40 {
            assert_eq!(wait(&penalties, "10.0.0.1", now), None);
            now += 60_000;
        }
        assert_eq!(wait(&penalties, "10.0.0.1", now - 60_000), Some(60_000));
        assert_eq!(wait(&penalties, "10.0.0.1", now + Penalties::FORGET_AFTER_MS), None);
        assert_eq!(wait(&penalties, "10.0.0.1", now + Penalties::FORGET_AFTER_MS), None);
    }

    #[test]
    fn memory_of_wrong_tokens_is_bounded_and_a_network_is_one_client() {
        let penalties = Penalties::default();
        for n in 0..=u32::try_from(Penalties::ADDRESSES_MAX).unwrap() {
            penalties.failed(Ipv4Addr::from(n).into(), EpochMs(n.into())).unwrap();
        }
        assert_eq!(penalties.0.lock().len(), Penalties::ADDRESSES_MAX);
        assert!(
            !penalties.0.lock().contains_key(&Ipv4Addr::from(0).into()),
            "the oldest went"
        );
        assert_eq!(
            one_client("2001:db8::1".parse().unwrap()),
            one_client("2001:db8::2:3".parse().unwrap())
        );
        assert_eq!(
            one_client("::ffff:10.0.0.1".parse().unwrap()),
            "10.0.0.1".parse::<IpAddr>().unwrap()
        );
    }
}
