//! `seckill bench` that is ended by a signal: it leaves no process and no folder behind.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::program;

/// Longest wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// Looks until there is something.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "{what}: not in time");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The processes that it has started.
fn children(process: u32) -> Vec<Pid> {
    let threads = fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let of_thread = threads.map(|thread| fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    let all: Vec<String> = of_thread.collect();
    let numbers = all.iter().flat_map(|said| said.split_whitespace());
    numbers
        .filter_map(|number| Pid::from_raw(number.parse().ok()?))
        .collect()
}

fn names(folder: &TempDir) -> Vec<PathBuf> {
    let names = fs::read_dir(folder.path()).expect("readable");
    names.map(|entry| entry.expect("readable").path()).collect()
}

/// A run on a slow disk that takes minutes, once its server serves.
fn begun(folder: &TempDir, temporary: &TempDir) -> (Child, Vec<Pid>) {
    let long = ["bench", "--overload", "store", "--overload-s", "600", "--json"];
    let mut command = program().command(folder.path(), &long);
    command.env("TMPDIR", temporary.path()).stdout(Stdio::piped());
    let bench = command.stderr(Stdio::null()).spawn().expect("the program starts");
    let is_serving = || {
        let journal = |folder: &PathBuf| folder.join("data/journal").exists();
        names(temporary).iter().any(journal).then(|| children(bench.id()))
    };
    let servers = until("a server", is_serving);
    assert_eq!(
        (servers.len(), names(temporary).len()),
        (1, 2),
        "a server; its folder and the held disk"
    );
    (bench, servers)
}

fn ends_with(signal: Signal, code: i32) {
    let (folder, temporary) = (TempDir::new().expect("a folder"), TempDir::new().expect("a folder"));
    let (bench, servers) = begun(&folder, &temporary);
    kill_process(Pid::from_child(&bench), signal).expect("a child of ours");
    let output = bench.wait_with_output().expect("ends");
    let left: Vec<_> = servers.into_iter().filter(|server| serves(*server)).collect();
    for server in &left {
        // Nobody else would.
        let _ended = kill_process(*server, Signal::KILL);
    }
    assert_eq!(left, [], "servers are left behind");
    assert_eq!(names(&temporary), [] as [PathBuf; 0]);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(said["exit_code"], code);
}

/// Whether the process is there, and not another one of its number.
fn serves(process: Pid) -> bool {
    let arguments = fs::read_to_string(format!("/proc/{}/cmdline", process.as_raw_nonzero()));
    arguments.is_ok_and(|arguments| arguments.contains("seckill-bench-"))
}

#[test]
fn a_benchmark_that_is_terminated_ends_its_servers_and_removes_their_folders() {
    ends_with(Signal::TERM, 143);
}

#[test]
fn ctrl_c_ends_a_benchmark_with_its_servers_and_folders() {
    ends_with(Signal::INT, 130);
}
