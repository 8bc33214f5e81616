//! Lengths of Rust files: a hard limit, and a ratchet for those on their way there.
//!
//! A file of up to 200 lines is nobody's business. A longer one has a row in the ratchet file with
//! the length it was granted, and may only shrink; to let it grow, `cargo xtask tidy --bless`
//! rewrites the rows, and the change shows in the commit for all to see. Over 400 lines there is no
//! blessing. Lengths of functions are clippy's (`too_many_lines`).

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde::Deserialize;

use super::{Problem, TextFile};

/// Where the rows lie, from the root.
pub(super) const RATCHET: &str = "xtask/ratchet.toml";

/// Up to here a file needs no row.
const LINES_FREE: usize = 200;

/// Beyond this a file is refused, blessed or not.
const LINES_MAX: usize = 400;

const HEADER: &str = "\
# Rust files of more than 200 lines and the length each was granted. They may only shrink.
# Rewritten by `cargo xtask tidy --bless`; a row that grows is for the reviewer to question.

";

/// Paths from the root and their lines.
pub(super) type Lengths = BTreeMap<String, usize>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ratchet {
    #[serde(default)]
    lines: Lengths,
}

/// Counts the lines of every Rust file.
pub(super) fn lengths(files: &[TextFile]) -> Lengths {
    files
        .iter()
        .filter(|file| file.path.ends_with(".rs"))
        .map(|file| (file.path.clone(), file.text.lines().count()))
        .collect()
}

/// Reads the ratchet file.
pub(super) fn parse(ratchet: &str) -> anyhow::Result<Lengths> {
    Ok(toml::from_str::<Ratchet>(ratchet).context(RATCHET)?.lines)
}

/// Writes the ratchet file that grants these lengths.
pub(super) fn render(lengths: &Lengths) -> String {
    let rows = lengths.iter().filter(|(_, lines)| **lines > LINES_FREE);
    let rows = rows.map(|(path, lines)| format!("\"{path}\" = {lines}\n"));
    format!("{HEADER}[lines]\n{}", rows.collect::<String>())
}

/// Compares the lengths of today with the granted ones.
pub(super) fn check(granted: &Lengths, today: &Lengths) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, lines) in today {
        let limit = granted.get(path).copied().unwrap_or(LINES_FREE).max(LINES_FREE);
        if *lines > LINES_MAX {
            problems.push(Problem::new(path, format!("{lines} lines, over {LINES_MAX}: split it")));
        } else if *lines > limit {
            problems.push(Problem::new(
                path,
                format!("{lines} lines, {limit} granted: split it, or `cargo xtask tidy --bless`"),
            ));
        }
    }
    // A row that grants nothing any more would let its file grow back unseen.
    for path in granted.keys() {
        if today.get(path).is_none_or(|lines| *lines <= LINES_FREE) {
            problems.push(Problem::new(
                RATCHET,
                format!("{path} needs no row any more: `cargo xtask tidy --bless`"),
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(lines: usize) -> Lengths {
        BTreeMap::from([("a.rs".to_owned(), lines)])
    }

    fn check_file(granted: Option<usize>, lines: usize, expect: &str) {
        let granted = granted.map(one).unwrap_or_default();
        let said: Vec<_> = check(&granted, &one(lines)).iter().map(Problem::to_string).collect();
        assert!(said.join("\n").contains(expect), "{granted:?} {lines}: {said:?}");
        assert_eq!(said.is_empty(), expect.is_empty(), "{granted:?} {lines}: {said:?}");
    }

    #[test]
    fn a_file_may_shrink_and_may_not_grow() {
        check_file(None, 200, "");
        check_file(None, 201, "201 lines, 200 granted");
        check_file(Some(300), 300, "");
        check_file(Some(300), 250, "");
        check_file(Some(300), 301, "301 lines, 300 granted");
    }

    #[test]
    fn over_the_hard_limit_no_row_helps() {
        check_file(Some(400), 400, "");
        check_file(Some(999), 401, "over 400");
    }

    #[test]
    fn a_row_whose_file_became_short_or_vanished_is_found() {
        check_file(Some(300), 200, "needs no row any more");
        assert_eq!(check(&one(300), &Lengths::new()).len(), 1);
    }

    #[test]
    fn what_was_blessed_passes_the_check() {
        let file = |path: &str, lines: usize| TextFile {
            path: path.to_owned(),
            text: "//! x\n".repeat(lines),
        };
        let today = lengths(&[file("a.rs", 250), file("b.rs", 20), file("c.md", 900)]);
        let written = render(&today);
        assert_eq!(parse(&written).unwrap(), one(250));
        assert_eq!(check(&parse(&written).unwrap(), &today), []);
    }
}
