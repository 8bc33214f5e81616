//! A child process in a temporary folder: started, measured, stopped, cleaned up. What it serves is no business of this file.

mod usage;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::leftovers::{Folder, Running, signal};
use crate::{Error, Result};
pub use usage::{Usage, descriptors_of, usage_of};

/// A child that ignores SIGTERM this long is killed.
const STOP_LIMIT: Duration = Duration::from_secs(20);
/// How often a waiting loop looks again.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How much of a child's log an error shows.
const LOG_TAIL_BYTES: usize = 2_000;

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
    // First: it is dropped before its folder.
    running: Running,
    folder: Folder,
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
        let folder = Folder::make("seckill-bench-")?;
        let launch = Launch {
            executable: executable.to_owned(),
            arguments: arguments(folder.path()),
            environment: environment.to_vec(),
            log: folder.path().join("output.log"),
        };
        let running = Running::start(|| launch.spawn(folder.path()))?;
        Ok(Self {
            running,
            folder,
            launch,
        })
    }

    /// Kills the child with SIGKILL, so that it can put nothing in order, and starts it again in the same folder as it was started.
    ///
    /// # Errors
    /// [`Error::Io`] when it can't be killed or not be started again.
    pub fn kill_and_start_again(&mut self) -> Result<()> {
        {
            let mut child = self.running.child();
            child.kill().map_err(Error::io("kill the child"))?;
            child.wait().map_err(Error::io("wait for the child"))?;
        }
        self.running = Running::start(|| self.launch.spawn(self.folder.path()))?;
        Ok(())
    }

    /// Stops the child where it is (SIGSTOP): time passes, and it does nothing.
    pub fn hold(&self) {
        signal(&mut self.running.child(), Signal::STOP);
    }

    /// Lets a held child go on (SIGCONT).
    pub fn go_on(&self) {
        signal(&mut self.running.child(), Signal::CONT);
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.running.child().id()
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
            let ended = self.running.child().try_wait();
            if let Some(status) = ended.map_err(Error::io("look after the child"))? {
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
    pub fn stop(self) -> Result<ExitStatus> {
        signal(&mut self.running.child(), Signal::TERM);
        let end = Instant::now() + STOP_LIMIT;
        loop {
            let ended = self.running.child().try_wait();
            if let Some(status) = ended.map_err(Error::io("wait for the child"))? {
                return Ok(status);
            }
            if end <= Instant::now() {
                let mut child = self.running.child();
                child.kill().map_err(Error::io("kill the child"))?;
                return child.wait().map_err(Error::io("wait for the child"));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
