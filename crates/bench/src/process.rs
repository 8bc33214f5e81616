//! A child process in a temporary folder: started, measured, stopped, cleaned up. What it serves is no business of this file.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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

/// A running child. Dropping it kills it by its own id and deletes its folder.
#[derive(Debug)]
pub struct Process {
    child: Child,
    folder: tempfile::TempDir,
    log: PathBuf,
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
        let log = folder.path().join("output.log");
        let out = std::fs::File::create(&log).map_err(Error::file("create", &log))?;
        let err = out.try_clone().map_err(Error::file("open", &log))?;
        let mut command = Command::new(executable);
        command.args(arguments(folder.path())).current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("SECKILL_") {
                command.env_remove(name);
            }
        }
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        let child = command.spawn().map_err(Error::file("start", executable))?;
        Ok(Self { child, folder, log })
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
        let bytes = std::fs::read(&self.log).unwrap_or_default();
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
        if let Some(id) = rustix::process::Pid::from_raw(self.id().cast_signed()) {
            // It may have ended by itself; the wait below tells.
            let _already_gone = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
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
mod tests {
    use super::*;

    fn shell(script: &str, environment: &[(String, String)]) -> Process {
        Process::start(Path::new("/bin/sh"), |_| vec!["-c".into(), script.into()], environment).unwrap()
    }

    #[test]
    fn cpu_time_is_found_behind_a_strange_name() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 1 0 5 6 7";
        assert_eq!(ticks_of(stat), Some(300));
        assert_eq!(ticks_of("7 (a"), None);
        assert_eq!(kilobytes_of("VmHWM:\t  20 kB\nVmRSS:\t  12 kB\n", "VmRSS:"), 12);
    }

    #[test]
    fn own_usage_can_be_read() {
        let usage = usage_of(std::process::id()).unwrap();
        assert!(0 < usage.rss_bytes && usage.rss_bytes <= usage.rss_peak_bytes);
        assert!(0 < descriptors_of(std::process::id()).unwrap());
    }

    #[test]
    fn early_end_shows_the_log() {
        let mut child = shell("echo no secret given >&2; exit 2", &[]);
        let error = child
            .wait_until(Duration::from_secs(20), || false)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("ended early") && error.contains("no secret given"),
            "{error}"
        );
    }

    #[test]
    fn child_ends_by_term_and_its_folder_goes() {
        let mut child = shell("touch ready; while :; do sleep 0.05; done", &[]);
        let folder = child.folder().to_owned();
        let ready = folder.join("ready");
        child.wait_until(Duration::from_secs(20), || ready.exists()).unwrap();
        let status = child.stop().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
        assert!(!folder.exists());
    }

    #[test]
    fn environment_is_passed_on() {
        let mut child = shell(
            "echo \"$SECKILL_X\" > seen; mv seen done; sleep 20",
            &[("SECKILL_X".into(), "given".into())],
        );
        let done = child.folder().join("done");
        child.wait_until(Duration::from_secs(20), || done.exists()).unwrap();
        assert_eq!(std::fs::read_to_string(done).unwrap(), "given\n");
    }
}
