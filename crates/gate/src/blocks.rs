//! Who may not take part: addresses, users, devices, each until a moment or for good. A snapshot that is replaced as a whole.
//!
//! A look-up costs one hash for the user, one for the device, and one for each length of prefix that is in use.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use ipnet::IpNet;
use seckill_sale::{EpochMs, Refusal, UserId};

use crate::client_ip::canonical;
use crate::device::Device;

/// Blocks that a node keeps: about 20 MB.
pub const BLOCKS_MAX: usize = 200_000;

/// Whom a block hits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Every client of this network; a single address is a network of one.
    Network(IpNet),
    /// This user.
    User(UserId),
    /// Whoever says that he uses this device.
    Device(Box<str>),
}

/// Why a list of blocks is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The kind is unknown.
    #[error("a block is of kind \"ip\", \"user\" or \"device\"")]
    Kind,
    /// The value does not fit the kind.
    #[error("the value is no address, network, user id or device id")]
    Value,
    /// Too many.
    #[error("more than {BLOCKS_MAX} blocks; block networks instead of single addresses, or let some expire")]
    TooMany,
}

impl Subject {
    /// Reads what an operator typed: kind `ip` (an address or CIDR), `user` or `device`.
    ///
    /// # Errors
    /// [`Error::Kind`], [`Error::Value`].
    pub fn parse(kind: &str, value: &str) -> Result<Self, Error> {
        let subject = match kind {
            "ip" => value
                .parse()
                .or_else(|_| value.parse::<IpAddr>().map(IpNet::from))
                .ok()
                .map(canonical)
                .map(Self::Network),
            "user" => UserId::new(value).ok().map(Self::User),
            "device" => Device::new(value).map(|device| Self::Device(device.as_str().into())),
            _ => return Err(Error::Kind),
        };
        subject.ok_or(Error::Value)
    }

    /// The word for its kind, as [`Self::parse`] reads it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Network(_) => "ip",
            Self::User(_) => "user",
            Self::Device(_) => "device",
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(network) => network.fmt(f),
            Self::User(user) => user.fmt(f),
            Self::Device(device) => device.fmt(f),
        }
    }
}

/// One block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Whom it hits.
    pub subject: Subject,
    /// First moment at which it does not hold any more; none: for good.
    pub expires_at: Option<EpochMs>,
}

/// Moment that never comes.
const NEVER: EpochMs = EpochMs(i64::MAX);

/// All blocks at one moment.
#[derive(Debug, Default)]
struct List {
    users: HashMap<UserId, EpochMs>,
    devices: HashMap<Box<str>, EpochMs>,
    /// By length of prefix, apart for both families, so that a look-up masks once a length.
    ipv4: Vec<(u8, HashMap<IpNet, EpochMs>)>,
    ipv6: Vec<(u8, HashMap<IpNet, EpochMs>)>,
}

impl List {
    fn add(&mut self, block: Block) {
        let expires_at = block.expires_at.unwrap_or(NEVER);
        let held = match block.subject {
            Subject::User(user) => self.users.entry(user).or_insert(expires_at),
            Subject::Device(device) => self.devices.entry(device).or_insert(expires_at),
            Subject::Network(network) => {
                let network = canonical(network);
                let lengths = if matches!(network, IpNet::V4(_)) {
                    &mut self.ipv4
                } else {
                    &mut self.ipv6
                };
                let found = lengths.iter().position(|(length, _)| *length == network.prefix_len());
                let at = found.unwrap_or_else(|| {
                    lengths.push((network.prefix_len(), HashMap::new()));
                    lengths.len() - 1
                });
                lengths[at].1.entry(network).or_insert(expires_at)
            }
        };
        *held = expires_at.max(*held);
    }

    fn blocks_address(&self, client: IpAddr, now: EpochMs) -> bool {
        let lengths = if client.is_ipv4() { &self.ipv4 } else { &self.ipv6 };
        let holds = |(length, networks): &(u8, HashMap<IpNet, EpochMs>)| {
            let network = IpNet::new(client, *length).ok().map(|network| network.trunc());
            network
                .and_then(|network| networks.get(&network))
                .is_some_and(|&expires_at| now < expires_at)
        };
        lengths.iter().any(holds)
    }
}

/// The blocks in force.
#[derive(Debug, Default)]
pub struct Blocks(ArcSwap<List>);

