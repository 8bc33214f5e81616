//! Where the workspace lies and which crates are in it, read from `cargo metadata`.
//!
//! Read without the network and without resolving third-party crates, so that it also answers
//! where nothing has been downloaded yet.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;

use crate::process;

/// The workspace as cargo sees it.
#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    #[serde(rename = "target_directory")]
    pub(crate) target: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// One crate of ours.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One line under a crate's dependencies.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `None` for a normal one.
    pub(crate) kind: Option<DependencyKind>,
    /// Set where the other crate lies in a folder, which in this workspace means it is ours.
    pub(crate) path: Option<PathBuf>,
}

/// Which of the manifest's sections a dependency stands in, where it is not the normal one.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DependencyKind {
    Dev,
    Build,
}

impl Workspace {
    /// Asks cargo about the workspace around the current folder.
    pub(crate) fn load() -> anyhow::Result<Self> {
        let output = process::cargo()
            .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
            .output()
            .context("could not start cargo")?;
        anyhow::ensure!(
            output.status.success(),
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        serde_json::from_slice(&output.stdout).context("cargo metadata answered something unexpected")
    }

    /// A path as it is written in messages and in the ratchet: from the root, with `/`.
    pub(crate) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .to_string_lossy()
            .replace('\\', "/")
    }
}
