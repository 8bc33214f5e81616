//! Starts other programs and carries their exit codes back to ours.
//!
//! A program that fails has already said why on the terminal, so the error here only names it. It
//! does not time out and does not retry: what hangs or flakes is to be seen.

use std::ffi::OsStr;
use std::fmt;
use std::process::{Command, Stdio};

use anyhow::Context as _;

/// A program that ended with a code other than 0.
#[derive(Debug)]
pub(crate) struct Failed {
    program: String,
    /// `None` where a signal ended it.
    code: Option<i32>,
}

impl fmt::Display for Failed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(out, "`{}` ended with exit code {code}", self.program),
            None => write!(out, "`{}` was ended by a signal", self.program),
        }
    }
}

impl std::error::Error for Failed {}

/// The code this process should end with: that of the failed program where there is one, else 1.
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    error
        .chain()
        .find_map(|cause| cause.downcast_ref::<Failed>())
        .and_then(|failed| u8::try_from(failed.code?).ok())
        .filter(|code| *code != 0)
        .unwrap_or(1)
}

/// The same cargo that runs us, so that toolchains don't mix.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Says what is started, runs it on our terminal, and fails as it fails.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let line = line(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("could not start `{line}`"))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failed {
            program: line,
            code: status.code(),
        }
        .into())
    }
}

/// Runs it silently; what it said is shown only if it fails.
pub(crate) fn run_quietly(command: &mut Command) -> anyhow::Result<String> {
    let line = line(command);
    println!("$ {line}");
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("could not start `{line}`"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    eprintln!("{said}{}", String::from_utf8_lossy(&output.stderr));
    Err(Failed {
        program: line,
        code: output.status.code(),
    }
    .into())
}

/// What a program printed when asked without a word on our terminal; `None` where it can't be
/// started or fails.
pub(crate) fn ask(program: impl AsRef<OsStr>, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The command as a person would type it, without the folder of the program.
fn line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(name)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_failed_programs_code_becomes_ours_even_behind_context() {
        let error = run(Command::new("sh").args(["-c", "exit 100"])).unwrap_err();
        assert_eq!(exit_code(&error.context("tests failed")), 100);
    }

    #[test]
    fn a_program_that_cannot_be_started_is_code_one_and_is_named() {
        let error = run(&mut Command::new("no-such-program-here")).unwrap_err();
        assert_eq!(exit_code(&error), 1);
        assert!(format!("{error:#}").contains("no-such-program-here"), "{error:#}");
    }

    #[test]
    fn asking_a_program_that_fails_or_is_missing_gives_nothing() {
        assert_eq!(ask("sh", &["-c", "echo yes"]).as_deref(), Some("yes"));
        assert_eq!(ask("sh", &["-c", "echo yes; exit 1"]), None);
        assert_eq!(ask("no-such-program-here", &[]), None);
    }
}
