//! What a claim costs the server, beside the articles' algorithm on the same client: one script call a buyer, with the queue in it.
//!
//! `cargo bench -p seckill-engine-redis --bench claims -- [claims a run] [appendfsync] [in flight]` on a Redis of its own. Every claim is
//! admitted, which is what costs most. Both sides keep as many claims in flight, 256 where nothing else is said, on one multiplexed
//! connection; ours has one batcher, as every process has.
//!
//! With `cluster` before the numbers, a table of sales in 1, 2, 4 and 8 shards on a cluster of its own, three masters with a replica each; with
//! `redis-cluster://host:port` in its place on one that runs already, whose keys all go.
#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

mod article;
mod shards;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rand::RngExt as _;
use seckill_engine_redis::{Engine, Options};
use seckill_sale::{ActivityId, Claim, Quantity, RequestId, RequestKey, Shards, UserId};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Batcher, Opening, Stock};
use seckill_testkit::Redis;

/// Claims in flight where no number is given.
const IN_FLIGHT: usize = 256;
/// Claims of a run where no number is given.
const CLAIMS: usize = 200_000;
/// Interleaved pairs.
const PAIRS: usize = 5;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// What a run came to.
struct Run {
    claims_per_s: f64,
    /// Of the server, in microseconds.
    cpu_a_claim: f64,
    /// Claims that a script call decided, on average.
    batch: f64,
}

/// What is sold.
struct Sale {
    activity: u64,
    shards: Shards,
    units: u64,
}

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    if let Some(place) = words
        .first()
        .filter(|word| word.starts_with(shards::WORD) || word.starts_with(shards::SCHEME))
    {
        return shards::table(place, &words[1..]);
    }
    let claims = words.first().and_then(|word| word.parse().ok()).unwrap_or(CLAIMS);
    let policy = words.get(1).map_or("everysec", String::as_str);
    let in_flight = words.get(2).and_then(|word| word.parse().ok()).unwrap_or(IN_FLIGHT);
    let redis = Redis::start();
    said(&redis, &["CONFIG", "SET", "appendfsync", policy]);
    println!("{claims} claims a run, {in_flight} in flight, appendfsync {policy}:");
    let (mut rates, mut costs) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let users = users(claims)?;
        let article = measured(&redis, claims, || article::run(&redis.url(), pair, &users, in_flight))?;
        let ours = measured(&redis, claims, || {
            let sale = Sale {
                activity: 1 + pair as u64,
                shards: Shards::ONE,
                units: claims as u64,
            };
            batched(&redis.url(), &sale, &users, in_flight)
        })?;
        println!(
            "  article {:>7.0}/s {:.2} µs a claim   ours {:>7.0}/s {:.2} µs, {:.0} claims a call",
            article.claims_per_s, article.cpu_a_claim, ours.claims_per_s, ours.cpu_a_claim, ours.batch
        );
        rates.push(ours.claims_per_s / article.claims_per_s);
        costs.push(ours.cpu_a_claim / article.cpu_a_claim);
    }
    for (name, ratios) in [("claims a second", &mut rates), ("CPU a claim", &mut costs)] {
        ratios.sort_by(f64::total_cmp);
        println!(
            "  {name}: {:.2} x the article's ({:.2} to {:.2})",
            ratios[PAIRS / 2],
            ratios[0],
            ratios[PAIRS - 1]
        );
    }
    Ok(())
}

/// Scattered users, and none twice.
fn users(count: usize) -> Outcome<Vec<UserId>> {
    let mut random = rand::rng();
    let user = |number| format!("{:06}{:011}", random.random::<u32>() % 1_000_000, number);
    Ok((0..count)
        .map(user)
        .map(|user| UserId::new(&user))
        .collect::<Result<_, _>>()?)
}

/// Runs on a server without sales, and asks the server what it cost.
fn measured(redis: &Redis, claims: usize, run: impl FnOnce() -> Outcome<usize>) -> Outcome<Run> {
    redis.flush_all();
    said(redis, &["CONFIG", "RESETSTAT"]);
    let (before, begun) = (cpu_s(redis), Instant::now());
    let admitted = run()?;
    let (took, used) = (begun.elapsed().as_secs_f64(), cpu_s(redis) - before);
    if admitted != claims {
        return Err(format!("{admitted} of {claims} claims were admitted").into());
    }
    let calls = figure(redis, "commandstats", "cmdstat_evalsha:calls=");
    Ok(Run {
        claims_per_s: claims as f64 / took,
        cpu_a_claim: used * 1e6 / claims as f64,
        batch: claims as f64 / calls,
    })
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime needs descriptors only")
}

/// Our engine, with its batcher. Gives how many were admitted.
fn batched(url: &str, sale: &Sale, users: &[UserId], in_flight: usize) -> Outcome<usize> {
    let activity = ActivityId::new(sale.activity)?;
    runtime().block_on(async {
        let engine = Engine::connect(Options {
            backlog_max: u64::MAX >> 16,
            ..Options::new(url.to_owned(), "bench".to_owned())
        })
        .await?;
        let mut opening = Opening {
            shards: sale.shards,
            ..Fixture::opening(activity, sale.units)
        };
        opening.opened.terms.window.starts_at = seckill_sale::EpochMs(0);
        opening.opened.terms.window.ends_at = seckill_sale::EpochMs(i64::from(u32::MAX) * 1000);
        engine.open(opening).await?;
        let (batcher, claims) = Batcher::new(Arc::new(engine), in_flight * 2);
        let (next, admitted) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let buyer = || async {
            while let Some(user) = users.get(next.fetch_add(1, Ordering::Relaxed)) {
                let claim = claim(activity, user);
                if claims.claim(claim).await.is_ok() {
                    admitted.fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        tokio::select! {
            _ = futures_util::future::join_all((0..in_flight).map(|_| buyer())) => {}
            () = batcher.run() => unreachable!("it runs for ever"),
        }
        Ok(admitted.into_inner())
    })
}

fn claim(activity: ActivityId, user: &UserId) -> Claim {
    let bits = rand::rng().random::<u64>();
    Claim {
        activity,
        user: user.clone(),
        quantity: Quantity::new(1).expect("in range"),
        key: RequestKey(rand::rng().random()),
        request_id: RequestId::from_bits(bits),
    }
}

fn said(redis: &Redis, words: &[&str]) {
    let answer = redis.command(words).expect("the server answers");
    assert!(answer.starts_with("+OK"), "{words:?}: {answer}");
}

/// Processor time that the server has used, in seconds.
fn cpu_s(redis: &Redis) -> f64 {
    figure(redis, "cpu", "used_cpu_sys:") + figure(redis, "cpu", "used_cpu_user:")
}

fn figure(redis: &Redis, section: &str, name: &str) -> f64 {
    let info = redis.command(&["INFO", section]).expect("the server answers");
    let number = info
        .lines()
        .find_map(|line| line.strip_prefix(name)?.split(',').next()?.trim().parse().ok());
    number.unwrap_or(0.0)
}
