//! What a buyer, an idle result stream and a forged request cost the server in memory, as slopes: the resident memory of the real
//! process at two sizes, over the difference.
//!
//! Everything that is bounded (token cache, limiter, page caches) is filled before the first reading, so that a slope shows what grows.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::held_disk::{Held, HeldDisk};
use crate::jobs::Jobs;
use crate::load::{self, Load};
use crate::outcome::LoadReport;
use crate::server::{Server, ServerConfig, Target};
use crate::token::{Signer, UserIds};
use crate::{Error, Result};

/// Requests that are written out at once: a million of them would take the client more memory than the server.
const CHUNK: usize = 100_000;
/// Verified tokens that fill the server's cache, with room to spare.
const WARM_TOKENS: usize = 200_000;
/// How long the settlement of one chunk may take.
const SETTLE_LIMIT: Duration = Duration::from_secs(120);
/// Memory is at rest once so many readings in a row, so far apart, differ by less than the grain.
const REST_READINGS: usize = 5;
const REST_GRAIN_BYTES: u64 = 256 << 10;
const REST_LIMIT: Duration = Duration::from_secs(30);
/// How long one stream may take to begin.
const STREAM_LIMIT: Duration = Duration::from_secs(15);

/// How much of everything is measured.
#[derive(Debug, Clone)]
pub struct MemoryConfig {
    /// The `seckill` program.
    pub executable: PathBuf,
    /// Accepted buyers at the last reading; the first is at a tenth of them.
    pub buyers: usize,
    /// Idle streams at the last reading; the first is at a tenth of them.
    pub streams: usize,
    /// Requests with forged tokens, and as many with a new user, address and activity each.
    pub forged: usize,
    /// Connections of the client.
    pub connections: usize,
    /// How far apart the readings are that show memory at rest.
    pub rest_every: Duration,
}

impl MemoryConfig {
    /// A million buyers, 2,000 streams, a million forged requests.
    pub fn usual(executable: impl Into<PathBuf>) -> Self {
        Self {
            executable: executable.into(),
            buyers: 1_000_000,
            streams: 2_000,
            forged: 1_000_000,
            connections: 64,
            rest_every: Duration::from_millis(500),
        }
    }
}

/// What memory grows by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grown {
    /// Accepted buyers with ids of 17 bytes, settled.
    Buyers,
    /// Result streams (server-sent events) of queued tickets, idle.
    Streams,
    /// Requests with signed tokens, each of another user, from another address, for another activity that doesn't exist.
    Strangers,
    /// Requests with tokens that somebody else has signed, each from another address.
    ForgedTokens,
}

impl Grown {
    /// Bytes of each, at most.
    pub fn each_bytes_max(self) -> f64 {
        match self {
            Self::Buyers => 120.0,
            Self::Streams => 16.0 * 1024.0,
            // Nothing is kept of them: what is left is the noise of an allocator.
            Self::Strangers | Self::ForgedTokens => 8.0,
        }
    }
}

/// Two readings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Growth {
    /// What was there more of at the second.
    pub grown: Grown,
    /// How many at the first.
    pub from: usize,
    /// How many at the second.
    pub to: usize,
    /// Resident memory at the first.
    pub rss_from_bytes: u64,
    /// Resident memory at the second.
    pub rss_to_bytes: u64,
}

impl Growth {
    /// Bytes of each; below 0 where memory shrank.
    pub fn each_bytes(&self) -> f64 {
        (self.rss_to_bytes as f64 - self.rss_from_bytes as f64) / (self.to.saturating_sub(self.from)).max(1) as f64
    }

    /// Whether it is within its goal.
    pub fn is_reached(&self) -> bool {
        self.each_bytes() <= self.grown.each_bytes_max()
    }
}

/// What was measured.
#[derive(Debug, Clone, Default, Serialize)]
pub struct MemoryReport {
    /// In the order of measuring.
    pub growths: Vec<Growth>,
    /// What must hold and doesn't.
    pub violations: Vec<String>,
}

/// Measures on servers of its own. Blocks for minutes.
///
/// # Errors
/// When a server can't be started, prepared or read, or there is no C compiler.
pub fn run(config: &MemoryConfig) -> Result<MemoryReport> {
    let mut report = MemoryReport::default();
    buyers(config, &mut report)?;
    strangers(config, &mut report)?;
    streams(config, &mut report)?;
    Ok(report)
}

