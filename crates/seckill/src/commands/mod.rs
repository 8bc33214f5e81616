//! The commands, one a file; each reads its arguments and calls what does the work.

mod activity;
mod audit;
mod audit_rows;
mod bench;
mod blocks;
mod check;
mod config;
mod dead_letters;
mod demo;
mod journal;
mod moment;
mod plan;
mod product;
mod recover;
mod remote;
mod report;
mod serve;
mod switches;
mod token;

use std::fmt::Display;

use clap::CommandFactory;
use seckill_settings::{Settings, Sources};

use crate::cli::{ActivityCommand, Cli, Command, DataArgs};
use crate::exit::{Failure, Outcome};
use crate::logging::print;

/// Runs what was asked.
pub(crate) fn run(cli: Cli) -> Outcome {
    let context = Context {
        config: cli.config,
        json: cli.json,
    };
    match cli.command {
        Command::Serve(args) => serve::serve(&context, &args),
        Command::Demo(args) => demo::run(&context, &args),
        Command::Activity { admin, command } => activity::run(&context, &admin, &command),
        Command::Product { admin, command } => product::run(&context, &admin, &command),
        Command::Preheat { admin, id } => activity::run(&context, &admin, &ActivityCommand::Preheat { id }),
        Command::Switches { admin, command } => switches::run(&context, &admin, &command),
        Command::Blocks { admin, command } => blocks::run(&context, &admin, &command),
        Command::DeadLetters { admin, command } => dead_letters::run(&context, &admin, &command),
        Command::Audit { admin, id } => audit::audit(&context, &admin, id),
        Command::AuditRows { admin, args } => audit_rows::run(&context, &admin, &args),
        Command::Check { admin, id } => check::run(&context, &admin, id),
        Command::Reconcile { admin, args } => audit::reconcile(&context, &admin, &args),
        Command::Recover(args) => recover::recover(&context, &args),
        Command::Journal { data, command } => journal::journal(&context, &data, &command),
        Command::Bench(args) => bench::run(&context, &args),
        Command::Plan(args) => plan::run(&context, &args),
        Command::Work(args) => serve::work(&context, &args),
        Command::Migrate(args) => serve::migrate(&context, &args),
        Command::Token(args) => token::run(&context, &args),
        Command::Config { command } => config::run(&context, command),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "seckill", &mut script);
            print(String::from_utf8_lossy(&script).trim_end())
        }
    }
}

/// What stands before the command.
pub(crate) struct Context {
    config: Option<std::path::PathBuf>,
    pub(crate) json: bool,
}

/// One flag that overrides a setting.
pub(crate) type Flag = (String, String);

impl Context {
    /// Where settings come from.
    pub(crate) fn sources(&self, flags: Vec<Flag>) -> Result<Sources, Failure> {
        Ok(Sources::of_process(self.config.clone(), flags)?)
    }

    /// The settings, all sources taken together.
    pub(crate) fn settings(&self, flags: Vec<Flag>) -> Result<Settings, Failure> {
        Settings::check(&self.sources(flags)?).map_err(|errors| refused(&errors))
    }
}

/// All that is wrong with settings, as one failure.
pub(crate) fn refused(errors: &[impl Display]) -> Failure {
    let mut lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
    lines.dedup();
    match &lines[..] {
        [one] => Failure::usage(one),
        many => Failure::usage(format!(
            "{} of the settings cannot be used:\n  {}",
            many.len(),
            many.join("\n  ")
        )),
    }
}

impl DataArgs {
    /// The flag as a setting.
    pub(crate) fn flags(&self) -> Vec<Flag> {
        flag("data_dir", self.data_dir.as_ref())
    }
}

/// A flag that was given, as a setting.
pub(crate) fn flag(key: &str, value: Option<&String>) -> Vec<Flag> {
    value.map(|value| (key.to_owned(), value.clone())).into_iter().collect()
}
