//! `cargo xtask tidy`: our own checks, the ones no ready-made tool makes.
//!
//! Each rule lives in a file of its own and is a pure function from text to problems, so that it
//! can be tested on small inputs; this file reads the tree and prints. It changes nothing, except
//! for the ratchet when told to bless it. What clippy can say (function length, naming, unwraps)
//! is left to clippy.

mod edges;
mod manifests;
mod sizes;
mod sources;
mod texts;

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use crate::workspace::Workspace;

/// A file larger than this is generated or somebody else's, and belongs elsewhere.
const FILE_BYTES_MAX: u64 = 600 * 1024;

/// One thing to mend: where, and what.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Problem {
    /// From the workspace's root, with `:line` where there is one.
    place: String,
    sentence: String,
}

impl Problem {
    fn new(place: impl Into<String>, sentence: impl Into<String>) -> Self {
        Problem {
            place: place.into(),
            sentence: sentence.into(),
        }
    }

    fn in_line(path: &str, line: usize, sentence: impl Into<String>) -> Self {
        Problem::new(format!("{path}:{line}"), sentence)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.sentence)
    }
}

/// A text file of the tree.
struct TextFile {
    /// From the root, with `/`.
    path: String,
    text: String,
}

/// Runs every rule; with `bless`, first rewrites the ratchet to the sizes of today.
///
/// # Errors
/// Fails where there is a problem, after printing all of them.
pub(crate) fn run(workspace: &Workspace, bless: bool) -> anyhow::Result<()> {
    let mut problems = Vec::new();
    let files = read_tree(&workspace.root, &mut problems)?;
    let lengths = sizes::lengths(&files);
    let ratchet_path = workspace.root.join(sizes::RATCHET);
    if bless {
        std::fs::write(&ratchet_path, sizes::render(&lengths)).context(sizes::RATCHET)?;
        println!("{} rewritten", sizes::RATCHET);
    }
    let ratchet = std::fs::read_to_string(&ratchet_path).context(sizes::RATCHET)?;
    problems.extend(sizes::check(&sizes::parse(&ratchet)?, &lengths));
    problems.extend(edges::check(&workspace.packages));
    for package in &workspace.packages {
        let manifest = std::fs::read_to_string(&package.manifest_path)
            .with_context(|| workspace.relative(&package.manifest_path))?;
        problems.extend(manifests::check(
            &workspace.relative(&package.manifest_path),
            &manifest,
        )?);
    }
    for file in &files {
        problems.extend(texts::check(file));
        if file.path.ends_with(".rs") {
            problems.extend(sources::check(file));
        }
    }
    report(problems, files.len())
}

fn report(mut problems: Vec<Problem>, files: usize) -> anyhow::Result<()> {
    if problems.is_empty() {
        println!("tidy: {files} files, nothing to mend");
        return Ok(());
    }
    problems.sort();
    for problem in &problems {
        println!("{problem}");
    }
    anyhow::bail!("tidy: {} to mend", problems.len())
}

/// Every text file that git tracks or would track. What lies in the folder but is not yet added is
/// looked at too, so that a problem shows before its commit; what is ignored is not.
fn read_tree(root: &Path, problems: &mut Vec<Problem>) -> anyhow::Result<Vec<TextFile>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("could not start git")?;
    anyhow::ensure!(listed.status.success(), "git ls-files failed");
    let mut files = Vec::new();
    for path in listed.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
        let path = String::from_utf8_lossy(path).into_owned();
        let whole = root.join(&path);
        // Deleted but not yet committed, or a link that leads out of the tree.
        let Ok(metadata) = std::fs::symlink_metadata(&whole) else {
            continue;
        };
        if !metadata.is_file() {
            continue;
        }
        if metadata.len() > FILE_BYTES_MAX {
            let kilobytes = metadata.len() / 1024;
            problems.push(Problem::new(
                &path,
                format!("{kilobytes} KB: generated or third-party?"),
            ));
        }
        let bytes = std::fs::read(&whole).with_context(|| path.clone())?;
        if !bytes.contains(&0) {
            files.push(TextFile {
                path,
                text: String::from_utf8_lossy(&bytes).into_owned(),
            });
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_with_a_problem_fails_and_says_how_many() {
        assert!(report(Vec::new(), 3).is_ok());
        let problems = vec![Problem::in_line("a.rs", 3, "x"), Problem::new("b.rs", "y")];
        assert_eq!(problems[0].to_string(), "a.rs:3: x");
        assert_eq!(report(problems, 3).unwrap_err().to_string(), "tidy: 2 to mend");
    }

    #[test]
    fn files_over_the_limit_are_found_and_ignored_ones_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let git = Command::new("git")
            .args(["init", "-q"])
            .current_dir(root)
            .status()
            .unwrap();
        assert!(git.success());
        std::fs::write(root.join(".gitignore"), "ignored.rs\n").unwrap();
        std::fs::write(root.join("ignored.rs"), "").unwrap();
        std::fs::write(root.join("big.json"), vec![b' '; 700 * 1024]).unwrap();
        std::fs::write(root.join("picture.png"), [0, 1, 2]).unwrap();

        let mut problems = Vec::new();
        let files = read_tree(root, &mut problems).unwrap();

        let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, [".gitignore", "big.json"]);
        assert_eq!(
            problems,
            [Problem::new("big.json", "700 KB: generated or third-party?")]
        );
    }
}
