//! Requests that somebody made up.

use std::net::Ipv4Addr;

use crate::jobs::Jobs;
use crate::target::Target;
use crate::token::{Signer, UserIds};

/// As long as a token of a real user is good.
const TTL_S: i64 = 3600;

/// `count` requests, each with another address, user, device and activity; every second one with a token that nobody signed.
pub(super) fn forged_jobs(target: &Target, count: usize) -> Jobs {
    let stranger = Signer::expiring_in(b"nobody's secret, as long as a secret must be", TTL_S);
    let mut jobs = Jobs::with_capacity(count);
    for (number, user) in UserIds::random().take(count).enumerate() {
        let signer = if number % 2 == 0 { &stranger } else { &target.signer };
        let request = format!(
            "POST /api/seckill/{} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nX-Device-Id: {:016x}\r\n\
             X-Forwarded-For: {}\r\nContent-Length: 0\r\n\r\n",
            1_000_000 + u64::from(rand::random::<u32>()),
            target.public,
            signer.token(&user),
            rand::random::<u64>(),
            Ipv4Addr::from(rand::random::<u32>()),
        );
        jobs.push_bytes(user, request.as_bytes());
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::Admin;

    #[test]
    fn forged_requests_differ_in_all_that_can_be_made_up() {
        let address = "127.0.0.1:1".parse().expect("an address");
        let target = Target::of(address, Admin::new(address, "t"), Signer::new(b"secret", 9));
        let jobs = forged_jobs(&target, 3);
        let lines = |index: usize| {
            let text = std::str::from_utf8(jobs.request(index)).expect("text");
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        for line in [0, 2, 3, 4] {
            assert_ne!(lines(0)[line], lines(1)[line]);
            assert_ne!(lines(0)[line], lines(2)[line]);
        }
    }
}
