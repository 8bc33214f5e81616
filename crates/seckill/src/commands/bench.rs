//! `seckill bench`: the canonical sale with its audit, and the comparisons with a bare listener.

mod comparisons;
mod interrupted;
mod measures;
mod served;

use std::path::Path;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use seckill_bench::canonical::{SaleConfig, run_in_temporary_folder, run_on_target};
use seckill_bench::fleet::{FleetConfig, run_sale};
use seckill_bench::report::Report;
use seckill_bench::server::ServerConfig;
use seckill_bench::target::Target;
use seckill_settings::JwtKey;

use super::Context;
use super::remote::Remote;
use crate::cli::{Baseline, BenchArgs};
use crate::exit::{Failure, Outcome, chain};
use crate::logging::print;

pub(super) fn run(context: &Context, args: &BenchArgs) -> Outcome {
    if args.serve_hello {
        return served::hello(args);
    }
    if args.serve_naive {
        return served::naive(context, args);
    }
    interrupted::unless_interrupted(context, || measure(context, args))
}

fn measure(context: &Context, args: &BenchArgs) -> Outcome {
    let mut report = Report::default();
    if measures::wanted(args) {
        measures::run(args, &mut report)?;
        return finish(context, args, &report);
    }
    if args.baseline == Some(Baseline::Naive) {
        report.article = Some(comparisons::with_article(args)?);
        return finish(context, args, &report);
    }
    if args.only.is_empty() {
        report.sale = Some(sale(context, args)?);
    }
    let is_whole = args.target.is_none() && args.fleet.store.is_none();
    if args.baseline == Some(Baseline::Hello) || is_whole || !args.only.is_empty() {
        report.ratios = comparisons::with_bare(args)?;
    }
    finish(context, args, &report)
}

fn sale(context: &Context, args: &BenchArgs) -> Result<seckill_bench::canonical::SaleReport, Failure> {
    let bar = bar(args.users as u64);
    let moved = bar.clone();
    let config = SaleConfig {
        units: args.units,
        users: args.users,
        connections: args.connections,
        seed: args.seed,
        progress: Some(Arc::new(move |done, _| moved.set_position(done))),
        ..SaleConfig::canonical()
    };
    let sale = match (&args.target, fleet(args)?) {
        (Some(url), _) => run_on_target(&target(context, args, url)?, &config),
        (None, Some(fleet)) => run_sale(&fleet, &config),
        (None, None) => run_in_temporary_folder(&ServerConfig::of(program()?), &config),
    };
    bar.finish_and_clear();
    sale.map_err(measured)
}

/// Processes on the services that were named.
fn fleet(args: &BenchArgs) -> Result<Option<FleetConfig>, Failure> {
    let (Some(store), Some(database)) = (&args.fleet.store, &args.fleet.database) else {
        return Ok(None);
    };
    Ok(Some(FleetConfig {
        executable: program()?,
        store: store.clone(),
        database: database.clone(),
        apis: args.fleet.api,
        workers: args.fleet.workers,
        environment: Vec::new(),
    }))
}

/// A running server: its public port from `--target`, its admin port and both secrets as every command finds them.
fn target(context: &Context, args: &BenchArgs, url: &str) -> Result<Target, Failure> {
    let (address, token) = Remote::new(context, &args.admin)?.into_parts();
    let settings = context.settings(args.admin.data.flags())?;
    let Some(JwtKey::Secret(secret)) = &settings.auth.key else {
        return Err(Failure::usage(
            "auth.jwt_secret must be the target's: buyers need tokens (SECKILL_AUTH__JWT_SECRET)",
        ));
    };
    Target::running(url, &address.to_string(), &token, secret.reveal().as_bytes()).map_err(measured)
}

fn finish(context: &Context, args: &BenchArgs, report: &Report) -> Outcome {
    print(&if context.json { report.json() } else { report.text() })?;
    if let Some(path) = &args.html {
        write(path, &report.html())?;
    }
    match report.violations() {
        violations if violations.is_empty() => Ok(()),
        violations => Err(Failure::violated(violations.join("; "))),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
}

fn program() -> Result<std::path::PathBuf, Failure> {
    std::env::current_exe().map_err(|error| Failure::failed(format!("this program's own path: {error}")))
}

fn measured(error: seckill_bench::Error) -> Failure {
    let text = chain(&error);
    match error {
        seckill_bench::Error::Usage(_) => Failure::usage(text),
        error if error.is_unreachable() => Failure::unreachable(text),
        _ => Failure::failed(text),
    }
}

/// A bar on stderr; nothing where stderr is no terminal.
fn bar(length: u64) -> ProgressBar {
    bar_with(length, "{wide_bar} {pos}/{len} {per_sec}")
}

/// The same with words of one's own.
pub(super) fn bar_with(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}
