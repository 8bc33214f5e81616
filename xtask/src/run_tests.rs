//! `cargo xtask test`: the one command that runs every test.
//!
//! Order matters at the end: nextest comes last, so that a log closes with its summary line.
//! Cargo's own progress is shown: a silent build of several minutes looks like one that hangs.
//! Nothing is retried here: a test that fails now and then is a bug of the test or of the product.

use std::fs;
use std::path::Path;

use crate::workspace::Workspace;
use crate::{process, test_needs};

/// Runs the tests; `nextest_arguments` are handed to nextest as they are. With arguments the
/// documentation's examples are left out, since they can't be filtered in the same way.
///
/// # Errors
/// Fails with nextest's own exit code where tests fail.
pub(crate) fn run(workspace: &Workspace, nextest_arguments: &[String]) -> anyhow::Result<()> {
    test_needs::provide()?;
    if nextest_arguments.is_empty() {
        println!("builds the tests first, once: 5 to 10 minutes on two processors that have nothing else to do");
        run_documentation_examples(workspace)?;
    }
    let mut nextest = process::cargo();
    nextest.args(["nextest", "run"]).current_dir(&workspace.root);
    if !names_packages(nextest_arguments) {
        nextest.arg("--workspace");
    }
    process::run(nextest.args(nextest_arguments))
}

/// Runs them where there are any: for none, cargo would build every crate once more.
fn run_documentation_examples(workspace: &Workspace) -> anyhow::Result<()> {
    let sources = workspace
        .packages
        .iter()
        .filter_map(|package| package.manifest_path.parent());
    let with_examples = sources.map(|package| folder_has_examples(&package.join("src")));
    if !with_examples.collect::<anyhow::Result<Vec<_>>>()?.contains(&true) {
        return Ok(());
    }
    process::run(
        process::cargo()
            .args(["test", "--doc", "--workspace"])
            .current_dir(&workspace.root),
    )
}

fn folder_has_examples(folder: &Path) -> anyhow::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let found = if path.is_dir() {
            folder_has_examples(&path)?
        } else {
            path.extension().is_some_and(|is| is == "rs") && has_example(&fs::read_to_string(&path)?)
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the documentation in this source has code that is compiled. What is marked as `text` or `ignore` is not.
fn has_example(source: &str) -> bool {
    let mut inside = false;
    source
        .lines()
        .filter_map(|line| {
            let line = line.trim_start();
            line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
        })
        .filter_map(|said| said.trim_start().strip_prefix("```"))
        .any(|words| {
            inside = !inside;
            inside && !matches!(words.trim(), "text" | "ignore")
        })
}

/// `--workspace` would overrule a choice of packages.
fn names_packages(nextest_arguments: &[String]) -> bool {
    nextest_arguments.iter().any(|word| {
        word == "--package" || word.starts_with("--package=") || (word.starts_with("-p") && !word.starts_with("--"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_of_packages_is_recognised_in_each_spelling() {
        let names = |word: &str| names_packages(&[word.to_owned()]);
        for word in ["-p", "-pseckill-sale", "--package", "--package=seckill-sale"] {
            assert!(names(word), "{word}");
        }
        for word in ["sold_out", "--profile", "--no-capture"] {
            assert!(!names(word), "{word}");
        }
    }

    #[test]
    fn code_in_documentation_is_an_example_and_a_picture_is_none() {
        let fence = |opens: &str| format!("/// Words.\n/// ```{opens}\n/// let a = 1;\n/// ```\nfn f() {{}}\n");
        for opens in ["", "rust", "no_run", "should_panic"] {
            assert!(has_example(&fence(opens)), "{opens}");
        }
        assert!(!has_example(&fence("text")) && !has_example(&fence("ignore")));
        assert!(has_example(&format!("{}{}", fence("text"), fence(""))));
        assert!(!has_example("let fence = \"```\";\n// ```\n"));
    }
}
