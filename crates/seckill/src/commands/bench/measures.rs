//! What `seckill bench` measures at the server's limits: overload, memory, sale after sale, a restart, an expiry.

use std::sync::Arc;
use std::time::Duration;

use seckill_bench::bots;
use seckill_bench::bottleneck::Bottleneck;
use seckill_bench::expiry::{self, ExpiryConfig, UnitsTo};
use seckill_bench::flood::{self, FloodConfig, FloodReport};
use seckill_bench::memory::{self, MemoryConfig};
use seckill_bench::overload::{self, Clients, OverloadConfig};
use seckill_bench::report::Report;
use seckill_bench::restart::{self, RestartConfig};
use seckill_bench::server::ServerConfig;
use seckill_bench::soak::{self, SoakConfig};
use seckill_bench::subject::SubjectConfig;
use seckill_bench::switches::{self, SwitchesConfig};
use seckill_settings::parse_duration;

use super::{bar, fleet, measured, program};
use crate::cli::{BenchArgs, Overloaded};
use crate::exit::Failure;
use crate::logging::say;

/// Connections under overload. Refusals take a store's step, too: with fewer the client holds the load back itself.
const STORE_CONNECTIONS: usize = 4_000;
const PROCESSOR_CONNECTIONS: usize = 1_000;
/// As many rude people try at a time.
const RUDE_CONNECTIONS: usize = 4_000;
/// A sale with a bot farm: fewer units than the farm has accounts, and more people than units.
const BOTS_UNITS: u64 = 500;
const BOTS_PEOPLE: usize = 2_000;

/// What a run of a flood may last.
const FLOOD_RUN_MIN: Duration = Duration::from_millis(100);
const FLOOD_RUN_MAX: Duration = Duration::from_secs(3600);

pub(super) fn wanted(args: &BenchArgs) -> bool {
    args.overload.is_some()
        || args.memory
        || args.soak
        || args.restart.is_some()
        || args.expiry.is_some()
        || args.bots
        || args.flood
        || args.switches.is_some()
}

pub(super) fn run(args: &BenchArgs, report: &mut Report) -> Result<(), Failure> {
    if args.target.is_some() {
        return Err(Failure::usage(
            "--overload, --memory, --soak, --restart, --expiry, --bots, --flood and --switches start servers of their own: --target can't be given",
        ));
    }
    if let Some(overloaded) = args.overload {
        report.overloads.push(overload(args, overloaded)?);
    }
    if args.memory {
        say("measuring memory: some minutes");
        let config = MemoryConfig {
            buyers: args.memory_buyers,
            forged: args.memory_buyers,
            streams: args.memory_streams,
            ..MemoryConfig::usual(program()?)
        };
        report.memory = Some(memory::run(&config).map_err(measured)?);
    }
    if args.soak {
        report.soak = Some(soak(args)?);
    }
    if let Some(buyers) = args.restart {
        say(&format!("a sale with {buyers} buyers, then a kill and a restart"));
        let config = RestartConfig::usual(program()?, buyers);
        report.restart = Some(restart::run(&config).map_err(measured)?);
    }
    if args.flood {
        report.flood = Some(flood(args)?);
    }
    if let (Some(repetitions), Some(nodes)) = (args.switches, fleet(args)?) {
        say("turning every switch on and off at each node: some minutes");
        let config = SwitchesConfig::usual(nodes, repetitions);
        report.switches = Some(switches::run(&config).map_err(measured)?);
    }
    if args.bots {
        say("two sales with a bot farm");
        let (units, people) = (args.units.min(BOTS_UNITS), args.users.min(BOTS_PEOPLE));
        report.bots = bots::run(&ServerConfig::of(program()?), units, people).map_err(measured)?;
    }
    if let Some(orders) = args.expiry {
        for units_to in [UnitsTo::Product, UnitsTo::Sale] {
            let config = ExpiryConfig::usual(program()?, orders, units_to);
            let (word, wait_s) = (units_to.word(), config.pay_within.as_secs());
            say(&format!(
                "{orders} orders that expire in {wait_s} s, their units to the {word}"
            ));
            report.expiries.push(expiry::run(&config).map_err(measured)?);
        }
    }
    Ok(())
}

fn overload(args: &BenchArgs, overloaded: Overloaded) -> Result<overload::OverloadReport, Failure> {
    let product = fleet(args)?.map_or(SubjectConfig::Alone(ServerConfig::of(program()?)), SubjectConfig::Fleet);
    let (bottleneck, connections) = match (overloaded, &product) {
        (Overloaded::Processor, _) if args.rude => (Bottleneck::Processor, RUDE_CONNECTIONS),
        (Overloaded::Processor, _) => (Bottleneck::Processor, PROCESSOR_CONNECTIONS),
        (Overloaded::Store, SubjectConfig::Alone(_)) => {
            let held_ms = args.store_sync_ms;
            (Bottleneck::Store { held_ms }, STORE_CONNECTIONS)
        }
        (Overloaded::Store, SubjectConfig::Fleet(_)) => {
            let delay_ms = args.store_delay_ms;
            (Bottleneck::RemoteStore { delay_ms }, STORE_CONNECTIONS)
        }
    };
    let config = OverloadConfig {
        product,
        bottleneck,
        clients: if args.rude { Clients::Rude } else { Clients::AskOnce },
        seconds: args.overload_s,
        connections,
        threads: 1,
    };
    overload::run(&config).map_err(measured)
}

fn flood(args: &BenchArgs) -> Result<FloodReport, Failure> {
    let seconds = args.flood_s;
    let run_max = Duration::try_from_secs_f64(seconds).ok();
    let run_max = run_max.filter(|time| (FLOOD_RUN_MIN..=FLOOD_RUN_MAX).contains(time));
    let run_max = run_max.ok_or_else(|| Failure::usage(format!("--flood-s: {seconds} is not between 0.1 and 3600")))?;
    let minutes = (run_max * flood::RUNS_TIME).as_secs_f64() / 60.0;
    say(&format!(
        "five pairs of runs, alone and in a flood of forged requests: up to {minutes:.1} minutes"
    ));
    let executable = program()?;
    flood::run(&FloodConfig { executable, run_max }).map_err(measured)
}

fn soak(args: &BenchArgs) -> Result<soak::SoakReport, Failure> {
    let over = args.over.as_deref().map(|over| {
        parse_duration(over).ok_or_else(|| Failure::usage(format!("--over: {over:?} is no duration, such as 20m")))
    });
    let over = over.transpose()?;
    let bar = bar(args.sales as u64);
    let moved = bar.clone();
    let config = SoakConfig {
        sales: args.sales,
        over,
        progress: Some(Arc::new(move |done, _| moved.set_position(done))),
        ..SoakConfig::usual(program()?)
    };
    let soak = soak::run(&config);
    bar.finish_and_clear();
    soak.map_err(measured)
}
