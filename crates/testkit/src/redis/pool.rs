//! Sets of servers that the tests of a run use one after another: making a set takes seconds, emptying one a moment.
//!
//! Who uses a set holds a lock on it alone. The first one starts it; a watcher ends it and removes its folder when nobody has held the lock
//! for a moment, so that a killed test leaves nothing running. A set that is not as it was made is ended and made anew.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{FlockOperation, flock};

use super::Redis;
use crate::shared::home;

/// Sets of a kind; each comes to be when those before are in use.
const SETS_MAX: usize = 4;

/// Ends what was left in the folder `$2` once nobody has held the lock `$1` for two seconds.
const WATCHER: &str = r#"
(
    while :; do
        flock -x "$1" true
        sleep 2
        flock -n -x "$1" sh -c 'kill -9 $(cat "$1/pids"); rm -rf "$1"' sh "$2" && exit
    done
) </dev/null >/dev/null 2>&1 &
"#;

/// The use of a set, until it is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    /// All processes, in the order in which they were started.
    pub(super) servers: Vec<Redis>,
    _lock: File,
}

impl Lease {
    /// `make` starts a set in a folder; `is_well` empties one that others have used, and says whether it is as it was made.
    pub(super) fn take(kind: &str, make: impl Fn(&Path) -> Vec<Redis>, is_well: impl Fn(&[Redis]) -> bool) -> Self {
        let (lock, folder, lock_path) = free_set(kind);
        let known = fs::read_to_string(folder.join("ports")).unwrap_or_default();
        let at = |port: &str| Some(Redis::at(SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse().ok()?))));
        let servers: Vec<_> = known.split_whitespace().filter_map(at).collect();
        if !servers.is_empty() && is_well(&servers) {
            return Self { servers, _lock: lock };
        }
        end(&folder);
        fs::create_dir_all(&folder).expect("a fresh folder");
        let mut servers = make(&folder);
        let pids: Vec<_> = servers.iter_mut().map(|server| server.leave().to_string()).collect();
        let ports: Vec<_> = servers
            .iter()
            .map(|server| server.address().port().to_string())
            .collect();
        fs::write(folder.join("pids"), pids.join(" ")).expect("a writable folder");
        fs::write(folder.join("ports"), ports.join(" ")).expect("a writable folder");
        let mut watcher = Command::new("sh");
        watcher.args(["-c", WATCHER, "sh"]).arg(lock_path).arg(&folder);
        watcher.stdin(Stdio::null()).process_group(0);
        watcher.status().expect("there is a shell");
        Self { servers, _lock: lock }
    }
}

/// The first set that nobody uses; where all are in use, one to wait for.
fn free_set(kind: &str) -> (File, PathBuf, PathBuf) {
    let home = home();
    let set = |n: usize| {
        let path = home.join(format!("{kind}-{n}.use"));
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .expect("a lock file");
        (file, home.join(format!("{kind}-{n}")), path)
    };
    for n in 0..SETS_MAX {
        let (file, folder, path) = set(n);
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return (file, folder, path);
        }
    }
    let waited_for = usize::try_from(std::process::id()).expect("small") % SETS_MAX;
    let (file, folder, path) = set(waited_for);
    flock(&file, FlockOperation::LockExclusive).expect("a lock");
    (file, folder, path)
}

/// Ends the processes of a set by their ids, and removes what they left.
fn end(folder: &Path) {
    let pids = fs::read_to_string(folder.join("pids")).unwrap_or_default();
    if !pids.is_empty() {
        let _ = Command::new("kill")
            .arg("-9")
            .args(pids.split_whitespace())
            .stderr(Stdio::null())
            .status();
    }
    let _ = fs::remove_dir_all(folder);
}
