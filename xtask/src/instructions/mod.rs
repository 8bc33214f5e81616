//! `cargo xtask instructions`: counts the machine instructions of claim, gate and settle, and compares.
//!
//! Counts hardly waver where times do, so a regression shows on a busy machine and in CI. Each
//! scenario of `crates/instructions` runs under valgrind's callgrind. Two rules: no scenario may
//! need more than its blessed count and the tolerance; and within a family of scenarios that differ
//! in size only, counts must be even, whatever is blessed. What callgrind saw stays in
//! `target/instructions`, for `callgrind_annotate` to show where instructions go.

mod blessed;
mod callgrind;
mod evenness;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use anyhow::Context as _;

use crate::workspace::Workspace;
use crate::{process, test_needs};
use blessed::{Blessed, Verdict};

/// Instructions an operation, by scenario.
type Counts = BTreeMap<String, f64>;

/// Where blessed counts lie, from the root.
const BLESSED: &str = "benches/instructions.toml";

/// Counts, and compares with what is blessed; or blesses.
///
/// # Errors
/// Where a scenario needs more than it may or a family is uneven; where something can't be counted.
pub(crate) fn run(workspace: &Workspace, bless: bool) -> anyhow::Result<()> {
    test_needs::provide_valgrind()?;
    let counts = count_all(workspace)?;
    let path = workspace.root.join(BLESSED);
    let blessed = match fs::read_to_string(&path) {
        Ok(text) => Blessed::parse(&text).context(BLESSED)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Blessed::default(),
        Err(error) => return Err(error).context(BLESSED),
    };
    let mut failures = evenness::check(&counts);
    if bless {
        let next = blessed.with(&counts, &compiler());
        show(&next, &counts);
        fs::create_dir_all(path.parent().context(BLESSED)?)?;
        fs::write(&path, next.render()).context(BLESSED)?;
        println!("{BLESSED} holds these counts now");
    } else {
        failures.extend(show(&blessed, &counts));
        if blessed.compiler != compiler() {
            println!("blessed with {}, counted with {}", blessed.compiler, compiler());
        }
    }
    if failures.is_empty() {
        return Ok(());
    }
    println!("where instructions go: callgrind_annotate --inclusive=yes target/instructions/SCENARIO.out");
    anyhow::bail!("{}", failures.join("\n  "))
}

/// Prints the table, and gives back what failed.
fn show(blessed: &Blessed, counts: &Counts) -> Vec<String> {
    println!(
        "{:<32}{:>14}{:>12}{:>9}",
        "scenario", "instructions", "blessed", "change"
    );
    for (scenario, count) in counts {
        let before = blessed.counts.get(scenario);
        let change = before.map(|&before| format!("{:+.1} %", 100.0 * (count / before as f64 - 1.0)));
        println!(
            "{scenario:<32}{count:>14.0}{:>12}{:>9}",
            before.map(u64::to_string).unwrap_or_default(),
            change.unwrap_or_default()
        );
    }
    let verdicts = blessed.compare(counts);
    for sentence in verdicts.iter().filter_map(Verdict::advice) {
        println!("{sentence}");
    }
    verdicts.iter().filter_map(Verdict::failure).collect()
}

/// Builds the scenarios, and counts each; as many at once as there are cores, for counts don't mind company.
fn count_all(workspace: &Workspace) -> anyhow::Result<Counts> {
    let words = ["build", "--release", "--quiet", "--package", "seckill-instructions"];
    process::run(process::cargo().args(words).current_dir(&workspace.root))?;
    let name = format!("seckill-instructions{}", std::env::consts::EXE_SUFFIX);
    let program = workspace.target.join("release").join(name);
    let folder = workspace.target.join("instructions");
    fs::create_dir_all(&folder)?;
    let list = process::ask(&program, &["list"]).context("the scenarios can't be listed")?;
    let scenarios: Vec<&str> = list.lines().collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut counts = Vec::new();
        while let Some(&scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
            let count = callgrind::count(&program, scenario, &folder);
            counts.push((scenario.to_owned(), count.context(scenario.to_owned())?));
        }
        anyhow::Ok(counts)
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let mut counts = Counts::new();
        for worker in workers {
            counts.extend(worker.join().expect("a worker returns its errors")?);
        }
        Ok(counts)
    })
}

/// What the counts depend on besides our code: architecture and compiler.
fn compiler() -> String {
    let version = process::ask("rustc", &["--version"]);
    let number = version
        .as_deref()
        .and_then(|said| said.split(' ').nth(1))
        .unwrap_or("unknown");
    format!("{}, rustc {number}", std::env::consts::ARCH)
}
