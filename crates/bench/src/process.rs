//! A child process in a temporary folder: started, measured, stopped, cleaned up. What it serves is no business of this file.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;

use crate::{Error, Result};

/// The kernel counts a process's CPU time in this unit in `/proc` on every architecture that we build for.
const TICKS_PER_S: u64 = 100;
/// A child that ignores SIGTERM this long is killed.
const STOP_LIMIT: Duration = Duration::from_secs(20);
/// How often a waiting loop looks again.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How much of a child's log an error shows.
const LOG_TAIL_BYTES: usize = 2_000;

/// What a process has used since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Usage {
    /// User and system CPU time, in seconds; steps of 10 ms.
    pub cpu_s: f64,
    /// Resident memory now.
    pub rss_bytes: u64,
    /// The largest resident memory so far.
    pub rss_peak_bytes: u64,
}

/// How a child is started, the first time and again.
#[derive(Debug)]
struct Launch {
    executable: PathBuf,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    log: PathBuf,
}

impl Launch {
    fn spawn(&self, folder: &Path) -> Result<Child> {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(&self.log);
        let out = log.map_err(Error::file("create", &self.log))?;
        let err = out.try_clone().map_err(Error::file("open", &self.log))?;
        let mut command = Command::new(&self.executable);
        command.args(&self.arguments).current_dir(folder);
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("SECKILL_") {
                command.env_remove(name);
            }
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.spawn().map_err(Error::file("start", &self.executable))
    }
}

/// A running child. Dropping it kills it by its own id and deletes its folder.
#[derive(Debug)]
pub struct Process {
    child: Child,
    folder: tempfile::TempDir,
    launch: Launch,
}

impl Process {
    /// Starts `executable` in a new temporary folder, its output in a log there. `arguments` gets the folder.
    ///
    /// Variables named `SECKILL_*` of our own environment are not passed on: a benchmark must not depend on how its caller's shell
    /// happens to be set up.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder can't be made or the program not be started.
    pub fn start(
        executable: &Path,
        arguments: impl FnOnce(&Path) -> Vec<String>,
        environment: &[(String, String)],
    ) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("seckill-bench-")
            .tempdir()
            .map_err(Error::io("make a temporary folder"))?;
        let launch = Launch {
            executable: executable.to_owned(),
            arguments: arguments(folder.path()),
            environment: environment.to_vec(),
            log: folder.path().join("output.log"),
        };
        let child = launch.spawn(folder.path())?;
        Ok(Self { child, folder, launch })
    }

    /// Kills the child with SIGKILL, so that it can put nothing in order, and starts it again in the same folder as it was started.
    ///
    /// # Errors
    /// [`Error::Io`] when it can't be killed or not be started again.
    pub fn kill_and_start_again(&mut self) -> Result<()> {
        self.child.kill().map_err(Error::io("kill the child"))?;
        self.child.wait().map_err(Error::io("wait for the child"))?;
        self.child = self.launch.spawn(self.folder.path())?;
        Ok(())
    }

    /// Stops the child where it is (SIGSTOP): time passes, and it does nothing.
    pub fn hold(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets a held child go on (SIGCONT).
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = Pid::from_raw(self.id().cast_signed()) {
            // It may have ended by itself; whoever speaks with it next, or waits for it, is told.
            let _already_gone = kill_process(id, signal);
        }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The child's own folder, which is also its working directory.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Looks until `ready` says yes.
    ///
    /// # Errors
    /// [`Error::Child`] with the end of the log when the child ends or `limit` passes first.
    pub fn wait_until(&mut self, limit: Duration, mut ready: impl FnMut() -> bool) -> Result<()> {
        let end = Instant::now() + limit;
        loop {
            if ready() {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait().map_err(Error::io("look after the child"))? {
                return Err(self.failed(format!("the server ended early ({status})")));
            }
            if end <= Instant::now() {
                return Err(self.failed(format!("the server was not ready within {} s", limit.as_secs())));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn failed(&self, what: String) -> Error {
        let bytes = std::fs::read(&self.launch.log).unwrap_or_default();
        let tail = &bytes[bytes.len().saturating_sub(LOG_TAIL_BYTES)..];
        Error::Child {
            what,
            log_tail: String::from_utf8_lossy(tail).into_owned(),
        }
    }

    /// CPU time and memory of the child.
    ///
    /// # Errors
    /// [`Error::Io`] where there is no `/proc` or the child has ended.
    pub fn usage(&self) -> Result<Usage> {
        usage_of(self.id())
    }

    /// Asks the child to end (SIGTERM), waits, kills it if it doesn't, and says how it ended.
    ///
    /// # Errors
    /// [`Error::Io`] when it can't be signalled or waited for.
    pub fn stop(mut self) -> Result<std::process::ExitStatus> {
        self.signal(Signal::TERM);
        let end = Instant::now() + STOP_LIMIT;
        loop {
            if let Some(status) = self.child.try_wait().map_err(Error::io("wait for the child"))? {
                return Ok(status);
            }
            if end <= Instant::now() {
                self.child.kill().map_err(Error::io("kill the child"))?;
                return self.child.wait().map_err(Error::io("wait for the child"));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // `Child` remembers that it was waited for and then does nothing, so an id that was given to somebody else is safe.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

/// CPU time and memory of any process of ours.
///
/// # Errors
/// [`Error::Io`] where there is no such process or no `/proc`.
pub fn usage_of(id: u32) -> Result<Usage> {
    let read = |name: &str| {
        let path = format!("/proc/{id}/{name}");
        std::fs::read_to_string(&path).map_err(Error::file("read", path))
    };
    let ticks = ticks_of(&read("stat")?).ok_or_else(|| Error::Malformed {
        what: format!("/proc/{id}/stat"),
    })?;
    let status = read("status")?;
    Ok(Usage {
        cpu_s: ticks as f64 / TICKS_PER_S as f64,
        rss_bytes: kilobytes_of(&status, "VmRSS:") * 1024,
        rss_peak_bytes: kilobytes_of(&status, "VmHWM:") * 1024,
    })
}

/// Open descriptors of any process of ours.
///
/// # Errors
/// [`Error::Io`] where there is no such process or no `/proc`.
pub fn descriptors_of(id: u32) -> Result<usize> {
    let folder = format!("/proc/{id}/fd");
    Ok(std::fs::read_dir(&folder).map_err(Error::file("read", folder))?.count())
}

/// utime + stime. The program's name stands in brackets before them and may hold anything, so counting begins behind the last one.
fn ticks_of(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

fn kilobytes_of(status: &str, field: &str) -> u64 {
    let value = status.lines().find_map(|line| line.strip_prefix(field));
    value
        .and_then(|value| value.split_ascii_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
