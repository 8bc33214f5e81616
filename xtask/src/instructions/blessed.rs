//! The committed counts, and the rule by which new ones are compared with them.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde::Deserialize;

use super::Counts;

const HEADER: &str = "\
# Instructions an operation, as callgrind counts them. `cargo xtask instructions` fails where one needs more than this and the
# tolerance; `--bless` rewrites the counts, and a reviewer will ask why one grew. callgrind emulates no SHA instructions, so HS256
# shows the portable code. What the kernel does is not counted.
";

/// The file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Blessed {
    /// How far a count may be off, in percent.
    tolerance_percent: u32,
    /// Architecture and compiler of the counts.
    pub(super) compiler: String,
    /// Instructions an operation.
    #[serde(rename = "instructions")]
    pub(super) counts: BTreeMap<String, u64>,
}

impl Default for Blessed {
    fn default() -> Self {
        Self {
            tolerance_percent: 10,
            compiler: String::new(),
            counts: BTreeMap::new(),
        }
    }
}

/// What is to be said of a scenario. One that is as it was gets none.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// It needs more than it may.
    Above { scenario: String, count: f64, most: f64 },
    /// It needs so much less that the blessed count guards nothing any more.
    Below { scenario: String },
    /// It has no blessed count.
    New { scenario: String },
    /// A count is blessed, but no scenario has its name.
    Gone { scenario: String },
}

impl Verdict {
    /// The sentence of one that fails.
    pub(super) fn failure(&self) -> Option<String> {
        match self {
            Self::Above { scenario, count, most } => {
                Some(format!("{scenario}: {count:.0} instructions, {most:.0} are allowed"))
            }
            Self::New { scenario } => Some(format!("{scenario} has no blessed count: add `--bless`")),
            Self::Gone { scenario } => Some(format!("{scenario} is no scenario any more: add `--bless`")),
            Self::Below { .. } => None,
        }
    }

    /// The sentence of one that does not fail.
    pub(super) fn advice(&self) -> Option<String> {
        match self {
            Self::Below { scenario } => Some(format!("{scenario} needs much less than is blessed: add `--bless`")),
            _ => None,
        }
    }
}

impl Blessed {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        toml::from_str(text).context("not the file that `--bless` writes")
    }

    /// What differs by more than the tolerance, or is only on one side.
    pub(super) fn compare(&self, counts: &Counts) -> Vec<Verdict> {
        let tolerance = f64::from(self.tolerance_percent) / 100.0;
        let counted = counts.iter().filter_map(|(name, &count)| {
            let scenario = name.clone();
            let Some(&blessed) = self.counts.get(name) else {
                return Some(Verdict::New { scenario });
            };
            let blessed = blessed as f64;
            let most = blessed * (1.0 + tolerance);
            if most < count {
                Some(Verdict::Above { scenario, count, most })
            } else if count < blessed * (1.0 - tolerance) {
                Some(Verdict::Below { scenario })
            } else {
                None
            }
        });
        let gone = self.counts.keys().filter(|name| !counts.contains_key(*name));
        counted
            .chain(gone.map(|name| Verdict::Gone { scenario: name.clone() }))
            .collect()
    }

    /// The file with these counts instead of its own.
    pub(super) fn with(&self, counts: &Counts, compiler: &str) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts of instructions are far below 2^53"
        )]
        let rounded = |(name, count): (&String, &f64)| (name.clone(), count.round() as u64);
        Self {
            tolerance_percent: self.tolerance_percent,
            compiler: compiler.to_owned(),
            counts: counts.iter().map(rounded).collect(),
        }
    }

    /// The file's text, sorted by name.
    pub(super) fn render(&self) -> String {
        let Self {
            tolerance_percent,
            compiler,
            counts,
        } = self;
        let rows: String = counts
            .iter()
            .map(|(name, count)| format!("\"{name}\" = {count}\n"))
            .collect();
        format!(
            "{HEADER}\ntolerance_percent = {tolerance_percent}\ncompiler = \"{compiler}\"\n\n[instructions]\n{rows}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rows: &[(&str, f64)]) -> Counts {
        rows.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    }

    fn blessed(rows: &[(&str, f64)]) -> Blessed {
        Blessed::default().with(&counts(rows), "x86_64, rustc 1.95.0")
    }

    #[test]
    fn only_a_count_above_the_tolerance_fails_and_it_is_named() {
        let blessed = blessed(&[("claim", 1000.0), ("gate", 100.0), ("settle", 10.0)]);
        assert_eq!(
            blessed.compare(&counts(&[("claim", 1100.0), ("gate", 90.0), ("settle", 10.0)])),
            []
        );
        let verdicts = blessed.compare(&counts(&[("claim", 1101.0), ("gate", 89.0), ("settle", 10.0)]));
        let failures: Vec<_> = verdicts.iter().filter_map(Verdict::failure).collect();
        assert_eq!(failures, ["claim: 1101 instructions, 1100 are allowed"]);
        let advice: Vec<_> = verdicts.iter().filter_map(Verdict::advice).collect();
        assert_eq!(advice, ["gate needs much less than is blessed: add `--bless`"]);
    }

    #[test]
    fn a_scenario_on_one_side_only_fails() {
        let verdicts = blessed(&[("old", 1.0)]).compare(&counts(&[("new", 1.0)]));
        let new = Verdict::New {
            scenario: "new".to_owned(),
        };
        let gone = Verdict::Gone {
            scenario: "old".to_owned(),
        };
        assert!(verdicts.iter().all(|verdict| verdict.failure().is_some()));
        assert_eq!(verdicts, [new, gone]);
    }

    #[test]
    fn blessing_keeps_the_file_sorted_and_its_tolerance() {
        let text = "tolerance_percent = 5\ncompiler = \"\"\n[instructions]\n\"gone\" = 3\n";
        let before = Blessed::parse(text).expect("the file is read");
        let after = before.with(&counts(&[("settle/b", 2.6), ("claim/a", 1.2)]), "this one");
        let rendered = after.render();
        assert!(
            rendered.ends_with("5\ncompiler = \"this one\"\n\n[instructions]\n\"claim/a\" = 1\n\"settle/b\" = 3\n"),
            "{rendered}"
        );
        assert_eq!(Blessed::parse(&rendered).ok(), Some(after));
    }
}
