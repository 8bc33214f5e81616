//! A disk that is slow, or hangs, for a server that knows nothing of it: a library is built with the system's C compiler and preloaded
//! into the child, where it holds back the calls that make writes durable. The product has no switch for it.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::leftovers::Folder;
use crate::{Error, Result};

const SOURCE: &str = include_str!("held_disk.c");

/// Which files are held back: those whose path contains this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// The store's journal.
    Journal,
    /// The database of orders.
    Database,
}

impl Held {
    fn path_part(self) -> &'static str {
        match self {
            Self::Journal => "/journal/",
            Self::Database => ".db",
        }
    }
}

/// A disk to run a child on. It must outlive the child.
#[derive(Debug)]
pub struct HeldDisk {
    folder: Folder,
    library: PathBuf,
    held: Held,
    sync: Duration,
}

impl HeldDisk {
    /// A disk on which every sync of the `held` files takes `sync` longer, in whole milliseconds.
    ///
    /// # Errors
    /// [`Error::Usage`] where there is no C compiler `cc`, or it refuses.
    pub fn build(held: Held, sync: Duration) -> Result<Self> {
        let folder = Folder::make("seckill-held-disk-")?;
        let (source, library) = (folder.path().join("held_disk.c"), folder.path().join("held_disk.so"));
        std::fs::write(&source, SOURCE).map_err(Error::file("write", &source))?;
        let built = Command::new("cc")
            .args(["-O1", "-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .output();
        match built {
            Ok(output) if output.status.success() => Ok(Self {
                folder,
                library,
                held,
                sync,
            }),
            Ok(output) => Err(Error::Usage(format!(
                "the library that holds a disk back can't be built: {}",
                String::from_utf8_lossy(&output.stderr)
            ))),
            Err(error) => Err(Error::Usage(format!(
                "holding a disk back takes a C compiler: cc: {error}"
            ))),
        }
    }

    /// What the child's environment needs.
    pub fn environment(&self) -> Vec<(String, String)> {
        let own = |name: &str, value: String| (name.to_owned(), value);
        vec![
            own("LD_PRELOAD", self.library.display().to_string()),
            own("HELD_DISK_PATH", self.held.path_part().to_owned()),
            own("HELD_DISK_MS", self.sync.as_millis().to_string()),
            own("HELD_DISK_WHILE", self.gate().display().to_string()),
        ]
    }

    /// From now on no sync returns, until [`HeldDisk::release`].
    ///
    /// # Errors
    /// [`Error::Io`] where the file that says so can't be made.
    pub fn hang(&self) -> Result<()> {
        std::fs::write(self.gate(), b"").map_err(Error::file("write", self.gate()))
    }

    /// Syncs return again.
    ///
    /// # Errors
    /// [`Error::Io`] where the file that says otherwise can't be removed.
    pub fn release(&self) -> Result<()> {
        std::fs::remove_file(self.gate()).map_err(Error::file("remove", self.gate()))
    }

    fn gate(&self) -> PathBuf {
        self.folder.path().join("hangs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a program that syncs a file of this name on the held disk, and waits for its end.
    fn sync(disk: &HeldDisk, name: &str) -> Command {
        let mut command = Command::new("dd");
        let file = disk.folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        command
            .args(["if=/dev/zero", "bs=512", "count=1", "conv=fdatasync"])
            .arg(format!("of={}", file.display()))
            .stderr(std::process::Stdio::null())
            .envs(disk.environment());
        command
    }

    #[test]
    fn only_the_held_files_hang_until_they_are_released() {
        let disk = HeldDisk::build(Held::Journal, Duration::from_millis(1)).unwrap();
        disk.hang().unwrap();
        let mut hangs = sync(&disk, "journal/segment").spawn().unwrap();
        assert!(sync(&disk, "orders.db").status().unwrap().success());
        assert!(hangs.try_wait().unwrap().is_none());
        disk.release().unwrap();
        assert!(hangs.wait().unwrap().success());
    }
}
