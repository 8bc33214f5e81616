//! What every Rust file has, and what none may be left with.
//!
//! A reader who opens a file learns from its first lines what it is for; and nothing unfinished is
//! committed, since nobody comes back to it.

use super::{Problem, TextFile};

/// Marks of unfinished work, spelled in two halves so that this file is clean itself. Clippy knows
/// the macros of that kind; these stand in comments and attributes.
const UNFINISHED: &[&str] = &[concat!("FIX", "ME"), concat!("TO", "DO"), concat!("#[ig", "nore")];

/// Looks at one Rust file.
pub(super) fn check(file: &TextFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !file.text.starts_with("//!") {
        problems.push(Problem::in_line(
            &file.path,
            1,
            "opens with no `//!` that says what it is for",
        ));
    }
    for (at, line) in file.text.lines().enumerate() {
        for mark in UNFINISHED {
            if contains_word(line, mark) {
                problems.push(Problem::in_line(&file.path, at + 1, format!("`{mark}` left behind")));
            }
        }
    }
    problems
}

/// Whether `word` stands in the line with no letter, digit or underscore at its sides.
fn contains_word(line: &str, word: &str) -> bool {
    let inside = |side: Option<char>| side.is_some_and(|side| side == '_' || side.is_alphanumeric());
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !inside(before) && !inside(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(text: &str, expect: &[&str]) {
        let file = TextFile {
            path: "a.rs".to_owned(),
            text: text.to_owned(),
        };
        let places: Vec<_> = check(&file).into_iter().map(|problem| problem.place).collect();
        assert_eq!(places, expect, "{text}");
    }

    #[test]
    fn a_file_opens_with_what_it_is_for() {
        check_text("//! Counts units.\n\nfn count() {}\n", &[]);
        check_text("use std::fmt;\n//! Too late.\n", &["a.rs:1"]);
        check_text("", &["a.rs:1"]);
    }

    #[test]
    fn unfinished_work_is_found_and_longer_words_are_not() {
        let [later, soon, off] = [UNFINISHED[0], UNFINISHED[1], UNFINISHED[2]];
        check_text(&format!("//! x\n// {later}: later\n// {soon}\n"), &["a.rs:2", "a.rs:3"]);
        check_text(&format!("//! x\n{off} = \"slow\"]\n"), &["a.rs:2"]);
        check_text(&format!("//! x\nconst {soon}_LIST: u8 = 0; // MAS{soon}N\n"), &[]);
    }
}
