//! `seckill`: a flash-sale engine. This is the binary: command line, settings, wiring. The only crate that names an engine.

mod cli;
mod commands;
mod exit;
mod logging;
mod serve;

use std::process::ExitCode;

use clap::Parser;

use cli::Cli;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to stdout and are no error; everything else is wrong usage. A closed pipe is nobody's fault.
            if !error.use_stderr() || !std::env::args_os().any(|argument| argument == "--json") {
                let _ = error.print();
                return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
            }
            logging::say_failure(error.to_string().trim_start_matches("error: ").trim_end(), 2, true);
            return ExitCode::from(2);
        }
    };
    let json = cli.json;
    match commands::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            logging::say_failure(&failure.to_string(), failure.exit_code(), json);
            ExitCode::from(failure.exit_code())
        }
    }
}
