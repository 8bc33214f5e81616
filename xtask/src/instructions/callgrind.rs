//! Runs a scenario under callgrind and reads what it has counted.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use crate::process;

/// The function inside of which callgrind counts: `crates/instructions/src/counted.rs`.
const COUNTED: &str = "*seckill_instructions*counted*";

/// callgrind counts every byte of a `rep movsb` or `rep stosb` as an instruction, where a processor moves dozens in a cycle; so glibc is
/// told to copy and clear by vectors, whatever the size.
const TUNABLES: &str =
    "glibc.cpu.x86_rep_movsb_threshold=1099511627776:glibc.cpu.x86_rep_stosb_threshold=1099511627776";

/// Instructions an operation. callgrind's own file is left in `folder`.
pub(super) fn count(program: &Path, scenario: &str, folder: &Path) -> anyhow::Result<f64> {
    let file = folder.join(format!("{}.out", scenario.replace('/', ".")));
    let said = process::run_quietly(
        Command::new("valgrind")
            .args(["--quiet", "--tool=callgrind"])
            .arg(format!("--toggle-collect={COUNTED}"))
            .arg(format!("--callgrind-out-file={}", file.display()))
            .arg(program)
            .args(["run", scenario])
            .env("GLIBC_TUNABLES", TUNABLES),
    )?;
    let operations: u64 = said.trim().parse().context("the number of operations")?;
    let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let instructions = instructions(&text)?;
    anyhow::ensure!(
        operations != 0 && instructions != 0,
        "nothing was counted inside of {COUNTED}"
    );
    Ok(instructions as f64 / operations as f64)
}

/// All instructions of callgrind's file. It names its columns in `events:` and their sums in `totals:`.
fn instructions(text: &str) -> anyhow::Result<u64> {
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let events = line("events:").context("callgrind's file names no events")?;
    let column = events.split_whitespace().position(|event| event == "Ir");
    let column = column.context("callgrind's file counts no instructions")?;
    // Sums of zero at the end of the line are left out.
    let totals = line("totals:").context("callgrind's file is not complete: it has no totals")?;
    let total = totals.split_whitespace().nth(column).unwrap_or("0");
    total.parse().with_context(|| format!("callgrind's total {total:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_of_instructions_is_found_among_others() {
        let alone = "# callgrind format\nversion: 1\npositions: line\nevents: Ir\n\nfn=(1) a\n1 5\n\ntotals: 7340581\n";
        assert_eq!(instructions(alone).ok(), Some(7_340_581));
        let second = "events: Dr Ir Dw\nsummary: 1 2 3\ntotals: 4 5 6\n";
        assert_eq!(instructions(second).ok(), Some(5));
        assert_eq!(instructions("events: Dr Ir\ntotals: 4\n").ok(), Some(0));
    }

    #[test]
    fn a_file_that_is_not_whole_is_no_count() {
        assert!(instructions("events: Ir\nfn=(1) a\n1 5\n").is_err());
        assert!(instructions("totals: 5\n").is_err());
        assert!(instructions("events: Dr\ntotals: 5\n").is_err());
        assert!(instructions("events: Ir\ntotals: many\n").is_err());
    }

    #[test]
    fn the_counted_function_still_bears_its_name() {
        let source = include_str!("../../../crates/instructions/src/counted.rs");
        assert!(source.contains("#[inline(never)]\npub fn counted("), "{COUNTED}");
    }
}
