//! The file of public keys that tokens are checked with: read at the start, and again whenever it has changed. A file that can't be used leaves
//! the keys from before in force and says so, in the log, on the checklist and in a metric.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use seckill_console::Check;
use seckill_gate::{Authority, Expectations, Gate, JWKS_BYTES_MAX, PublicAlgorithm, Verifier};
use seckill_settings::{JwtKey, KeyFile, Settings};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::access;
use crate::exit::chain;

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What tells a file from the one that was there before: a copy over it changes length or moment, a rename the file itself.
type Mark = (u64, u64, i64, i64);

/// The file, as far as this process has read it.
pub(crate) struct Watched {
    file: KeyFile,
    expectations: Expectations,
    seen: Mutex<Option<Mark>>,
    /// Why the newest file can't be used.
    broken: Mutex<Option<String>>,
}

/// A verifier with the keys of a file.
pub(crate) fn read(file: &KeyFile, expectations: &Expectations) -> Result<Verifier, String> {
    let text = text(&file.path).map_err(|error| error.to_string())?;
    Verifier::key_set(algorithm(file), &text, expectations).map_err(|error| chain(&error))
}

/// No more than is worth reading: a device has no end.
fn text(path: &Path) -> std::io::Result<String> {
    // A pipe would keep whoever opens it waiting.
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is no file"));
    }
    let mut text = String::new();
    let most = JWKS_BYTES_MAX as u64 + 1;
    File::open(path)?.take(most).read_to_string(&mut text)?;
    Ok(text)
}

const fn algorithm(file: &KeyFile) -> PublicAlgorithm {
    access::algorithm(file.algorithm)
}

fn mark(path: &Path) -> Option<Mark> {
    let found = fs::metadata(path).ok()?;
    Some((found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
}

impl Watched {
    /// The file of these settings, which has been read for the gate just now; none where keys do not come from a file.
    pub(crate) fn of(settings: &Settings) -> Option<Arc<Self>> {
        let Ok(seckill_settings::Identity::Jwt(JwtKey::File(file))) = settings.require_auth() else {
            return None;
        };
        Some(Arc::new(Self {
            expectations: access::expectations(settings),
            seen: Mutex::new(None),
            broken: Mutex::new(None),
            file: file.clone(),
        }))
    }

    /// Takes over what the file says, where it is another one than at the last look.
    pub(crate) fn look(&self, gate: &Gate) {
        let Authority::Tokens(verifiers) = gate.authority() else {
            return;
        };
        let found = mark(&self.file.path);
        let mut seen = self.seen.lock();
        if found.is_some() && *seen == found {
            return;
        }
        let path = self.file.path.display();
        let read = read(&self.file, &self.expectations);
        // Not sooner: metrics and checklist wait for it, and a disk may hang.
        let mut broken = self.broken.lock();
        // One that can't be used is read again and again: a change of who may read it, or a copy that keeps its moment, shows in no mark.
        *seen = found.filter(|_| read.is_ok());
        match read {
            Ok(verifier) => {
                tracing::info!(%path, keys = verifier.keys(), "the keys of tokens were read");
                verifiers.replace(verifier);
                *broken = None;
            }
            Err(why) => {
                if broken.as_ref() != Some(&why) {
                    tracing::error!(%path, why, "the file of keys can't be used; the keys from before hold");
                }
                *broken = Some(why);
            }
        }
    }

    /// Whether the newest file is in force.
    pub(crate) fn is_up(&self) -> bool {
        self.broken.lock().is_none()
    }

    /// A line of the checklist.
    pub(crate) fn check(&self, gate: &Gate) -> Check {
        const AREA: &str = "token keys";
        let path = self.file.path.display();
        let keys = match gate.authority() {
            Authority::Tokens(verifiers) => verifiers.keys(),
            Authority::Gateway => 0,
        };
        match &*self.broken.lock() {
            None => Check::passed(AREA, format!("{keys} of {path}")),
            Some(why) => Check::failed(
                AREA,
                format!(
                    "{path} can't be used: {why}; {keys} keys from before hold, put it right before they are withdrawn"
                ),
            ),
        }
    }

    /// Looks again and again. The file is read where it is asked for: nothing else runs on this runtime, and one that hangs would keep a
    /// thread for blocking calls as well, and the process from its end.
    pub(crate) async fn follow(self: Arc<Self>, gate: Arc<Gate>, shutdown: CancellationToken) {
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                _ = ticks.tick() => self.look(&gate),
            }
        }
    }
}
