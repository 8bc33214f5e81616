//! Whose address a request comes from: the peer's, or what a trusted proxy says. No header counts from anybody else.
//!
//! Only `X-Forwarded-For` is read. Proxies append to it, so it is read from the right: the first hop that is no trusted proxy is the
//! client; everything left of it was written by the client and is not looked at. Junk ends the walk at the last hop that was understood.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::HeaderMap;
use ipnet::{IpNet, Ipv4Net};

/// Hops that are looked at, so that a header of ten kilobytes costs no more than a short one.
const HOPS_MAX: usize = 16;
/// An IPv6 customer usually has 64 bits of addresses to himself; all of them are one client.
const IPV6_CLIENT_PREFIX: u32 = 64;
/// The smallest piece of IPv4 that is announced on its own, /24, behind the 96 bits of a mapped address.
const IPV4_NETWORK_PREFIX_MAPPED: u32 = 96 + 24;
/// What a site gets (RFC 6177).
const IPV6_NETWORK_PREFIX: u32 = 48;

/// A list of networks, empty for most installations.
#[derive(Debug, Clone, Default)]
pub struct Networks(Vec<IpNet>);

impl Networks {
    /// These networks. IPv6 networks that only map IPv4 ones count as those.
    #[must_use]
    pub fn new(networks: impl IntoIterator<Item = IpNet>) -> Self {
        Self(networks.into_iter().map(canonical).collect())
    }

