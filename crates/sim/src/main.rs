//! Runs the simulator from the command line: prints its seed first, and what it has found last.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser;
use seckill_sim::{Fault, Outcome, Plan, run};

/// Drives the product through seeded accidents and audits it.
#[derive(Debug, Parser)]
#[command(name = "seckill-sim", version)]
struct Arguments {
    /// The first seed; a random one by the clock of the process where it is left out.
    #[arg(long)]
    seed: Option<u64>,
    /// How many seeds, from the first on.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Steps of a run before all heals.
    #[arg(long, default_value_t = Plan::STEPS)]
    steps: u32,
    /// Plants a fault that is to be found.
    #[arg(long)]
    fault: Option<Fault>,
    /// Prints the whole trace, not only its end.
    #[arg(long)]
    trace: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let first = arguments.seed.unwrap_or_else(fresh_seed);
    let mut out = io::stdout().lock();
    writeln!(out, "seed {first}")?;
    let mut plan = Plan {
        steps: arguments.steps,
        fault: arguments.fault,
        ..Plan::of_seed(first)
    };
    if arguments.trace {
        plan.lines_max = usize::MAX;
    }
    for seed in first..first.saturating_add(arguments.seeds) {
        plan.seed = seed;
        let outcome = run(&plan);
        if arguments.trace || outcome.violation.is_some() {
            for line in &outcome.trace {
                writeln!(out, "{line}")?;
            }
        }
        if let Outcome {
            violation: Some(violation),
            ..
        } = outcome
        {
            writeln!(out, "found with seed {seed}: {violation}")?;
            return Ok(ExitCode::FAILURE);
        }
    }
    writeln!(out, "{} seeds, nothing found", arguments.seeds)?;
    Ok(ExitCode::SUCCESS)
}

/// Differs from run to run; all else follows from what is printed.
fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id()) >> 32
}
