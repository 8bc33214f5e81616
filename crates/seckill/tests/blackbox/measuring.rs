//! What `seckill bench` measures on services that run already: small runs, of which what is counted and audited is looked at, and no speed.

use seckill_testkit::{Postgres, Redis};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::newcomer::{document, read};
use crate::program;

/// Requests of a run: 1,000 and not 60,000.
const REQUESTS: u64 = 1_000;
/// Rounds, or pairs.
const ROUNDS: u64 = 5;

/// Runs `seckill bench` on this Redis and a fresh database; what it prints.
fn bench(redis: &Redis, arguments: &[&str]) -> (i32, String, String) {
    let (folder, database) = (TempDir::new().expect("a folder"), Postgres::fresh());
    let (store, database) = (redis.url(), database.url());
    let services = ["bench", "--store", &store, "--database", &database];
    let arguments: Vec<_> = services.iter().chain(arguments).copied().collect();
    read(&program().run(folder.path(), &arguments))
}

/// The same, as a document of which nothing that must hold is violated.
fn measured(redis: &Redis, arguments: &[&str]) -> Value {
    let (code, stdout, stderr) = bench(redis, &[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{stdout}{stderr}");
    document(&stdout)["report"].take()
}

/// How many keys the server has that look so.
fn keys(redis: &Redis, pattern: &str) -> usize {
    let said = redis.command(&["KEYS", pattern]).expect("answers");
    said.lines()
        .next()
        .and_then(|count| count.strip_prefix('*')?.parse().ok())
        .expect("a list")
}

#[test]
fn the_articles_algorithm_and_a_bare_answer_are_compared_with_purchases_on_one_redis() {
    let redis = Redis::start_with(&[("appendfsync", "everysec")]);
    let requests = REQUESTS.to_string();
    let small = [
        "--baseline",
        "naive",
        "--pair-requests",
        &requests,
        "--pair-connections",
        "32",
    ];
    let (code, stdout, stderr) = bench(&redis, &small);
    assert_eq!(code, 0, "{stdout}{stderr}");
    for said in [
        "accepted purchases on Redis with AOF everysec, nobody settles: median (min to max) of 5 interleaved rounds",
        "wanted: at least 1.25: ",
        "wanted: at least 0.55: ",
        "runs of 1,000 requests, 32 connections; both audited after each run",
    ] {
        assert!(stdout.contains(said), "{said} is not in {stdout}");
    }
    // Whoever audits the algorithm's sale removes it; the product's sales stay, one a round and one before.
    assert_eq!(keys(&redis, "{naive:*"), 0);
    let sales = keys(&redis, "{a:*:meta") as u64;
    assert_eq!(sales, ROUNDS + 1);
    for sale in 2..=sales {
        redis.expect(&["HLEN", &format!("{{a:{sale}:0}}:buyers")], &format!(":{REQUESTS}"));
    }
}

#[test]
fn refusals_are_counted_at_the_redis_which_does_not_hear_of_them() {
    let redis = Redis::start();
    // With few connections each call of the store would carry few of them.
    let (requests, connections) = (REQUESTS.to_string(), "4");
    let small = ["--pair-requests", &requests, "--pair-connections", connections];
    let report = measured(&redis, &[&["--only", "refusals"], &small[..]].concat());
    let ratio = &report["ratios"][0];
    assert_eq!(ratio["comparison"], "refusals");
    let store = &ratio["store"];
    assert_eq!(store["requests"], json!(ROUNDS * REQUESTS));
    let figure = |name: &str| store[name].as_f64().expect("a number");
    let commands = store["work"]["commands"].as_f64().expect("a number");
    // Leases and refreshes go on meanwhile, and not always evenly. Claims would be a dozen commands for at most four refusals.
    let above_idle = commands - figure("idle_commands_per_s") * figure("seconds");
    assert!(
        above_idle < (ROUNDS * REQUESTS) as f64,
        "{above_idle} of {commands}: {store}"
    );
}

#[test]
fn a_long_way_to_redis_is_what_an_overloaded_store_is() {
    let redis = Redis::start_with(&[("appendfsync", "everysec")]);
    let delay = ["--store-delay-ms", "20", "--overload-s", "0.3"];
    let report = measured(&redis, &[&["--overload", "store"], &delay[..]].concat());
    let overload = &report["overloads"][0];
    assert_eq!(overload["bottleneck"], json!({"by": "remote_store", "delay_ms": 20}));
    let own_ms = overload["store_own_ms"].as_f64().expect("a number");
    assert!(20.0 <= own_ms, "{own_ms}");
    // One call decides 256 claims at the most, and each takes the delay.
    let capacity = overload["capacity_per_s"].as_f64().expect("a number");
    assert!(capacity <= 256.0 / 0.02, "{capacity}");
    let offered = overload["offered_per_s"].as_f64().expect("a number");
    assert!((offered / capacity - 5.0).abs() < 0.01, "{offered} of {capacity}");
}

/// A short storm of rude clients: what must be so in each, wherever the store is.
fn stormed(report: &Value) {
    let overload = &report["overloads"][0];
    let count = |of: &Value, name: &str| of[name].as_u64().expect("a count");
    let (people, load) = (&overload["people"], &overload["overload"]);
    let [wanted, came, accepted, left] = ["wanted", "came", "accepted", "left"].map(|name| count(people, name));
    assert!(accepted + left == came && came <= wanted && 0 < came, "{people}");
    // Nobody is refused for good; who is shed asks again and is counted again.
    let (requests, answered) = (count(people, "requests"), count(load, "answered"));
    assert!(
        came <= requests && answered <= requests && requests <= answered + left,
        "{people} {load}"
    );
    assert_eq!(count(load, "accepted"), accepted);
    let statuses = load["outcomes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|outcome| &outcome["status"]);
    assert!(
        statuses.clone().all(|status| *status == 202 || *status == 503),
        "{load}"
    );
    let offered = overload["offered_per_s"].as_f64().expect("a number");
    let capacity = overload["capacity_per_s"].as_f64().expect("a number");
    assert!((offered / capacity - 5.0).abs() < 0.01, "{offered} of {capacity}");
    assert!(0 < count(&overload["memory"], "after_bytes"), "{overload}");
}

#[test]
fn rude_clients_ask_until_they_have_a_ticket_and_nobody_of_them_is_lost() {
    let folder = TempDir::new().expect("a folder");
    let storm = [
        "bench",
        "--overload",
        "store",
        "--store-sync-ms",
        "20",
        "--rude",
        "--overload-s",
        "2",
    ];
    let (code, stdout, stderr) = read(&program().run(folder.path(), &[&storm[..], &["--json"]].concat()));
    assert_eq!(code, 0, "{stdout}{stderr}");
    stormed(&document(&stdout)["report"]);
}

#[test]
fn rude_clients_of_processes_on_redis_leave_no_gap_in_the_audit() {
    let redis = Redis::start_with(&[("appendfsync", "everysec")]);
    stormed(&measured(
        &redis,
        &["--overload", "processor", "--rude", "--overload-s", "2"],
    ));
}

#[test]
fn the_articles_algorithm_takes_a_redis_that_runs_already() {
    let folder = TempDir::new().expect("a folder");
    let (code, _, stderr) = read(&program().run(folder.path(), &["bench", "--baseline", "naive"]));
    assert!(code == 2 && stderr.contains("--store"), "{stderr}");
}

#[test]
fn a_bot_farm_of_one_network_gets_no_more_than_its_limit_and_people_get_the_rest() {
    let folder = TempDir::new().expect("a folder");
    let (code, stdout, stderr) = read(&program().run(folder.path(), &["bench", "--bots", "--json"]));
    assert_eq!(code, 0, "{stdout}{stderr}");
    let reports = document(&stdout)["report"]["bots"].take();
    let limited = &reports[1];
    assert_eq!(limited["rules"], "network", "{reports:#}");
    let units = |who: &str| limited[who].as_u64().expect("a count");
    assert!((1..=110).contains(&units("units_of_bots")), "{reports:#}");
    assert_eq!(
        units("units_of_bots") + units("units_of_honest"),
        units("units"),
        "{reports:#}"
    );
}

#[test]
fn every_switch_is_turned_at_three_nodes_and_each_says_what_it_should() {
    let redis = Redis::start();
    let report = measured(&redis, &["--switches", "1"])["switches"].take();
    assert_eq!((&report["nodes"], &report["repetitions"]), (&json!(3), &json!(1)));
    let times = report["times"].as_array().expect("a list");
    let named = |name: &str, since: &str| {
        let mut found = times
            .iter()
            .filter(|times| times["name"] == name && times["since"] == since);
        let times = found.next().unwrap_or_else(|| panic!("{name} is not in {report:#}"));
        times["samples"].as_u64().expect("a count")
    };
    for switch in [
        "entry_open",
        "read_only",
        "pause",
        "admit_ratio",
        "challenge",
        "limits.ip",
        "limits.network",
        "limits.user",
        "limits.device",
        "limits.activity",
        "limits.node",
        "block user",
        "block ip",
        "block device",
        "backlog_max",
    ] {
        for way in ["on", "off"] {
            assert_eq!(named(&format!("{switch} {way}"), "answer"), 2, "{switch} {way}");
        }
    }
    // All three nodes do it by themselves; how far they are apart is one figure.
    for (name, since, samples) in [
        ("expires_at", "moment", 3),
        ("resume at", "moment", 3),
        ("resume at", "first_node", 1),
        ("backlog drained", "first_node", 1),
    ] {
        assert_eq!(named(name, since), samples, "{name}");
    }
}
