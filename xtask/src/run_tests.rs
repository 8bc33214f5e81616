//! `cargo xtask test`: the one command that runs every test.
//!
//! Order matters at the end: nextest comes last, so that a log closes with its summary line.
//! Nothing is retried here: a test that fails now and then is a bug of the test or of the product.

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
        run_documentation_examples(workspace)?;
    }
    let mut nextest = process::cargo();
    nextest
        .args(["nextest", "run", "--cargo-quiet"])
        .current_dir(&workspace.root);
    if !names_packages(nextest_arguments) {
        nextest.arg("--workspace");
    }
    process::run(nextest.args(nextest_arguments))
}

fn run_documentation_examples(workspace: &Workspace) -> anyhow::Result<()> {
    let said = process::run_quietly(
        process::cargo()
            .args(["test", "--doc", "--workspace", "--quiet"])
            .current_dir(&workspace.root),
    )?;
    println!("examples in the documentation: {} passed", examples_passed(&said));
    Ok(())
}

/// Adds up what the test harness reports for each crate.
fn examples_passed(said: &str) -> u32 {
    said.lines()
        .filter_map(|line| line.strip_prefix("test result: ok. ")?.split_once(" passed"))
        .filter_map(|(count, _)| count.parse::<u32>().ok())
        .sum()
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
    fn examples_of_all_crates_are_added_up() {
        let said = "\nrunning 2 tests\n..\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\n\
                    test result: ok. 0 passed; 0 failed\ntest result: ok. 11 passed; 0 failed\n";
        assert_eq!(examples_passed(said), 13);
    }
}
