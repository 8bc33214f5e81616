//! The ready-made checkers of CI, each pinned to one version.
//!
//! One that lies on the PATH in that version is used; else it is built once into `target/tools`,
//! so that nothing of the machine changes. They are built without optimisation: building them is
//! what costs time, not running them.

use std::path::PathBuf;

use anyhow::Context as _;

use crate::process;
use crate::workspace::Workspace;

/// A program from a package registry, in the one version that CI uses.
pub(crate) struct Tool {
    /// The program, and the package that holds it.
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
}

pub(crate) const DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
};
pub(crate) const MACHETE: Tool = Tool {
    name: "cargo-machete",
    version: "0.9.2",
};

impl Tool {
    /// Where the program lies; builds it first where it is missing.
    ///
    /// # Errors
    /// Fails where it can't be built. A check that can't be made has not passed.
    pub(crate) fn provide(&self, workspace: &Workspace) -> anyhow::Result<PathBuf> {
        let folder = workspace.target.join("tools");
        let built = folder
            .join("bin")
            .join(format!("{}{}", self.name, std::env::consts::EXE_SUFFIX));
        for candidate in [PathBuf::from(self.name), built.clone()] {
            if process::ask(&candidate, &["--version"]).is_some_and(|said| self.is_in(&said)) {
                return Ok(candidate);
            }
        }
        let package = format!("{}@{}", self.name, self.version);
        process::run(
            process::cargo()
                .args(["install", "--locked", "--debug", "--quiet", "--force", "--root"])
                .arg(&folder)
                .arg(&package)
                .env("CARGO_PROFILE_DEV_DEBUG", "false"),
        )
        .with_context(|| format!("CI needs {package} and could not install it"))?;
        Ok(built)
    }

    /// Whether what the program says of itself is the pinned version: `cargo-deny 0.20.2` or `0.9.2`.
    fn is_in(&self, said: &str) -> bool {
        said.split_whitespace().any(|word| word == self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_pinned_version_counts() {
        assert!(DENY.is_in("cargo-deny 0.20.2"));
        assert!(MACHETE.is_in("0.9.2\n"));
        assert!(!DENY.is_in("cargo-deny 0.20.20"));
        assert!(!DENY.is_in(""));
    }
}
