//! What is sent while memory is measured: purchases, strangers, streams.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use crate::chunks::{Sender, wrong};
use crate::jobs::Jobs;
use crate::token::{Signer, UserIds};
use crate::{Error, Result};

/// How long one stream may take to begin.
const STREAM_LIMIT: Duration = Duration::from_secs(15);

/// Sends `count` requests that are all to be refused.
pub(super) fn refused(
    sender: Sender<'_>,
    count: usize,
    write: impl FnMut(usize) -> Jobs,
    violations: &mut Vec<String>,
) -> Result<()> {
    sender.send(count, write, |_, load| {
        violations.extend(wrong(load, &[401, 404, 429]));
        Ok(())
    })
}

/// Purchases of activities that don't exist, each by another user from another address.
pub(super) fn stranger_jobs(target: SocketAddr, count: usize, signer: &Signer, users: &mut UserIds) -> Jobs {
    let mut jobs = Jobs::with_capacity(count);
    for user in users.take(count) {
        let address = Ipv4Addr::from(rand::random::<u32>());
        let activity_id = 1_000_000 + u64::from(rand::random::<u32>());
        let token = signer.token(&user);
        let request = format!(
            "POST /api/seckill/{activity_id} HTTP/1.1\r\nHost: {target}\r\nX-Forwarded-For: {address}\r\n\
             Authorization: Bearer {token}\r\nContent-Length: 0\r\n\r\n"
        );
        jobs.push_bytes(user, request.as_bytes());
    }
    jobs
}

/// An open result stream whose head has come.
pub(super) fn stream(target: SocketAddr, activity_id: u64, token: &str) -> Result<TcpStream> {
    let what = || format!("open a result stream at {target}");
    let mut stream = TcpStream::connect_timeout(&target, STREAM_LIMIT).map_err(Error::io(what()))?;
    stream.set_read_timeout(Some(STREAM_LIMIT)).map_err(Error::io(what()))?;
    let request = format!(
        "GET /api/seckill/events/{activity_id} HTTP/1.1\r\nHost: {target}\r\nAccept: text/event-stream\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).map_err(Error::io(what()))?;
    let mut head = Vec::new();
    let mut part = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut part).map_err(Error::io(what()))?;
        if count == 0 {
            return Err(Error::Malformed { what: what() });
        }
        head.extend_from_slice(&part[..count]);
    }
    if head.starts_with(b"HTTP/1.1 200 ") {
        return Ok(stream);
    }
    Err(Error::Answer {
        what: what(),
        status: std::str::from_utf8(&head)
            .ok()
            .and_then(|head| head.split(' ').nth(1)?.parse().ok())
            .unwrap_or(0),
        body: String::from_utf8_lossy(&head).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_differ_in_user_address_and_activity() {
        let signer = Signer::new(b"k", 1);
        let jobs = stranger_jobs("127.0.0.1:1".parse().unwrap(), 2, &signer, &mut UserIds::seeded(1));
        let lines = |index: usize| {
            std::str::from_utf8(jobs.request(index))
                .unwrap()
                .lines()
                .collect::<Vec<_>>()
        };
        let (one, other) = (lines(0), lines(1));
        for line in [0, 2, 3] {
            assert_ne!(one[line], other[line]);
        }
        assert_eq!(one.last(), Some(&""));
    }
}