impl Blocks {
    /// Replaces all blocks.
    ///
    /// # Errors
    /// [`Error::TooMany`]; the old ones stay.
    pub fn replace(&self, blocks: impl IntoIterator<Item = Block>) -> Result<(), Error> {
        let mut list = List::default();
        for (count, block) in blocks.into_iter().enumerate() {
            if BLOCKS_MAX <= count {
                return Err(Error::TooMany);
            }
            list.add(block);
        }
        self.0.store(Arc::new(list));
        Ok(())
    }

    /// Whether nobody of this request is blocked at `now`. `client` is canonical: IPv4 where it is a mapped address.
    ///
    /// # Errors
    /// [`Refusal::Blocked`].
    pub fn check(
        &self,
        client: IpAddr,
        user: &UserId,
        device: Option<Device<'_>>,
        now: EpochMs,
    ) -> Result<(), Refusal> {
        let list = self.0.load();
        let user = list.users.get(user).is_some_and(|&expires_at| now < expires_at);
        let by_device = |device: Device<'_>| {
            list.devices
                .get(device.as_str())
                .is_some_and(|&expires_at| now < expires_at)
        };
        let blocked = user || device.is_some_and(by_device) || list.blocks_address(client, now);
        if blocked { Err(Refusal::Blocked) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: &str, value: &str, expires_at: Option<i64>) -> Block {
        Block {
            subject: Subject::parse(kind, value).expect("a subject"),
            expires_at: expires_at.map(EpochMs),
        }
    }

    fn blocked(blocks: &Blocks, client: &str, user: &str, device: &str, now: i64) -> bool {
        let user = UserId::new(user).expect("a user id");
        blocks
            .check(
                client.parse().expect("an address"),
                &user,
                Device::new(device),
                EpochMs(now),
            )
            .is_err()
    }

    #[test]
    fn addresses_networks_users_and_devices_are_blocked() {
        let blocks = Blocks::default();
        let list = [
            block("ip", "1.2.3.4", None),
            block("ip", "10.0.0.0/8", None),
            block("ip", "2001:db8::/32", None),
            block("ip", "::ffff:5.6.7.8", None),
            block("user", "mallory", None),
            block("device", "rig-1", None),
        ];
        blocks.replace(list).expect("few blocks");
        for client in ["1.2.3.4", "10.200.0.1", "2001:db8:1::1", "5.6.7.8"] {
            assert!(blocked(&blocks, client, "alice", "", 0), "{client}");
        }
        for client in ["1.2.3.5", "11.0.0.1", "2001:db9::1"] {
            assert!(!blocked(&blocks, client, "alice", "", 0), "{client}");
        }
        assert!(blocked(&blocks, "1.1.1.1", "mallory", "", 0));
        assert!(blocked(&blocks, "1.1.1.1", "alice", "rig-1", 0));
        assert!(!blocked(&blocks, "1.1.1.1", "alice", "rig-2", 0));
    }

    #[test]
    fn block_ends_at_its_expiry_and_the_longest_counts() {
        let blocks = Blocks::default();
        blocks
            .replace([block("user", "a", Some(5)), block("user", "a", Some(10))])
            .expect("few blocks");
        assert!(blocked(&blocks, "1.1.1.1", "a", "", 9));
        assert!(!blocked(&blocks, "1.1.1.1", "a", "", 10));
    }

    #[test]
    fn list_is_bounded_and_kept_when_refused() {
        let blocks = Blocks::default();
        blocks.replace([block("user", "a", None)]).expect("few blocks");
        let many = std::iter::repeat_n(block("user", "b", None), BLOCKS_MAX + 1);
        assert_eq!(blocks.replace(many), Err(Error::TooMany));
        assert!(blocked(&blocks, "1.1.1.1", "a", "", 0));
    }

    #[test]
    fn subjects_read_back_as_written() {
        for (kind, value) in [
            ("ip", "10.0.0.0/8"),
            ("ip", "2001:db8::/32"),
            ("user", "a@b"),
            ("device", "d:1"),
        ] {
            let subject = Subject::parse(kind, value).expect("a subject");
            assert_eq!((subject.kind(), subject.to_string().as_str()), (kind, value));
        }
        assert_eq!(Subject::parse("ip", "x"), Err(Error::Value));
        assert_eq!(Subject::parse("iq", "x"), Err(Error::Kind));
    }
}
