//! `cargo xtask fuzz-api`: requests that the API's own documents give rise to, by schemathesis, to a server that this starts. What is looked
//! for is an answer that is a bug: any 5xx but 503, and any panic. The server counts them itself, so that nothing depends on how the tool
//! words its findings.
//!
//! The same requests each time: nothing is drawn by chance. Where the tool can't be had (no Python, no network), that is said, and nothing
//! is checked.

mod counted;
mod served;
mod venv;

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::process;
use crate::workspace::Workspace;
use served::Served;
use venv::Provided;

/// Longest time for both ports together. What was tried until then counts.
const TIME_MAX: Duration = Duration::from_secs(90);
/// Between two looks at whether the tool has ended.
const PAUSE: Duration = Duration::from_millis(100);

/// Asks both ports.
///
/// # Errors
/// An answer that is a bug, or a server that can't be built or started.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let sources = workspace.root.join("xtask/fuzz-api");
    let schemathesis = match venv::provide(workspace, &sources.join("requirements.txt"))? {
        Provided::At(program) => program,
        Provided::Not(reason) => {
            println!("fuzz-api: SKIPPED, nothing was checked: {reason}");
            return Ok(());
        }
    };
    process::run(
        process::cargo()
            .args(["build", "--workspace", "--bin", "seckill", "--quiet"])
            .current_dir(&workspace.root),
    )?;
    let served = Served::start(&workspace.target.join("debug/seckill"), &workspace.target.join("tools"))?;
    let end = Instant::now() + TIME_MAX;
    let ports = [
        (served.public, served.user_token(), "25", None),
        // A stream that never ends has no place here.
        (served.admin, served.admin_token(), "12", Some("/admin/api/live")),
    ];
    for (address, token, examples, left_out) in ports {
        let mut command = Command::new(&schemathesis);
        command.arg("--config-file").arg(sources.join("schemathesis.toml"));
        command.args(["run", &format!("http://{address}/openapi.json"), "--no-color"]);
        command.args(["--header", &format!("Authorization: Bearer {token}")]);
        command.args([
            "--checks",
            "not_a_server_error",
            "--phases",
            "examples,coverage,fuzzing",
        ]);
        command.args(["--max-examples", examples, "--generation-deterministic"]);
        command.args([
            "--suppress-health-check",
            "all",
            "--request-timeout",
            "20",
            "--warnings",
            "off",
        ]);
        left_out.map(|path| command.args(["--exclude-path", path]));
        finish(&mut command, served.folder(), end)?;
    }
    let asked = served.verdict()?;
    println!("fuzz-api: {asked} requests, no answer that is a bug");
    Ok(())
}

/// Runs the tool to its end, or to the end of its time.
fn finish(command: &mut Command, folder: &Path, end: Instant) -> anyhow::Result<()> {
    let mut tool = command
        .current_dir(folder)
        .stdin(Stdio::null())
        .spawn()
        .context("could not start schemathesis")?;
    loop {
        if let Some(status) = tool.try_wait()? {
            anyhow::ensure!(status.success(), "schemathesis ended with {status}");
            return Ok(());
        }
        if end <= Instant::now() {
            println!(
                "fuzz-api: stopped after {} s; what was tried counts",
                TIME_MAX.as_secs()
            );
            tool.kill()?;
            tool.wait()?;
            return Ok(());
        }
        thread::sleep(PAUSE);
    }
}
