//! Crates take dependencies and lints from the workspace, and from nowhere else.
//!
//! A version or a feature that one crate sets for itself would make it resolve another graph when
//! built alone than when built with the rest.

use anyhow::Context as _;
use toml::{Table, Value};

use super::Problem;

const SECTIONS: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Looks at one crate's `Cargo.toml`.
pub(super) fn check(path: &str, manifest: &str) -> anyhow::Result<Vec<Problem>> {
    let manifest: Table = manifest.parse().with_context(|| path.to_owned())?;
    let mut problems = Vec::new();
    if !takes_from_workspace(manifest.get("lints")) {
        problems.push(Problem::new(
            path,
            "lints come from the workspace: `[lints] workspace = true`",
        ));
    }
    // Sections stand at the top or under `[target.'cfg(..)']`.
    let targets = manifest.get("target").and_then(Value::as_table);
    let under_targets = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    for table in std::iter::once(&manifest).chain(under_targets) {
        for section in SECTIONS {
            let lines = table.get(*section).and_then(Value::as_table).into_iter().flatten();
            problems.extend(lines.filter(|(_, value)| !is_plain(value)).map(|(name, _)| {
                Problem::new(
                    path,
                    format!("{name}: declare it in the root and say `workspace = true`"),
                )
            }));
        }
    }
    Ok(problems)
}

/// Taken from the workspace without features of its own.
fn is_plain(dependency: &Value) -> bool {
    takes_from_workspace(Some(dependency)) && dependency.get("features").is_none()
}

fn takes_from_workspace(value: Option<&Value>) -> bool {
    value.and_then(|value| value.get("workspace")).and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(manifest: &str, expect: &[&str]) {
        let problems = check("Cargo.toml", &format!("lints.workspace = true\n{manifest}")).unwrap();
        let names: Vec<_> = problems
            .iter()
            .filter_map(|problem| Some(problem.sentence.split_once(':')?.0))
            .collect();
        assert_eq!(names, expect, "{manifest}");
    }

    #[test]
    fn a_dependency_with_a_version_or_features_of_its_own_is_found_in_every_section() {
        check_text(
            "[dependencies]\nserde.workspace = true\nrand = { workspace = true }",
            &[],
        );
        check_text("[dependencies]\nserde = \"1\"", &["serde"]);
        check_text(
            "[dev-dependencies]\nrand = { workspace = true, features = [\"x\"] }",
            &["rand"],
        );
        check_text("[target.'cfg(unix)'.build-dependencies]\ncc = \"1\"", &["cc"]);
    }

    #[test]
    fn a_crate_without_the_workspaces_lints_is_found() {
        assert_eq!(check("Cargo.toml", "[package]\nname = \"x\"").unwrap().len(), 1);
    }
}
