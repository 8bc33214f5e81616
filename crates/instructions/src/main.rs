//! `seckill-instructions`: runs one scenario, for a counter to count; lists them; or measures the pauses of growth.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Parser;
use seckill_instructions::growth::{self, Growth};
use seckill_instructions::{SCENARIOS, counted, find};

/// The product's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs a workload whose instructions are counted from outside: see `cargo xtask instructions`.
#[derive(Debug, Parser)]
#[command(name = "seckill-instructions", version)]
enum Command {
    /// Prints the names of all scenarios.
    List,
    /// Runs a scenario and prints how many operations it has done.
    Run {
        /// Its name.
        scenario: String,
        /// Operations, where they shall not be as many as usual.
        #[arg(long)]
        operations: Option<usize>,
    },
    /// Measures the longest step while buyers are admitted; fails where it is longer than P8 allows.
    Growth {
        /// Buyers.
        #[arg(long, default_value_t = 1_000_000)]
        buyers: usize,
    },
}

fn main() -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match Command::parse() {
        Command::List => {
            for scenario in SCENARIOS {
                writeln!(out, "{}", scenario.name)?;
            }
        }
        Command::Run { scenario, operations } => {
            let scenario = find(&scenario).with_context(|| format!("{scenario} is no scenario; see `list`"))?;
            let operations = operations.unwrap_or(scenario.operations);
            let mut prepared = scenario.prepare(operations)?;
            let as_expected = counted(&mut prepared)?;
            ensure!(
                as_expected == operations,
                "{as_expected} of {operations} operations of {} ended as they should",
                scenario.name
            );
            writeln!(out, "{operations}")?;
        }
        Command::Growth { buyers } => return report_growth(&growth::measure(buyers)?, &mut out),
    }
    Ok(ExitCode::SUCCESS)
}

fn report_growth(growth: &Growth, out: &mut impl io::Write) -> anyhow::Result<ExitCode> {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    writeln!(
        out,
        "ms a step without the disk    median    p99.99   longest   at buyers"
    )?;
    for (name, times) in [("by the clock", &growth.elapsed), ("on a core", &growth.cpu)] {
        let (longest, buyers) = times.longest();
        let [median, most, longest] = [times.quantile(0.5), times.quantile(0.9999), longest].map(ms);
        writeln!(out, "{name:<27} {median:>9.3} {most:>9.3} {longest:>9.3} {buyers:>11}")?;
    }
    if growth::PAUSE_MAX < growth.cpu.longest().0 {
        writeln!(out, "a step took more than {} ms", growth::PAUSE_MAX.as_millis())?;
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
