//! Log lines: to stderr, as JSON or text. A reader that went away, or a full disk behind it, never stops the process.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

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
    let started = if is_text(log.format, io::stderr().is_terminal()) {
        lines.with_target(false).try_init()
    } else {
        lines.json().flatten_event(true).try_init()
    };
    started.map_err(|error| Failure::failed(format!("logging: {error}")))
}

const fn is_text(format: LogFormat, on_terminal: bool) -> bool {
    match format {
        LogFormat::Auto => on_terminal,
        LogFormat::Text => true,
        LogFormat::Json => false,
    }
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

/// Whether something went to stdout: with `--json` there is one document and no second one.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Says why a command failed: on stderr, and with `--json` as the document on stdout where there is none yet.
pub(crate) fn say_failure(error: &str, exit_code: u8, json: bool) {
    say(&format!("seckill: {error}"));
    if json && !PRINTED.load(Ordering::Relaxed) {
        let _ = print(&serde_json::json!({"error": error, "exit_code": exit_code}).to_string());
    }
}

/// Prints a result: the only thing that goes to stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    PRINTED.store(true, Ordering::Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_text_on_a_terminal_and_json_elsewhere_unless_one_is_asked_for() {
        let is = |format| [true, false].map(|on_terminal| is_text(format, on_terminal));
        assert_eq!(is(LogFormat::Auto), [true, false]);
        assert_eq!(is(LogFormat::Text), [true, true]);
        assert_eq!(is(LogFormat::Json), [false, false]);
    }
}