    /// Whether `address` (IPv4 where it is a mapped one) lies in one of them.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// `::ffff:10.0.0.0/104` is `10.0.0.0/8`.
pub(crate) fn canonical(network: IpNet) -> IpNet {
    let mapped = match network {
        IpNet::V6(v6) => v6.addr().to_ipv4_mapped().zip(v6.prefix_len().checked_sub(96)),
        IpNet::V4(_) => None,
    };
    mapped
        .and_then(|(address, prefix)| Ipv4Net::new(address, prefix).ok())
        .map_or(network, IpNet::V4)
        .trunc()
}

/// The client's address: `peer`, unless that is one of `trusted_proxies`; then its rightmost untrusted hop.
#[must_use]
pub fn client_ip(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &Networks) -> IpAddr {
    let mut client = peer.to_canonical();
    if !trusted_proxies.contains(client) {
        return client;
    }
    let lines = headers.get_all("x-forwarded-for").iter().rev();
    let hops = lines.flat_map(|line| line.as_bytes().rsplit(|&byte| byte == b','));
    for hop in hops.take(HOPS_MAX) {
        let Some(address) = address(hop) else { break };
        client = address;
        if !trusted_proxies.contains(client) {
            break;
        }
    }
    client
}

/// An address, or one with a port as some proxies write it.
fn address(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?.trim_matches([' ', '\t']);
    let bracketed = || {
        hop.strip_prefix('[')?
            .strip_suffix(']')?
            .parse::<Ipv6Addr>()
            .ok()
            .map(IpAddr::V6)
    };
    let with_port = || hop.parse::<SocketAddr>().ok().map(|address| address.ip());
    hop.parse()
        .ok()
        .or_else(with_port)
        .or_else(bracketed)
        .map(|address: IpAddr| address.to_canonical())
}

/// What an address is limited by: itself, or the network of its customer.
pub(crate) fn limit_key(client: IpAddr) -> u128 {
    match client {
        // Mapped, so that no IPv4 address shares a key with an IPv6 network.
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => prefix(v6.to_bits(), IPV6_CLIENT_PREFIX),
    }
}

/// What a network is limited by: what is rented in one piece.
pub(crate) fn network_key(client: IpAddr) -> u128 {
    match client {
        IpAddr::V4(v4) => prefix(v4.to_ipv6_mapped().to_bits(), IPV4_NETWORK_PREFIX_MAPPED),
        IpAddr::V6(v6) => prefix(v6.to_bits(), IPV6_NETWORK_PREFIX),
    }
}

const fn prefix(address: u128, bits: u32) -> u128 {
    address >> (128 - bits) << (128 - bits)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn trusted() -> Networks {
        Networks::new(["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().expect("a network")))
    }

    #[track_caller]
    fn check(peer: &str, lines: &[&str], expect: &str) {
        let mut headers = HeaderMap::new();
        for line in lines {
            let name = HeaderName::from_static("x-forwarded-for");
            headers.append(name, HeaderValue::from_bytes(line.as_bytes()).expect("a header value"));
        }
        for other in ["x-real-ip", "forwarded", "cf-connecting-ip", "true-client-ip"] {
            headers.append(other, HeaderValue::from_static("9.9.9.9"));
        }
        let client = client_ip(peer.parse().expect("an address"), &headers, &trusted());
        assert_eq!(client, expect.parse::<IpAddr>().expect("an address"), "{lines:?}");
    }

    #[test]
    fn headers_of_an_untrusted_peer_do_not_count() {
        check("1.2.3.4", &["8.8.8.8"], "1.2.3.4");
        check("::ffff:1.2.3.4", &["8.8.8.8"], "1.2.3.4");
    }

    #[test]
    fn rightmost_untrusted_hop_is_the_client() {
        check("10.0.0.1", &["8.8.8.8, 1.2.3.4"], "1.2.3.4");
        check("10.0.0.1", &["8.8.8.8,1.2.3.4 , 10.9.9.9"], "1.2.3.4");
        check("10.0.0.1", &["8.8.8.8", "1.2.3.4", "10.9.9.9"], "1.2.3.4");
        check("::ffff:10.0.0.1", &["::ffff:1.2.3.4"], "1.2.3.4");
        check("fd00::1", &["2001:db8::7"], "2001:db8::7");
    }

    #[test]
    fn ports_and_brackets_are_understood() {
        check("10.0.0.1", &["1.2.3.4:5678"], "1.2.3.4");
        check("10.0.0.1", &["[2001:db8::7]:443"], "2001:db8::7");
        check("10.0.0.1", &["[2001:db8::7]"], "2001:db8::7");
    }

    #[test]
    fn junk_ends_the_walk_at_the_last_understood_hop() {
        check("10.0.0.1", &["1.2.3.4, unknown"], "10.0.0.1");
        check("10.0.0.1", &["1.2.3.4, junk, 10.2.2.2"], "10.2.2.2");
        check("10.0.0.1", &["1.2.3.4,"], "10.0.0.1");
        check("10.0.0.1", &["1.2.3.4,\u{e9}"], "10.0.0.1");
        check("10.0.0.1", &[], "10.0.0.1");
    }

    #[test]
    fn list_of_trusted_hops_alone_ends_at_the_farthest() {
        check("10.0.0.1", &["10.3.3.3, 10.2.2.2"], "10.3.3.3");
        let long = vec!["10.4.4.4"; 5000].join(",");
        check("10.0.0.1", &[&format!("1.2.3.4,{long}")], "10.4.4.4");
    }

    #[test]
    fn ipv6_clients_are_limited_by_their_network() {
        let key = |text: &str| limit_key(text.parse().expect("an address"));
        assert_eq!(key("2001:db8:0:1::1"), key("2001:db8:0:1:ffff::2"));
        assert_ne!(key("2001:db8:0:1::1"), key("2001:db8:0:2::1"));
        assert_ne!(key("1.2.3.4"), key("1.2.3.5"));
    }

    #[test]
    fn addresses_that_are_rented_together_are_one_network() {
        let key = |text: &str| network_key(text.parse().expect("an address"));
        assert_eq!(key("203.0.113.1"), key("203.0.113.254"));
        assert_ne!(key("203.0.113.1"), key("203.0.114.1"));
        assert_eq!(key("2001:db8:1:1::1"), key("2001:db8:1:ffff::1"));
        assert_ne!(key("2001:db8:1::1"), key("2001:db8:2::1"));
    }

    #[test]
    fn mapped_networks_are_ipv4_networks() {
        let networks = Networks::new(["::ffff:10.0.0.0/104".parse().expect("a network")]);
        assert!(networks.contains("10.1.2.3".parse().expect("an address")));
    }
}
