//! `seckill bench`: the canonical sale with its audit, and the comparisons with a bare listener.

mod measures;

use std::path::Path;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use seckill_bench::canonical::{SaleConfig, run_in_temporary_folder, run_on_target};
use seckill_bench::comparison::Comparison;
use seckill_bench::fleet::{FleetConfig, run_sale};
use seckill_bench::ratios::{RatioConfig, compare};
use seckill_bench::report::Report;
use seckill_bench::server::ServerConfig;
use seckill_bench::target::Target;
use seckill_listener::{BACKLOG_DEFAULT, Limits, Listener, Server, bare_error_answers, hello};
use seckill_settings::JwtKey;
use tokio_util::sync::CancellationToken;

use super::Context;
use super::remote::Remote;
use crate::cli::{Baseline, BenchArgs, Compared};
use crate::exit::{Failure, Outcome, chain};
use crate::logging::{print, say};

pub(super) fn run(context: &Context, args: &BenchArgs) -> Outcome {
    if args.serve_hello {
        return serve_hello(args);
    }
    let mut report = Report::default();
    if measures::wanted(args) {
        measures::run(args, &mut report)?;
        return finish(context, args, &report);
    }
    if args.only.is_empty() {
        report.sale = Some(sale(context, args)?);
    }
    let is_whole = args.target.is_none() && args.fleet.store.is_none();
    if args.baseline == Some(Baseline::Hello) || is_whole || !args.only.is_empty() {
        report.ratios = ratios(args)?;
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

fn ratios(args: &BenchArgs) -> Result<Vec<seckill_bench::comparison::RatioReport>, Failure> {
    let config = RatioConfig {
        pairs: args.pairs,
        ..RatioConfig::usual(program()?)
    };
    let chosen = |comparison: &Comparison| {
        args.only.is_empty() || args.only.iter().any(|&only| Comparison::from(only) == *comparison)
    };
    let all = Comparison::ALL.into_iter().filter(chosen).map(|comparison| {
        say(&format!(
            "comparing with the bare listener: {comparison}, {} pairs",
            config.pairs
        ));
        let usual = if comparison == Comparison::Acceptances {
            256
        } else {
            config.connections
        };
        let config = RatioConfig {
            connections: args.pair_connections.unwrap_or(usual),
            ..config.clone()
        };
        compare(comparison, &config).map_err(measured)
    });
    all.collect()
}

impl From<Compared> for Comparison {
    fn from(compared: Compared) -> Self {
        match compared {
            Compared::Refusals => Self::Refusals,
            Compared::FirstRefusals => Self::FirstRefusals,
            Compared::Acceptances => Self::Acceptances,
            Compared::ActivityPage => Self::ActivityPage,
            Compared::ResultPoll => Self::ResultPoll,
        }
    }
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

/// The bare listener that comparisons are made with: the product's accept loop, and nothing behind it.
fn serve_hello(args: &BenchArgs) -> Outcome {
    let address = args.listen.as_deref().unwrap_or("127.0.0.1:0");
    let address = address
        .parse()
        .map_err(|error| Failure::usage(format!("--listen {address}: {error}")))?;
    let shutdown = CancellationToken::new();
    let server = Server {
        listener: Listener::bind(address, BACKLOG_DEFAULT).map_err(|error| Failure::failed(chain(&error)))?,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        limits: Limits {
            connections_per_ip: usize::MAX,
            ..Limits::default()
        },
        error_answers: bare_error_answers(),
        shutdown: shutdown.clone(),
    };
    let handle = server
        .serve(hello::core)
        .map_err(|error| Failure::failed(chain(&error)))?;
    crate::serve::until_signal()?;
    shutdown.cancel();
    handle.join().map_err(|error| Failure::failed(chain(&error)))
}
