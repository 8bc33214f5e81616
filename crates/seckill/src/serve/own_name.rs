//! The name of a process, which no other may have at the same time: workers hold their tickets by it, and nodes know one another by it.
//!
//! It is kept in the data folder, so a copied folder is a second process of the same name, which the folder's lock can't see. On a shared store the name is
//! a lease, therefore. It is held by the place of the folder, so that a process which was killed has its name back at once, and a copy,
//! wherever it is, has to wait until the other is gone.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use seckill_settings::{Settings, StoreUrl};
use seckill_stock::Members;

use super::fingerprints;
use super::layers::{Opened, block_on, random_bytes};
use super::secrets;
use crate::exit::{Failure, Outcome};

/// How long a name stays taken by a process that does not renew it any more, in milliseconds.
const LEASE_MS: i64 = 4_000;
/// Longest wait for a lease that ends: it may have been renewed just before.
const WAIT_MAX: Duration = Duration::from_millis(6_000);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// What names this life of the machine.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The name of a process and the place that holds it.
#[derive(Debug, Clone)]
pub(crate) struct OwnName {
    pub(super) name: String,
    lease: String,
    holder: String,
}

impl OwnName {
    /// The name of the process that has locked this folder.
    fn new(name: String, data_dir: &Path) -> Self {
        let place = place(data_dir).unwrap_or_else(|| random_bytes().to_vec());
        Self {
            lease: format!("node:{name}"),
            name,
            holder: fingerprints::digest(&place, "place of a data folder"),
        }
    }

    /// Takes the name, and waits where another process had it a moment ago: it may be gone. A signal ends the start meanwhile.
    ///
    /// # Errors
    /// [`Failure::failed`] where that process goes on; a store that can't be asked.
    fn take(&self, members: &dyn Members, data_dir: &Path) -> Outcome {
        let begun = Instant::now();
        loop {
            let is_late = WAIT_MAX <= begun.elapsed();
            match block_on(self.renew(members)) {
                Ok(true) => return Ok(()),
                Ok(false) if is_late => return Err(copied(data_dir)),
                Err(error) if is_late => return Err(Failure::unreachable(error)),
                _ => thread::sleep(PAUSE),
            }
        }
    }

    /// Says again that the process has it, before it begins to work: what came between may have taken longer than a lease lasts.
    ///
    /// # Errors
    /// [`Failure::failed`] where another process took it meanwhile; a store that does not answer now is no reason not to start.
    pub(super) fn keep(&self, members: &dyn Members, data_dir: &Path) -> Outcome {
        match block_on(self.renew(members)) {
            Ok(false) => Err(copied(data_dir)),
            Ok(true) | Err(_) => Ok(()),
        }
    }

    /// Says that the process still has it; whether it has.
    pub(super) async fn renew(&self, members: &dyn Members) -> Result<bool, seckill_stock::Error> {
        members.lease(&self.lease, &self.holder, LEASE_MS).await
    }

    /// Gives it back.
    pub(super) async fn leave(&self, members: &dyn Members) -> Result<(), seckill_stock::Error> {
        members.release(&self.lease, &self.holder).await
    }
}

/// Takes the name of this process on a store that others share.
///
/// # Errors
/// As [`OwnName::take`].
pub(super) fn take(settings: &Settings, opened: &Opened) -> Result<OwnName, Failure> {
    let name = OwnName::new(secrets::node_name(&settings.data_dir)?, &settings.data_dir);
    if let StoreUrl::Remote(_) = settings.store.url {
        name.take(&*opened.store.members(), &settings.data_dir)?;
    }
    Ok(name)
}

/// What no other folder has that is in use at the same time. Where another one by chance has it all the same, copies are not told apart.
fn place(data_dir: &Path) -> Option<Vec<u8>> {
    let boot = fs::read_to_string(BOOT_ID).ok()?;
    let folder = fs::metadata(data_dir).ok()?;
    Some(format!("{boot} {} {}", folder.dev(), folder.ino()).into_bytes())
}

fn copied(data_dir: &Path) -> Failure {
    let folder = data_dir.display();
    Failure::failed(format!(
        "another process with the name of this one uses the store: {folder} is a copy of its data folder, or was copied there. Each process \
         needs a folder of its own: give this one an empty one (data_dir), or remove `node-id` from {folder}"
    ))
}
