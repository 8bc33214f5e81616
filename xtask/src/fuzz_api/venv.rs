//! schemathesis in a virtual environment under `target/tools`, in the versions and with the digests of a list.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::process;
use crate::workspace::Workspace;

/// The oldest Python that the list was made for.
const PYTHON_MIN: (u32, u32) = (3, 11);

/// Where the tool is, or why it is not.
pub(super) enum Provided {
    At(PathBuf),
    Not(String),
}

/// Makes sure that the tool is there in the pinned version.
///
/// # Errors
/// The list can't be read, or a package is not the one that was pinned.
pub(super) fn provide(workspace: &Workspace, list: &Path) -> anyhow::Result<Provided> {
    let wanted = std::fs::read_to_string(list).with_context(|| format!("could not read {}", list.display()))?;
    let version = version(&wanted).context("the list does not pin schemathesis")?;
    let folder = workspace.target.join("tools").join(format!("schemathesis-{version}"));
    let program = folder.join("bin/schemathesis");
    if process::ask(&program, &["--version"]).is_some_and(|said| said.split_whitespace().any(|word| word == version)) {
        return Ok(Provided::At(program));
    }
    if !process::ask("python3", &["-V"]).is_some_and(|said| is_new_enough(&said)) {
        let (major, minor) = PYTHON_MIN;
        return Ok(Provided::Not(format!(
            "there is no python3 of {major}.{minor} or later on the PATH"
        )));
    }
    let mut venv = Command::new("python3");
    if let Err(why) = quietly(venv.args(["-m", "venv", "--clear"]).arg(&folder))? {
        return Ok(Provided::Not(format!(
            "python3 -m venv failed (Debian: apt-get install python3-venv): {why}"
        )));
    }
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--retries",
        "1",
        "--timeout",
        "15",
    ]);
    pip.args(["--only-binary", ":all:", "--require-hashes", "--requirement"])
        .arg(list);
    match quietly(&mut pip)? {
        Ok(()) => Ok(Provided::At(program)),
        Err(why) => {
            anyhow::ensure!(!is_forged(&why), "a package is not the one that is pinned: {why}");
            Ok(Provided::Not(format!("pip could not install it: {why}")))
        }
    }
}

/// Runs a command; where it fails, what it said.
fn quietly(command: &mut Command) -> anyhow::Result<Result<(), String>> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .context("could not start Python")?;
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().take(12).collect::<Vec<_>>();
    let last = last.into_iter().rev().collect::<Vec<_>>().join("\n  ");
    Ok(if output.status.success() { Ok(()) } else { Err(last) })
}

/// The version of schemathesis that a list of requirements pins.
fn version(list: &str) -> Option<&str> {
    list.lines()
        .find_map(|line| line.strip_prefix("schemathesis=="))
        .and_then(|rest| rest.split([' ', ';', '\\']).next())
}

/// Whether `Python 3.12.1` is recent.
fn is_new_enough(said: &str) -> bool {
    let mut numbers = said.trim_start_matches("Python ").split('.').map(str::parse);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
        return false;
    };
    PYTHON_MIN <= (major, minor)
}

/// What pip says where a digest differs. That is no want of a network.
fn is_forged(said: &str) -> bool {
    said.contains("DO NOT MATCH THE HASHES")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_pins_the_tool_and_a_digest_of_everything() {
        let list = include_str!("../../fuzz-api/requirements.txt");
        assert!(version(list).is_some_and(|version| version.starts_with('4')));
        let packages = list
            .lines()
            .filter(|line| line.contains("==") && !line.starts_with('#'));
        assert!(
            packages.into_iter().all(|line| line.ends_with('\\')),
            "a package without a digest"
        );
    }

    #[test]
    fn old_and_odd_pythons_will_not_do() {
        assert!(
            ["Python 3.11.7", "Python 3.13.0rc1", "Python 4.0"]
                .iter()
                .all(|said| is_new_enough(said))
        );
        assert!(
            !["Python 3.9.2", "Python 2.7.18", "", "Pypy"]
                .iter()
                .any(|said| is_new_enough(said))
        );
    }

    #[test]
    fn another_digest_is_no_reason_to_skip() {
        assert!(is_forged(
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."
        ));
        assert!(!is_forged(
            "ERROR: Could not find a version that satisfies the requirement"
        ));
    }
}
