//! A database server that one test has for itself: what it does to it, other tests must not notice.

use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::ports::free_address;
use crate::processes::{as_owner, owner};
use crate::shared::{Kind, install, ready};
use crate::waiting::PATIENCE;

/// The server, its folder and its port. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) port: u16,
    settings: Vec<String>,
    folder: TempDir,
    child: Option<Child>,
}

impl Own {
    /// Starts one with settings of the form `name=value`, and waits until it answers.
    ///
    /// # Panics
    /// Where it can't be started; with its log.
    pub(crate) fn start<K: Kind>(settings: &[&str]) -> Self {
        let folder = TempDir::new().expect("a folder");
        install::<K>(folder.path());
        let mut own = Self {
            port: free_address().port(),
            settings: settings.iter().map(|setting| format!("--{setting}")).collect(),
            folder,
            child: None,
        };
        own.start_again::<K>();
        own
    }

    /// Starts it on the same folder and port.
    pub(crate) fn start_again<K: Kind>(&mut self) {
        let end = Instant::now() + PATIENCE;
        while !ready::<K>(self.port) {
            let has_ended = self
                .child
                .as_mut()
                .is_none_or(|child| child.try_wait().expect("a child of ours").is_some());
            // One that was killed may leave helpers behind for a moment, beside which no other starts.
            if has_ended {
                self.spawn::<K>();
            }
            assert!(Instant::now() < end, "{} is not ready in time: {}", K::NAME, self.log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn spawn<K: Kind>(&mut self) {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("log"));
        let mut command = as_owner(owner(K::USER), &K::serve(self.folder.path(), self.port));
        command.args(&self.settings).current_dir(self.folder.path());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.expect("a log file"));
        self.child = Some(command.spawn().expect("the server starts"));
    }

    /// Everything that it has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Ends it at once, as a crash would, and with it the processes that it has for its connections: they would go on for a moment.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let helpers = children(child.id());
            let _ = child.kill();
            let _ = child.wait();
            for helper in helpers {
                // It may have ended by itself.
                let _ = rustix::process::kill_process(helper, rustix::process::Signal::KILL);
            }
        }
    }
}

/// The processes that a process has started, where the system tells.
fn children(process: u32) -> Vec<rustix::process::Pid> {
    let said = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    let numbers = said.split_whitespace().filter_map(|number| number.parse().ok());
    numbers.filter_map(rustix::process::Pid::from_raw).collect()
}

impl Drop for Own {
    fn drop(&mut self) {
        self.kill();
    }
}