/// A server's memory once it has come to rest, or what it is when the limit is over.
fn at_rest(server: &Server, config: &MemoryConfig) -> Result<u64> {
    let end = Instant::now() + REST_LIMIT;
    let mut readings = vec![server.usage()?.rss_bytes];
    loop {
        std::thread::sleep(config.rest_every);
        readings.push(server.usage()?.rss_bytes);
        let last = &readings[readings.len().saturating_sub(REST_READINGS)..];
        let rests = last.len() == REST_READINGS
            && last.iter().max() < last.iter().min().map(|min| min + REST_GRAIN_BYTES).as_ref();
        if rests || end <= Instant::now() {
            return Ok(readings[readings.len() - 1]);
        }
    }
}

fn buyers(config: &MemoryConfig, report: &mut MemoryReport) -> Result<()> {
    let server = Server::start(&ServerConfig::of(&config.executable))?;
    let target = server.target();
    let mut users = UserIds::random();
    // Other users than those who buy: what they leave in the token cache is what it holds at most.
    send(
        config,
        target,
        WARM_TOKENS.min(config.buyers),
        &mut report.violations,
        |jobs, count| {
            stranger_jobs(jobs, target.public, count, &target.signer, &mut users);
        },
    )?;
    let activity_id = target.admin.open_sale("memory", config.buyers as u64)?;
    let first = (config.buyers / 10).max(1);
    let mut rss = [0, 0];
    let mut accepted = 0;
    for (reading, count) in [(0, first), (1, config.buyers - first)] {
        let mut left = count;
        while 0 < left {
            let chunk = left.min(CHUNK);
            let jobs = Jobs::purchases(target.public, activity_id, chunk, &target.signer, &mut users);
            let load = put(config, target, jobs)?;
            accepted += load.accepted;
            report.violations.extend(wrong(&load, &[202]));
            target.admin.wait_drained(SETTLE_LIMIT)?;
            left -= chunk;
        }
        rss[reading] = at_rest(&server, config)?;
    }
    let audit = target.admin.wait_settled(activity_id, SETTLE_LIMIT)?;
    report.violations.extend(audit.faults());
    if accepted != config.buyers as u64 {
        report
            .violations
            .push(format!("{accepted} of {} buyers were accepted", config.buyers));
    }
    report.growths.push(growth(Grown::Buyers, first, config.buyers, rss));
    server.stop()
}

/// With the usual limits, and behind a proxy that everybody seems to come through.
fn strangers(config: &MemoryConfig, report: &mut MemoryReport) -> Result<()> {
    let mut server = ServerConfig::of(&config.executable);
    let set = |name: &str, value: &str| (format!("SECKILL_{name}"), value.to_owned());
    server.environment.extend([
        set("SERVER__TRUSTED_PROXIES", "127.0.0.1/32"),
        set("LIMITS__IP", "50/s burst 100"),
        set("LIMITS__USER", "1/s burst 3"),
        set("LIMITS__DEVICE", "2/s burst 5"),
        set("LIMITS__READ", "20/s burst 60"),
    ]);
    let server = Server::start(&server)?;
    let target = server.target();
    target.admin.open_sale("memory", 1)?;
    let mut users = UserIds::random();
    let stranger = Signer::expiring_in(b"nobody's secret, as long as a secret must be", 3600);
    for (grown, signer) in [(Grown::Strangers, &target.signer), (Grown::ForgedTokens, &stranger)] {
        let mut send_some = |count: usize| {
            send(config, target, count, &mut report.violations, |jobs, count| {
                stranger_jobs(jobs, target.public, count, signer, &mut users);
            })
        };
        send_some(WARM_TOKENS.min(config.forged))?;
        let before = at_rest(&server, config)?;
        send_some(config.forged)?;
        let rss = [before, at_rest(&server, config)?];
        report.growths.push(growth(grown, 0, config.forged, rss));
    }
    server.stop()
}

