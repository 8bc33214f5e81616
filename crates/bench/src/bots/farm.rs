//! Who comes from where. Addresses stand in `X-Forwarded-For`, as a proxy in front would write them.

use std::net::{Ipv4Addr, SocketAddr};

use crate::jobs::Jobs;
use crate::target::Target;
use crate::token::UserIds;

/// One press of each account, all from the farm's /24 (TEST-NET-3 of RFC 5737).
pub(super) fn bot_jobs(target: &Target, activity_id: u64, bots: usize) -> Jobs {
    let address = |number: usize| Ipv4Addr::new(203, 0, 113, (number % 256) as u8);
    jobs(target, activity_id, bots, address)
}

/// One press of each person, each from a network of his own.
pub(crate) fn honest_jobs(target: &Target, activity_id: u64, people: usize) -> Jobs {
    jobs(target, activity_id, people, address_of)
}

/// Where a person comes from, each from a network of his own.
pub(crate) fn address_of(number: usize) -> Ipv4Addr {
    // Networks of 16.0.0.0/4 in an order that looks like none: an odd factor makes every 20-bit number once.
    let scattered = (number as u32).wrapping_mul(0x9e37_79b1) & 0xf_ffff;
    Ipv4Addr::from(0x1000_0000 | scattered << 8 | 7)
}

fn jobs(target: &Target, activity_id: u64, count: usize, address: impl Fn(usize) -> Ipv4Addr) -> Jobs {
    let mut jobs = Jobs::with_capacity(count);
    for (number, user) in UserIds::random().take(count).enumerate() {
        let token = target.signer.token(&user);
        let request = purchase(target.public, activity_id, &token, address(number), "");
        jobs.push_bytes(user, request.as_bytes());
    }
    jobs
}

/// A purchase by somebody behind a proxy; `more` are header lines, each with its end.
pub(crate) fn purchase(host: SocketAddr, activity_id: u64, token: &str, address: Ipv4Addr, more: &str) -> String {
    format!(
        "POST /api/seckill/{activity_id} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
         X-Forwarded-For: {address}\r\n{more}Content-Length: 0\r\n\r\n"
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::admin::Admin;
    use crate::token::Signer;

    fn networks(jobs: &Jobs) -> HashSet<String> {
        let of = |index: usize| {
            let text = std::str::from_utf8(jobs.request(index)).expect("text");
            let address = text
                .split("X-Forwarded-For: ")
                .nth(1)
                .and_then(|rest| rest.split('\r').next());
            let (network, _host) = address
                .and_then(|address| address.rsplit_once('.'))
                .expect("an address");
            network.to_owned()
        };
        (0..jobs.len()).map(of).collect()
    }

    #[test]
    fn farm_has_one_network_and_every_person_his_own() {
        let address = "127.0.0.1:1".parse().expect("an address");
        let target = Target::of(address, Admin::new(address, "t"), Signer::new(b"secret", 9));
        assert_eq!(networks(&bot_jobs(&target, 1, 1000)).len(), 1);
        assert_eq!(networks(&honest_jobs(&target, 1, 5000)).len(), 5000);
    }
}
