//! Log lines: to stderr, as JSON or text. A reader that went away, or a full disk behind it, never stops the process.

use std::io::{self, Write};

use seckill_settings::{Log, LogFormat};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::exit::Failure;

/// Starts logging as the settings say.
pub(crate) fn start(log: &Log) -> Result<(), Failure> {
    let filter = filter(log)?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(Stderr)
        .with_ansi(false);
    let started = match log.format {
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
        LogFormat::Text => lines.with_target(false).try_init(),
    };
    started.map_err(|error| Failure::failed(format!("logging: {error}")))
}

/// What is logged.
///
/// # Errors
/// [`Failure::usage`] where `log.level` is no such thing.
pub(crate) fn filter(log: &Log) -> Result<EnvFilter, Failure> {
    EnvFilter::try_new(&log.level).map_err(|error| Failure::usage(format!("log.level: {error}")))
}

/// Says something to the person at the terminal.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints a result: the only thing that goes to stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::failed(format!("stdout: {error}"))),
        _ => Ok(()),
    }
}

/// Stderr whose errors are dropped: there is nobody left to tell.
#[derive(Clone, Copy)]
struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Stderr {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        *self
    }
}
