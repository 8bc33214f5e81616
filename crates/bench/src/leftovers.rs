//! What a run that a signal cuts short would leave behind: running children, and temporary folders. Each is noted here for as long as it
//! exists, so that [`remove`] finds it from another thread while the run goes on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::process::LOOK_EVERY;
use crate::{Error, Result};

static NOTED: Mutex<Noted> = Mutex::new(Noted {
    is_over: false,
    notes: 0,
    children: BTreeMap::new(),
    folders: BTreeMap::new(),
});

struct Noted {
    /// Nothing may be begun any more.
    is_over: bool,
    notes: u64,
    children: BTreeMap<u64, Arc<Mutex<Child>>>,
    folders: BTreeMap<u64, PathBuf>,
}

impl Noted {
    fn next(&mut self, what: &str) -> Result<u64> {
        if self.is_over {
            let ended = std::io::Error::from(std::io::ErrorKind::Interrupted);
            return Err(Error::io(what)(ended));
        }
        self.notes += 1;
        Ok(self.notes)
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary folder that is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: Option<TempDir>,
    note: u64,
}

impl Folder {
    /// A new one whose name begins so.
    pub(crate) fn make(prefix: &str) -> Result<Self> {
        let what = "make a temporary folder";
        let mut noted = held(&NOTED);
        let note = noted.next(what)?;
        let folder = tempfile::Builder::new().prefix(prefix).tempdir();
        let folder = folder.map_err(Error::io(what))?;
        noted.folders.insert(note, folder.path().to_owned());
        Ok(Self {
            folder: Some(folder),
            note,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.as_ref().expect("it is there until the drop").path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The note goes last: a signal in between finds what is left.
        drop(self.folder.take());
        held(&NOTED).folders.remove(&self.note);
    }
}

/// A child that runs, or ran. Dropping it kills it by its own id.
#[derive(Debug)]
pub(crate) struct Running {
    child: Arc<Mutex<Child>>,
    note: u64,
}

impl Running {
    /// Starts a child.
    pub(crate) fn start(spawn: impl FnOnce() -> Result<Child>) -> Result<Self> {
        let mut noted = held(&NOTED);
        let note = noted.next("start a child")?;
        let child = Arc::new(Mutex::new(spawn()?));
        noted.children.insert(note, Arc::clone(&child));
        Ok(Self { child, note })
    }

    /// The child, for a short time: whoever ends the run wants it, too.
    pub(crate) fn child(&self) -> MutexGuard<'_, Child> {
        held(&self.child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        end(&mut self.child());
        held(&NOTED).children.remove(&self.note);
    }
}

/// Kills it. `Child` remembers that it was waited for and then does nothing, so an id that was given to somebody else is safe.
fn end(child: &mut Child) {
    let _ended = child.kill();
    let _status = child.wait();
}

fn is_running(child: &Mutex<Child>) -> bool {
    matches!(held(child).try_wait(), Ok(None))
}

/// Sends a signal to a child that was not waited for yet.
pub(crate) fn signal(child: &mut Child, signal: Signal) {
    if let (Ok(None), Some(id)) = (child.try_wait(), Pid::from_raw(child.id().cast_signed())) {
        // It may have ended by itself; whoever speaks with it next, or waits for it, is told.
        let _already_gone = kill_process(id, signal);
    }
}

/// Ends every child, orderly where it takes no longer than `grace`, and removes every temporary folder. Nothing can be started afterwards: the
/// process is expected to end. Blocks.
pub fn remove(grace: Duration) {
    let (children, folders) = {
        let mut noted = held(&NOTED);
        noted.is_over = true;
        let children: Vec<_> = noted.children.values().cloned().collect();
        let folders: Vec<_> = noted.folders.values().cloned().collect();
        (children, folders)
    };
    for child in &children {
        let mut child = held(child);
        signal(&mut child, Signal::TERM);
        // One that is held does not hear of it else.
        signal(&mut child, Signal::CONT);
    }
    let end_at = Instant::now() + grace;
    while Instant::now() < end_at && children.iter().any(|child| is_running(child)) {
        std::thread::sleep(LOOK_EVERY);
    }
    for child in &children {
        end(&mut held(child));
    }
    for folder in folders {
        // The run may be removing it itself.
        let _gone = std::fs::remove_dir_all(folder);
    }
}
