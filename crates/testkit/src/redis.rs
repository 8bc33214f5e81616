//! A Redis server as a child process: a free port of the loopback address, a temporary folder, the log in the panic message.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Longest wait for the server to get ready.
const PATIENCE: Duration = Duration::from_secs(30);

/// `redis-server` from the PATH, or the program that `SECKILL_REDIS_SERVER` names, run so that it keeps everything
/// (`appendonly yes`, `noeviction`, no snapshots). Dropping it kills the process.
#[derive(Debug)]
pub struct Redis {
    folder: PathBuf,
    /// Where the folder is one that ends with the server.
    _temporary: Option<TempDir>,
    address: SocketAddr,
    child: Option<Child>,
}

impl Redis {
    /// Starts a server in a fresh folder and waits until it answers.
    ///
    /// # Panics
    /// Where `redis-server` is not on the PATH, or does not answer in time.
    #[must_use]
    pub fn start() -> Self {
        let temporary = TempDir::new().expect("a folder");
        let folder = temporary.path().to_owned();
        Self::start_on(folder, Some(temporary))
    }

    /// Starts a server on what one before it left in `folder`, which stays.
    ///
    /// # Panics
    /// As [`Redis::start`].
    #[must_use]
    pub fn start_in(folder: &Path) -> Self {
        Self::start_on(folder.to_owned(), None)
    }

    fn start_on(folder: PathBuf, temporary: Option<TempDir>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("bound");
        drop(listener);
        let mut redis = Self {
            folder,
            _temporary: temporary,
            address,
            child: None,
        };
        redis.start_again();
        redis
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where clients connect.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Starts the process on the same folder and port, and waits until it has read its log and answers.
    ///
    /// # Panics
    /// As [`Redis::start`].
    pub fn start_again(&mut self) {
        self.child = Some(self.spawn());
        let end = Instant::now() + PATIENCE;
        while !self.command(&["PING"]).is_ok_and(|answer| answer.starts_with("+PONG")) {
            let ended = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
            assert!(ended.is_none(), "redis-server ended with {ended:?}: {}", self.log());
            assert!(Instant::now() < end, "not ready in time: {}", self.log());
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn spawn(&self) -> Child {
        let port = self.address.port().to_string();
        let folder = self.folder.to_string_lossy();
        let settings = [
            ["--bind", "127.0.0.1"],
            ["--port", &port],
            ["--dir", &folder],
            ["--save", ""],
            ["--appendonly", "yes"],
            ["--appendfsync", "always"],
            ["--maxmemory-policy", "noeviction"],
            ["--enable-debug-command", "local"],
        ];
        let log = File::options().create(true).append(true).open(self.folder.join("log"));
        let mut command =
            Command::new(std::env::var_os("SECKILL_REDIS_SERVER").unwrap_or_else(|| "redis-server".into()));
        command
            .args(settings.as_flattened())
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command.stdout(log.expect("a log file"));
        command
            .spawn()
            .expect("redis-server is on the PATH (Debian: apt-get install redis-server)")
    }

    /// Everything that it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// Sends one command and returns the beginning of its answer as it stands on the wire.
    ///
    /// # Errors
    /// Nobody answers.
    pub fn command(&self, words: &[&str]) -> io::Result<String> {
        const ANSWER_BYTES_MAX: usize = 65_536;
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut request = format!("*{}\r\n", words.len());
        words
            .iter()
            .for_each(|word| request.push_str(&format!("${}\r\n{word}\r\n", word.len())));
        stream.write_all(request.as_bytes())?;
        let mut answer = vec![0; ANSWER_BYTES_MAX];
        let length = stream.read(&mut answer)?;
        answer.truncate(length);
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// Empties the server, as an operator's mistake would.
    ///
    /// # Panics
    /// Where it does not answer.
    pub fn flush_all(&self) {
        let answer = self.command(&["FLUSHALL"]).expect("the server answers");
        assert!(answer.starts_with("+OK"), "{answer}");
    }

    /// Ends the process at once (SIGKILL); its folder stays for [`Redis::start_again`].
    ///
    /// # Panics
    /// Where it is not running.
    pub fn kill(&mut self) {
        let mut child = self.child.take().expect("running");
        child.kill().expect("a child of ours");
        child.wait().expect("a child of ours");
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
