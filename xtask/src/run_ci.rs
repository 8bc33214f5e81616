//! `cargo xtask ci`: everything that CI checks, cheapest first, the tests last.
//!
//! It stops at the first failing step and leaves with that step's exit code. Each step says what it
//! runs and how long it took, and little else.

use std::time::Instant;

use anyhow::Context as _;

use crate::workspace::Workspace;
use crate::{fuzz_api, process, run_tests, tidy, tools};

/// A step: its name, and what it does.
type Step = (&'static str, fn(&Workspace) -> anyhow::Result<()>);

const STEPS: &[Step] = &[
    ("format", check_format),
    ("tidy", |workspace| tidy::run(workspace, false)),
    ("download", download),
    ("lints", check_lints),
    ("documentation", check_documentation),
    ("unused dependencies", check_unused),
    ("licences and sources", check_licences),
    ("requests from the API's documents", fuzz_api::run),
    ("tests", |workspace| run_tests::run(workspace, &[])),
];

/// Runs every step.
///
/// # Errors
/// Fails as the first failing step fails.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let (tests, checks) = STEPS.split_last().expect("there are steps");
    for (name, check) in checks {
        let start = Instant::now();
        println!("== {name}");
        check(workspace).context(*name)?;
        println!("== {name}: fine, {} s", start.elapsed().as_secs());
    }
    // Nothing is printed behind the tests: their summary is the last line of CI's log.
    let (name, run) = tests;
    println!("== {name}");
    run(workspace).context(*name)
}

fn cargo(workspace: &Workspace, words: &[&str]) -> std::process::Command {
    let mut cargo = process::cargo();
    cargo.args(words).current_dir(&workspace.root);
    cargo
}

fn check_format(workspace: &Workspace) -> anyhow::Result<()> {
    process::run(&mut cargo(workspace, &["fmt", "--all", "--check"]))
}

/// Also fails where `Cargo.lock` does not match the manifests. What comes after it needs no network.
fn download(workspace: &Workspace) -> anyhow::Result<()> {
    process::run(&mut cargo(workspace, &["fetch", "--locked", "--quiet"]))
}

fn check_lints(workspace: &Workspace) -> anyhow::Result<()> {
    let words = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ];
    process::run(&mut cargo(workspace, &words))
}

fn check_documentation(workspace: &Workspace) -> anyhow::Result<()> {
    let words = ["doc", "--workspace", "--no-deps", "--quiet"];
    process::run(cargo(workspace, &words).env("RUSTDOCFLAGS", "-D warnings"))
}

fn check_unused(workspace: &Workspace) -> anyhow::Result<()> {
    let machete = tools::MACHETE.provide(workspace)?;
    let mut command = std::process::Command::new(machete);
    process::run_quietly(command.args(["crates", "xtask"]).current_dir(&workspace.root))?;
    Ok(())
}

/// Advisories are left out: their database is not among what CI can reach.
fn check_licences(workspace: &Workspace) -> anyhow::Result<()> {
    let deny = tools::DENY.provide(workspace)?;
    let mut command = std::process::Command::new(deny);
    command.args([
        "--offline",
        "--log-level",
        "warn",
        "check",
        "bans",
        "licenses",
        "sources",
    ]);
    process::run(command.current_dir(&workspace.root))
}