/// Streams of tickets that stay queued, because the database's disk hangs.
fn streams(config: &MemoryConfig, report: &mut MemoryReport) -> Result<()> {
    let disk = HeldDisk::build(Held::Database, Duration::ZERO)?;
    let mut server = ServerConfig::of(&config.executable);
    server.environment.extend(disk.environment());
    let per_ip = ("SECKILL_SERVER__CONNECTIONS_PER_IP".to_owned(), "20000".to_owned());
    server.environment.push(per_ip);
    let server = Server::start(&server)?;
    let target = server.target();
    let activity_id = target.admin.open_sale("memory", config.streams as u64)?;
    disk.hang()?;
    let ids: Vec<String> = UserIds::random().take(config.streams).collect();
    let mut jobs = Jobs::with_capacity(ids.len());
    for user in &ids {
        jobs.purchase(target.public, activity_id, user, &target.signer);
    }
    report.violations.extend(wrong(&put(config, target, jobs)?, &[202]));
    let first = (config.streams / 10).max(1);
    let (mut open, mut rss) = (Vec::with_capacity(config.streams), [0, 0]);
    for (reading, users) in [(0, &ids[..first]), (1, &ids[first..])] {
        for user in users {
            open.push(stream(target.public, activity_id, &target.signer.token(user))?);
        }
        rss[reading] = at_rest(&server, config)?;
    }
    report.growths.push(growth(Grown::Streams, first, config.streams, rss));
    disk.release()?;
    let audit = target.admin.wait_settled(activity_id, SETTLE_LIMIT)?;
    report.violations.extend(audit.faults());
    drop(open);
    server.stop()
}

fn growth(grown: Grown, from: usize, to: usize, [rss_from_bytes, rss_to_bytes]: [u64; 2]) -> Growth {
    Growth {
        grown,
        from,
        to,
        rss_from_bytes,
        rss_to_bytes,
    }
}

/// Sends `count` requests that are all to be refused.
fn send(
    config: &MemoryConfig,
    target: &Target,
    count: usize,
    violations: &mut Vec<String>,
    mut write: impl FnMut(&mut Jobs, usize),
) -> Result<()> {
    let mut left = count;
    while 0 < left {
        let chunk = left.min(CHUNK);
        let mut jobs = Jobs::with_capacity(chunk);
        write(&mut jobs, chunk);
        violations.extend(wrong(&put(config, target, jobs)?, &[401, 404, 429]));
        left -= chunk;
    }
    Ok(())
}

fn put(config: &MemoryConfig, target: &Target, jobs: Jobs) -> Result<LoadReport> {
    load::run(&Load {
        connections: config.connections.min(jobs.len()),
        ..Load::once_each(target.public, Arc::new(jobs))
    })
}

fn wrong(load: &LoadReport, statuses: &[u16]) -> Vec<String> {
    let others = load
        .outcomes
        .iter()
        .filter(|outcome| !statuses.contains(&outcome.status));
    let mut said: Vec<String> = others
        .map(|outcome| format!("{} answers {}, {statuses:?} expected", outcome.count, outcome.status))
        .collect();
    if 0 < load.unanswered_total() {
        said.push(format!("{} requests without an answer", load.unanswered_total()));
    }
    said
}

/// Purchases of activities that don't exist, each by another user from another address.
fn stranger_jobs(jobs: &mut Jobs, target: SocketAddr, count: usize, signer: &Signer, users: &mut UserIds) {
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
}

/// An open result stream whose head has come.
fn stream(target: SocketAddr, activity_id: u64, token: &str) -> Result<TcpStream> {
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
    fn slope_counts_what_was_added_between_the_readings() {
        let buyers = growth(Grown::Buyers, 100, 1_100, [50_000, 170_000]);
        assert_eq!(buyers.each_bytes(), 120.0);
        assert!(buyers.is_reached());
        assert!(!growth(Grown::Buyers, 100, 1_100, [50_000, 171_000]).is_reached());
        assert!(growth(Grown::ForgedTokens, 0, 1_000, [50_000, 40_000]).is_reached());
        assert!(!growth(Grown::Strangers, 0, 1_000, [0, 8_001]).is_reached());
    }

    #[test]
    fn strangers_differ_in_user_address_and_activity() {
        let mut jobs = Jobs::with_capacity(2);
        let signer = Signer::new(b"k", 1);
        stranger_jobs(
            &mut jobs,
            "127.0.0.1:1".parse().unwrap(),
            2,
            &signer,
            &mut UserIds::seeded(1),
        );
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
