//! `cargo xtask fuzz-api`: requests that the API's own documents give rise to, by schemathesis, to a server that this starts. What is looked
//! for is an answer that is a bug: any 5xx but 503, and any panic. The server counts them itself, so that nothing depends on how the tool
//! words its findings; it counts by operation, too, and one of its documents that nobody asked is a failure like a bug.
//!
//! The same requests each time: nothing is drawn by chance. Each port has a time of its own, far more than it takes; a tool that has not
//! ended by then is a failure. Where it can't be had (no Python, no network), that is said, and nothing is checked.

mod counted;
mod live;
mod operations;
mod served;
mod venv;

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::process;
use crate::workspace::Workspace;
use operations::{all_were_asked, operations};
use served::Served;
use venv::Provided;

/// Longest time for one port: several times what it takes on two busy processors.
const TIME_MAX: Duration = Duration::from_secs(120);
/// Between two looks at whether the tool has ended.
const PAUSE: Duration = Duration::from_millis(100);

/// Asks an address with a token.
type Ask = fn(SocketAddr, &str) -> anyhow::Result<()>;

/// A port, and how it is asked.
struct Port<'a> {
    name: &'static str,
    address: SocketAddr,
    token: &'a str,
    /// Requests that the tool makes up for each operation, beyond those of the document and of every boundary.
    examples: &'static str,
    /// A path that the tool leaves out, and what asks it in its place.
    aside: Option<(&'static str, Ask)>,
}

/// Asks both ports.
///
/// # Errors
/// An answer that is a bug, an operation that was not asked, a tool that did not end, or a server that can't be built or started.
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
    let ports = [
        Port {
            name: "the public port",
            address: served.public,
            token: served.user_token(),
            examples: "120",
            aside: None,
        },
        Port {
            name: "the admin port",
            address: served.admin,
            token: served.admin_token(),
            examples: "60",
            aside: Some(("/admin/api/live", live::ask)),
        },
    ];
    for port in &ports {
        check(&schemathesis, &sources.join("schemathesis.toml"), &served, port).context(port.name)?;
    }
    let asked = served.verdict()?;
    println!("fuzz-api: {asked} requests, no answer that is a bug");
    Ok(())
}

/// Asks one port for everything that its document has.
fn check(schemathesis: &Path, settings: &Path, served: &Served, port: &Port<'_>) -> anyhow::Result<()> {
    let operations = operations(&served.document(port.address)?)?;
    let before = served.counted()?;
    let begun = Instant::now();
    let is_whole = finish(
        &mut command(schemathesis, settings, port),
        served.folder(),
        begun + TIME_MAX,
    )?;
    if let Some((_, ask)) = port.aside {
        ask(port.address, port.token)?;
    }
    let least = all_were_asked(&operations, &before, &served.counted()?);
    if !is_whole {
        let told = least
            .err()
            .map_or_else(|| "each operation was asked".to_owned(), |error| error.to_string());
        anyhow::bail!("schemathesis had not ended after {} s; {told}", TIME_MAX.as_secs());
    }
    println!(
        "fuzz-api: {}: {} operations, each asked {} times at least, in {} s",
        port.name,
        operations.len(),
        least?,
        begun.elapsed().as_secs()
    );
    Ok(())
}

fn command(schemathesis: &Path, settings: &Path, port: &Port<'_>) -> Command {
    let mut command = Command::new(schemathesis);
    command.arg("--config-file").arg(settings);
    command.args(["run", &format!("http://{}/openapi.json", port.address), "--no-color"]);
    command.args(["--header", &format!("Authorization: Bearer {}", port.token)]);
    command.args(["--checks", "not_a_server_error"]);
    command.args(["--phases", "examples,coverage,fuzzing"]);
    command.args(["--max-examples", port.examples, "--generation-deterministic"]);
    command.args(["--suppress-health-check", "all", "--warnings", "off"]);
    command.args(["--request-timeout", "20"]);
    if let Some((path, _)) = port.aside {
        command.args(["--exclude-path", path]);
    }
    command
}

/// Runs the tool; whether it came to its end in time.
fn finish(command: &mut Command, folder: &Path, end: Instant) -> anyhow::Result<bool> {
    let mut tool = command
        .current_dir(folder)
        .stdin(Stdio::null())
        .spawn()
        .context("could not start schemathesis")?;
    loop {
        if let Some(status) = tool.try_wait()? {
            anyhow::ensure!(status.success(), "schemathesis ended with {status}");
            return Ok(true);
        }
        if end <= Instant::now() {
            tool.kill()?;
            tool.wait()?;
            return Ok(false);
        }
        thread::sleep(PAUSE);
    }
}
