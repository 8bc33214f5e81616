//! Rate and processor time of a sale in 1, 2, 4 and 8 shards, over the masters of a cluster.
//!
//! Units are dealt evenly and buyers are not, so the last ones of a shard may find it empty and have units pulled from the others: a sale has a
//! fifth more units than buyers, since that is another measurement. Where shards lie is up to their keys: every run has another sale.

use std::time::Instant;

use seckill_sale::Shards;
use seckill_testkit::{Redis, RedisCluster};

use crate::{Outcome, Sale, batched, cpu_s, figure, said, users};

/// Asks for a cluster of its own.
pub(crate) const WORD: &str = "cluster";
/// The address of a cluster that runs already.
pub(crate) const SCHEME: &str = "redis-cluster://";

/// Shards of a sale.
const SHARDS: [u16; 4] = [1, 2, 4, 8];
/// Interleaved runs of each.
const RUNS: usize = 5;
/// Claims of a run where no number is given.
const CLAIMS: usize = 100_000;
/// Claims in flight where no number is given: a node's two batches are full, and as many wait.
const IN_FLIGHT: usize = 1_024;

/// What a run came to; processor time in microseconds a claim.
#[derive(Clone, Copy)]
struct Run {
    claims_per_s: f64,
    /// Claims that a script call decided, on average.
    batch: f64,
    /// Of all masters.
    cpu_all: f64,
    /// Of the master that used most.
    cpu_most: f64,
}

/// Prints the table. `place` is a cluster's address, or [`WORD`]; `numbers` are claims a run, and claims in flight.
pub(crate) fn table(place: &str, numbers: &[String]) -> Outcome<()> {
    let own = (!place.starts_with(SCHEME)).then(RedisCluster::start);
    let url = own.as_ref().map_or_else(|| place.to_owned(), RedisCluster::url);
    let masters = masters(&url)?;
    let mut numbers = numbers.iter().filter_map(|word| word.parse().ok());
    let claims = numbers.next().unwrap_or(CLAIMS);
    let in_flight = numbers.next().unwrap_or(IN_FLIGHT);
    println!(
        "{claims} claims a run, {in_flight} in flight, {} masters:",
        masters.len()
    );
    let mut runs = SHARDS.map(|_| Vec::new());
    for round in 0..RUNS {
        for (at, shards) in SHARDS.into_iter().enumerate() {
            let activity = 1 + (round * SHARDS.len() + at) as u64;
            runs[at].push(run(&url, &masters, activity, shards, claims, in_flight)?);
        }
    }
    println!(
        "  shards   claims/s   claims a call   CPU a claim, all masters   busiest master   claims/s of a whole core there"
    );
    for (shards, runs) in SHARDS.into_iter().zip(&runs) {
        let median = |figure: fn(&Run) -> f64| {
            let mut figures: Vec<f64> = runs.iter().map(figure).collect();
            figures.sort_by(f64::total_cmp);
            figures[RUNS / 2]
        };
        let cpu_most = median(|run| run.cpu_most);
        println!(
            "  {shards:>6}   {:>8.0}   {:>13.0}   {:>21.2} µs   {cpu_most:>11.2} µs   {:>29.0}",
            median(|run| run.claims_per_s),
            median(|run| run.batch),
            median(|run| run.cpu_all),
            1e6 / cpu_most,
        );
    }
    Ok(())
}

fn run(url: &str, masters: &[Redis], activity: u64, shards: u16, claims: usize, in_flight: usize) -> Outcome<Run> {
    for master in masters {
        master.flush_all();
        said(master, &["CONFIG", "RESETSTAT"]);
    }
    let users = users(claims)?;
    let before: Vec<f64> = masters.iter().map(cpu_s).collect();
    let begun = Instant::now();
    let sale = Sale {
        activity,
        shards: Shards::new(shards.into())?,
        units: (claims + claims / 5) as u64,
    };
    let admitted = batched(url, &sale, &users, in_flight)?;
    let took = begun.elapsed().as_secs_f64();
    let used = masters
        .iter()
        .zip(before)
        .map(|(master, before)| cpu_s(master) - before);
    let used: Vec<f64> = used.map(|seconds| seconds * 1e6 / claims as f64).collect();
    if admitted != claims {
        return Err(format!("{admitted} of {claims} claims were admitted in {shards} shards").into());
    }
    let calls: f64 = masters
        .iter()
        .map(|master| figure(master, "commandstats", "cmdstat_evalsha:calls="))
        .sum();
    Ok(Run {
        claims_per_s: claims as f64 / took,
        batch: claims as f64 / calls,
        cpu_all: used.iter().sum(),
        cpu_most: used.iter().copied().fold(0.0, f64::max),
    })
}

/// The masters that have slots, as the first server of the address says.
fn masters(url: &str) -> Outcome<Vec<Redis>> {
    let hosts = url.strip_prefix(SCHEME).ok_or("a cluster's address begins so")?;
    let first = hosts.split(',').next().unwrap_or_default().parse()?;
    let nodes = Redis::at(first).command(&["CLUSTER", "NODES"])?;
    let mut masters = Vec::new();
    for line in nodes.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if words.len() > 8 && words[2].split(',').any(|flag| flag == "master") {
            let address = words[1].split('@').next().unwrap_or_default();
            masters.push(Redis::at(address.parse()?));
        }
    }
    if masters.is_empty() {
        return Err(format!("no master of {url} has slots").into());
    }
    // Behind its making a cluster takes a moment until each of its servers serves.
    for master in &masters {
        master.until(&["CLUSTER", "INFO"], "cluster_state:ok");
    }
    Ok(masters)
}
