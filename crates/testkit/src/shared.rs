//! A real database server that all test processes of a run share: one for each test would be hundreds.
//!
//! Who uses it holds a lock on a file. The first one starts it, with a watcher that ends it and removes its folder when nobody has held the
//! lock for a moment: a killed test leaves nothing running.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, test_kill_process};

use crate::ports::free_address;
use crate::processes::{as_owner, owner, run, text};

/// Longest wait for a server to get ready.
const PATIENCE: Duration = Duration::from_secs(60);

/// What kind of server it is.
pub trait Kind {
    /// Its name, and that of its folder.
    const NAME: &'static str;
    /// The user that it runs as where the tests run as root, if it refuses root.
    const USER: Option<&'static str>;
    /// Makes an empty installation in `folder`.
    fn install(folder: &Path) -> Command;
    /// Serves it on `port` of 127.0.0.1, in the foreground.
    fn serve(folder: &Path, port: u16) -> Command;
    /// A client that reads statements, in the place of one test or in none.
    fn client(port: u16, place: Option<&str>) -> Command;
    /// The client's flag before a statement.
    const STATEMENT: &'static str;
    /// Makes a place for one test: what keeps its tables apart.
    const MAKE_PLACE: &'static str;
    /// Address of a place.
    fn url(port: u16, place: &str) -> String;
}

/// A use of the shared server; the server may end when the last one is dropped.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) port: u16,
    _used: File,
}

/// Starts the server `$4 …` with the log `$1` and writes its process id into the folder `$3`; ends it and removes the folder once nobody has
/// held the lock `$2` for two seconds.
const WATCHER: &str = r#"
log=$1 lock=$2 folder=$3
shift 3
(
    "$@" 2>"$log" &
    server=$!
    echo $server >"$folder/pid"
    while :; do
        flock -x "$lock" true
        sleep 2
        flock -n -x "$lock" sh -c 'kill -9 "$1"; rm -rf "$2"' sh "$server" "$folder" && exit
    done
) </dev/null >/dev/null 2>&1 &
"#;

impl Shared {
    /// Joins the server, or starts it where there is none.
    ///
    /// # Panics
    /// Where it can't be started; with its log.
    pub(crate) fn join<K: Kind>() -> Self {
        let home = home();
        let lock = |name: &str| {
            let path = home.join(format!("{}.{name}", K::NAME));
            File::options()
                .create(true)
                .append(true)
                .open(path)
                .expect("a lock file")
        };
        // Starting one at a time; using together. The watcher holds the use alone while it ends the server.
        let starting = lock("start");
        flock(&starting, FlockOperation::LockExclusive).expect("a lock");
        let used = lock("use");
        flock(&used, FlockOperation::LockShared).expect("a lock");
        let port_file = home.join(format!("{}.port", K::NAME));
        let known = fs::read_to_string(&port_file).ok().and_then(|port| port.parse().ok());
        if let Some(port) = known.filter(|&port| ready::<K>(port)) {
            return Self { port, _used: used };
        }
        let port = start::<K>(&home);
        fs::write(&port_file, port.to_string()).expect("a writable folder");
        Self { port, _used: used }
    }

    /// A name that no other test has.
    pub(crate) fn fresh_name() -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let moment = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
        format!(
            "t{}_{}_{moment}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        )
    }
}

/// Where the shared servers of this user are.
pub(crate) fn home() -> PathBuf {
    let user = rustix::process::getuid().as_raw();
    let home = std::env::temp_dir().join(format!("seckill-testkit-{user}"));
    fs::create_dir_all(&home).expect("a writable temporary folder");
    home
}

/// An empty installation in `folder`, which is given to the server's user.
pub(crate) fn install<K: Kind>(folder: &Path) {
    let owner = owner(K::USER);
    if let Some((user, group)) = owner {
        std::os::unix::fs::chown(folder, Some(user), Some(group)).expect("root may give a folder away");
    }
    let mut install = as_owner(owner, &K::install(folder));
    let installed = run(install.current_dir(folder));
    assert!(installed.status.success(), "{}: {}", K::NAME, text(&installed));
}

fn start<K: Kind>(home: &Path) -> u16 {
    let folder = home.join(format!("{}-{}", K::NAME, Shared::fresh_name()));
    fs::create_dir(&folder).expect("a fresh folder");
    install::<K>(&folder);
    let port = free_address().port();
    let serve = as_owner(owner(K::USER), &K::serve(&folder, port));
    let log = folder.join("log");
    let mut watcher = Command::new("sh");
    watcher.args(["-c", WATCHER, "sh"]).arg(&log);
    watcher.arg(home.join(format!("{}.use", K::NAME))).arg(&folder);
    watcher.arg(serve.get_program()).args(serve.get_args());
    run(watcher.current_dir(&folder).process_group(0));
    let end = Instant::now() + PATIENCE;
    while !ready::<K>(port) {
        let said = || fs::read_to_string(&log).unwrap_or_default();
        let server = fs::read_to_string(folder.join("pid"))
            .ok()
            .and_then(|pid| Pid::from_raw(pid.trim().parse().ok()?));
        let ended = server.is_some_and(|server| test_kill_process(server).is_err());
        assert!(!ended, "{} ended: {}", K::NAME, said());
        assert!(Instant::now() < end, "{} is not ready in time: {}", K::NAME, said());
        thread::sleep(Duration::from_millis(20));
    }
    port
}

pub(crate) fn ready<K: Kind>(port: u16) -> bool {
    let mut client = K::client(port, None);
    let asked = client.args([K::STATEMENT, "SELECT 1"]).output();
    asked.is_ok_and(|output| output.status.success())
}
