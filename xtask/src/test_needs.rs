//! The programs that tests and counts call, and how they get onto a machine.
//!
//! As root on Debian they are installed; elsewhere the missing ones are named together with the way to get them, because
//! installing system packages on a person's own machine is theirs to do.

use std::path::Path;
use std::process::Command;

use crate::needed::{NEEDS, Need, VALGRIND};
use crate::process;

/// The nextest that CI runs. A newer one on a developer's machine is fine.
const NEXTEST: &str = "cargo-nextest@0.9.143";

/// What can be done about missing programs here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    /// Debian or a child of it, as root.
    DebianRoot,
    /// Debian, but somebody has to say `sudo`.
    DebianUser,
    Other,
}

impl Host {
    fn detect() -> Self {
        if !Path::new("/etc/debian_version").exists() || !on_path("apt-get") {
            Host::Other
        } else if process::ask("id", &["-u"]).as_deref() == Some("0") {
            Host::DebianRoot
        } else {
            Host::DebianUser
        }
    }
}

/// Makes sure that every program of the tests is there, by installing it or by failing with what to do.
pub(crate) fn provide() -> anyhow::Result<()> {
    provide_programs(NEEDS)?;
    if process::ask("cargo-nextest", &["--version"]).is_none() {
        process::run(process::cargo().args(["install", "--locked", "--quiet", NEXTEST]))?;
    }
    Ok(())
}

/// Makes sure that valgrind is there, likewise.
pub(crate) fn provide_valgrind() -> anyhow::Result<()> {
    provide_programs(VALGRIND)
}

fn provide_programs(needs: &[Need]) -> anyhow::Result<()> {
    let missing: Vec<&Need> = needs.iter().filter(|need| !is_here(need.program)).collect();
    if !missing.is_empty() {
        match Host::detect() {
            Host::DebianRoot => install_packages(&missing)?,
            host => anyhow::bail!("{}", advice(host, &missing)),
        }
    }
    Ok(())
}

fn install_packages(missing: &[&Need]) -> anyhow::Result<()> {
    let apt = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    process::run_quietly(apt().args(["update", "-q"]))?;
    process::run_quietly(
        apt()
            .args(["install", "-q", "-y", "--no-install-recommends"])
            .args(packages(missing)),
    )?;
    Ok(())
}

fn packages<'a>(missing: &'a [&Need]) -> impl Iterator<Item = &'static str> + 'a {
    missing.iter().flat_map(|need| need.package.split(' '))
}

/// The sentence for a person who has to install something.
fn advice(host: Host, missing: &[&Need]) -> String {
    let names: Vec<_> = missing.iter().map(|need| need.program).collect();
    let how = match host {
        Host::DebianRoot | Host::DebianUser => {
            format!(
                "sudo apt-get install {}",
                packages(missing).collect::<Vec<_>>().join(" ")
            )
        }
        Host::Other => missing
            .iter()
            .map(|need| format!("{}: {}", need.program, need.elsewhere))
            .collect::<Vec<_>>()
            .join("\n  "),
    };
    format!(
        "this needs {}, not found on the PATH. Get it with:\n  {how}",
        names.join(", ")
    )
}

/// Debian keeps servers off the PATH, PostgreSQL's in a folder for each version.
fn is_here(program: &str) -> bool {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders = versions.map(|version| version.path().join("bin"));
    on_path(program) || Path::new("/usr/sbin").join(program).is_file() || folders.any(|bin| bin.join(program).is_file())
}

fn on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_names_each_missing_program_and_the_way_to_get_it() {
        let missing: Vec<&Need> = NEEDS.iter().collect();
        let debian = advice(Host::DebianUser, &missing);
        assert!(
            debian.contains(
                "sudo apt-get install gcc libc6-dev apache2-utils wrk postgresql mariadb-server nginx redis-server openssl"
            ),
            "{debian}"
        );
        let other = advice(Host::Other, &missing);
        for need in NEEDS {
            assert!(
                other.contains(need.program) && other.contains(need.elsewhere),
                "{other}"
            );
        }
    }

    #[test]
    fn a_program_is_found_on_the_path_or_it_is_not() {
        assert!(on_path("sh"));
        assert!(!on_path("no-such-program-here"));
    }
}
