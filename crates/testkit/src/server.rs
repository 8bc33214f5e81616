//! The product's binary as a child process.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::call;
use crate::ports::free_addresses;
use crate::waiting::{PATIENCE, wait};

/// Secret of user tokens.
pub(crate) const JWT_SECRET: &str = "held-by-the-testkit-0123456789abcdef-0123456789";
/// Token of the admin port.
pub(crate) const ADMIN_TOKEN: &str = "testkit-admin-token-0123456789abcdef-0123456789";

/// The program under test, with the environment that every test gives it.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    /// Most open files of the process; none: as many as the tests' own.
    descriptors: Option<u32>,
}

impl Program {
    /// The binary named by `SECKILL_BIN`, else `built`: the test's own `env!("CARGO_BIN_EXE_seckill")`.
    #[must_use]
    pub fn new(built: &str) -> Self {
        Self {
            path: std::env::var_os("SECKILL_BIN").map_or_else(|| PathBuf::from(built), PathBuf::from),
            descriptors: None,
        }
    }

    /// The same, which may open so many files and no more.
    #[must_use]
    pub fn with_descriptors(self, count: u32) -> Self {
        Self {
            descriptors: Some(count),
            ..self
        }
    }

    /// The program with these arguments, no settings but the tests' own, in `folder`.
    #[must_use]
    pub fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = match self.descriptors {
            Some(count) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("ulimit -n {count}; exec \"$0\" \"$@\"")]);
                shell.arg(&self.path);
                shell
            }
            None => Command::new(&self.path),
        };
        let settings = std::env::vars().filter(|(name, _)| name.starts_with("SECKILL_"));
        settings.for_each(|(name, _)| _ = command.env_remove(name));
        command.current_dir(folder).args(arguments).stdin(Stdio::null());
        command
            .env("SECKILL_AUTH__JWT_SECRET", JWT_SECRET)
            .env("SECKILL_ADMIN__TOKEN", ADMIN_TOKEN);
        for limit in ["IP", "USER", "DEVICE", "READ"] {
            command.env(format!("SECKILL_LIMITS__{limit}"), "off");
        }
        command
    }

    /// Runs the program to its end.
    ///
    /// # Panics
    /// Where it can't be started.
    #[must_use]
    pub fn run(&self, folder: &Path, arguments: &[&str]) -> Output {
        self.command(folder, arguments).output().expect("the program starts")
    }
}

/// A serving process and its folder. Dropping it kills the process.
#[derive(Debug)]
pub struct Server {
    program: Program,
    /// What it is told to do: `serve` or `work`, and its roles.
    task: Vec<String>,
    environment: Vec<(String, String)>,
    /// Where data and logs are.
    pub folder: Arc<TempDir>,
    child: Option<Child>,
    /// The public port.
    pub public: SocketAddr,
    /// The admin port.
    pub admin: SocketAddr,
}

impl Server {
    /// Starts a server in a fresh folder and waits until it is ready.
    ///
    /// # Panics
    /// Where it does not get ready.
    #[must_use]
    pub fn start(program: &Program) -> Self {
        Self::start_with(program, &[])
    }

    /// The same with more settings, as environment variables.
    ///
    /// # Panics
    /// Where it does not get ready.
    #[must_use]
    pub fn start_with(program: &Program, environment: &[(&str, &str)]) -> Self {
        Self::start_as(program, &["serve"], environment)
    }

    /// The same for a process that does what `task` says: `["serve", "--roles", "api"]`, `["work"]`.
    ///
    /// # Panics
    /// Where it does not get ready.
    #[must_use]
    pub fn start_as(program: &Program, task: &[&str], environment: &[(&str, &str)]) -> Self {
        let [public, admin] = free_addresses();
        let mut server = Self {
            program: program.clone(),
            task: task.iter().map(|&word| word.to_owned()).collect(),
            environment: environment
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            folder: Arc::new(TempDir::new().expect("a folder")),
            child: None,
            public,
            admin,
        };
        server.start_again();
        server
    }

    /// The data folder.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Gives the next start these settings in the place of those from before.
    pub fn set(&mut self, environment: &[(&str, &str)]) {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        self.environment = environment.iter().map(owned).collect();
    }

    /// Starts the process on the same folder and ports.
    ///
    /// # Panics
    /// Where it does not get ready.
    pub fn start_again(&mut self) {
        self.spawn();
        let end = Instant::now() + PATIENCE;
        while !call(self.admin, "GET", "/readyz", &[], None).is_ok_and(|answer| answer.status == 200) {
            let ended = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
            assert!(ended.is_none(), "the server ended with {ended:?}: {}", self.log());
            assert!(Instant::now() < end, "not ready in time: {}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Starts the process and does not wait.
    ///
    /// # Panics
    /// Where it can't be started.
    pub fn spawn(&mut self) {
        let data = self.data();
        let (public, admin, data) = (self.public.to_string(), self.admin.to_string(), data.to_string_lossy());
        let mut arguments: Vec<&str> = self.task.iter().map(String::as_str).collect();
        if arguments.first() == Some(&"serve") {
            arguments.extend(["--listen", &public]);
        }
        arguments.extend(["--admin-listen", &admin, "--data-dir", &data]);
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("log"))
            .expect("a log file");
        let mut command = self.program.command(self.folder.path(), &arguments);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdout(Stdio::null()).stderr(log);
        self.child = Some(command.spawn().expect("the program starts"));
    }

    /// Everything that it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Process id.
    ///
    /// # Panics
    /// Where it is not running.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("running").id()
    }

    /// Ends the process at once, as a crash would.
    ///
    /// # Panics
    /// Where it is not running.
    pub fn kill(&mut self) {
        let mut child = self.child.take().expect("running");
        child.kill().expect("a child of ours");
        child.wait().expect("a child of ours");
    }

    /// Sends SIGTERM and waits for the end.
    ///
    /// # Panics
    /// Where it does not end in time.
    pub fn terminate(&mut self) -> ExitStatus {
        let mut child = self.child.take().expect("running");
        let pid = Pid::from_child(&child);
        kill_process(pid, Signal::TERM).expect("a child of ours");
        wait(&mut child).unwrap_or_else(|| panic!("did not end in time: {}", self.log()))
    }

    /// Waits for a process that ends by itself.
    ///
    /// # Panics
    /// Where it does not end in time.
    pub fn wait_end(&mut self) -> ExitStatus {
        let mut child = self.child.take().expect("running");
        wait(&mut child).unwrap_or_else(|| panic!("did not end in time: {}", self.log()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
