//! Our own tooling, started as `cargo xtask COMMAND`.
//!
//! What CI checks can be run at home by one of these commands. This file only reads the command
//! line and turns the outcome into an exit code; each command lives in a file of its own. Nothing
//! here is part of the product: no other crate may depend on this one.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to its terminal"
)]

mod fuzz_api;
mod instructions;
mod needed;
mod process;
mod run_ci;
mod run_tests;
mod test_needs;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use workspace::Workspace;

const HELP: &str = "\
cargo xtask COMMAND

  test [-- NEXTEST ARGUMENTS]  install what the tests need, build, run all tests
  tidy [--bless]               our own checks; --bless rewrites xtask/ratchet.toml to today's sizes
  instructions [--bless]       count the instructions of claim, gate and settle, and compare them with
                               benches/instructions.toml; --bless rewrites it
  fuzz-api                     requests made from the OpenAPI documents, to a server that is started for them: no answer
                               may be a bug, and no operation left out. Needs python3; what it takes besides is installed
                               into target/tools
  ci                           everything that CI checks: format, lints, docs, tidy, dependencies, fuzz-api, tests
  help                         this text";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
enum Task {
    Test { nextest_arguments: Vec<String> },
    Tidy { bless: bool },
    Instructions { bless: bool },
    FuzzApi,
    Ci,
    Help,
}

/// Reads the words behind `cargo xtask`. The error is the sentence for the user.
fn parse(words: &[String]) -> Result<Task, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["help" | "-h" | "--help", ..] | [_, "-h" | "--help"] => Ok(Task::Help),
        ["test"] => Ok(Task::Test {
            nextest_arguments: Vec::new(),
        }),
        ["test", "--", rest @ ..] => Ok(Task::Test {
            nextest_arguments: rest.iter().map(ToString::to_string).collect(),
        }),
        ["test", ..] => Err("arguments for nextest come after `--`: cargo xtask test -- NAME".into()),
        ["tidy"] => Ok(Task::Tidy { bless: false }),
        ["tidy", "--bless"] => Ok(Task::Tidy { bless: true }),
        ["instructions"] => Ok(Task::Instructions { bless: false }),
        ["instructions", "--bless"] => Ok(Task::Instructions { bless: true }),
        ["fuzz-api"] => Ok(Task::FuzzApi),
        ["ci"] => Ok(Task::Ci),
        other => Err(format!("unknown command: {}", other.join(" "))),
    }
}

fn run(task: &Task) -> anyhow::Result<()> {
    match task {
        Task::Help => {
            println!("{HELP}");
            Ok(())
        }
        Task::Test { nextest_arguments } => run_tests::run(&Workspace::load()?, nextest_arguments),
        Task::Tidy { bless } => tidy::run(&Workspace::load()?, *bless),
        Task::Instructions { bless } => instructions::run(&Workspace::load()?, *bless),
        Task::FuzzApi => fuzz_api::run(&Workspace::load()?),
        Task::Ci => run_ci::run(&Workspace::load()?),
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let task = match parse(&words) {
        Ok(task) => task,
        Err(sentence) => {
            eprintln!("xtask: {sentence}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    match run(&task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(process::exit_code(&error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: &Option<Task>) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        assert_eq!(&parse(&words).ok(), expect, "{line}");
    }

    #[test]
    fn each_command_is_understood_and_anything_else_is_refused() {
        check("", &Some(Task::Help));
        check("tidy --help", &Some(Task::Help));
        check("tidy", &Some(Task::Tidy { bless: false }));
        check("tidy --bless", &Some(Task::Tidy { bless: true }));
        check("instructions --bless", &Some(Task::Instructions { bless: true }));
        check("fuzz-api", &Some(Task::FuzzApi));
        check("ci", &Some(Task::Ci));
        check("ci fast", &None);
        check("bench", &None);
    }

    #[test]
    fn words_behind_the_dashes_go_to_nextest_untouched() {
        let given = |words: &[&str]| Task::Test {
            nextest_arguments: words.iter().map(ToString::to_string).collect(),
        };
        check("test", &Some(given(&[])));
        check(
            "test -- -p seckill-sale sold_out",
            &Some(given(&["-p", "seckill-sale", "sold_out"])),
        );
        check("test sold_out", &None);
    }
}
