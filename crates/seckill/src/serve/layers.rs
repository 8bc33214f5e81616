//! Store, queue and ledger of the embedded mode: opened in an order that loses nothing, and checked to belong together.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rand::Rng;
use rustix::fs::Mode;
use seckill_engine_embedded::lock::Lock;
use seckill_engine_embedded::storage::Disk;
use seckill_engine_embedded::{Embedded, Options, Sequencer, open};
use seckill_flow::{Apart, Settle, apart};
use seckill_ledger::{Installation, Ledger};
use seckill_sale::{Clock, InstallationId, SystemClock};
use seckill_settings::Settings;

use super::{Patience, acceptance, ledger};
use crate::exit::{Failure, chain};

/// Folder of the journal within the data folder.
pub(crate) const JOURNAL_FOLDER: &str = "journal";

/// The opened layers. Dropping them closes the journal and the database, in this order.
pub(crate) struct Layers {
    pub(crate) engine: Embedded,
    pub(crate) ledger: Arc<dyn Ledger>,
    sequencer: Option<JoinHandle<()>>,
    /// One owner per data folder; released last.
    _lock: Lock,
}

/// Layers that are open but do nothing yet, before it is known whether they belong together.
pub(crate) struct Opened {
    pub(crate) engine: Embedded,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) sequencer: Sequencer<Disk>,
    /// What the database says of itself.
    pub(crate) installation: Installation,
    /// Whether the journal is new.
    pub(crate) journal_created: bool,
    answer_within: Duration,
    lock: Lock,
}

/// How journal and database relate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// They belong together.
    Good,
    /// Both are new, or the first start was interrupted: the database is to be given the journal's id.
    Fresh,
    /// They don't; what is wrong, in a sentence.
    Bad(String),
    /// There is no database to speak of, but a journal that knows more; in a sentence. Only a copy of the database helps.
    Gone(String),
}

/// Takes the data folder, which is made where it is missing. From here on this process makes files that only its user can read: they
/// hold personal data. What is there already stays as it is.
pub(crate) fn take_folder(settings: &Settings) -> Result<Lock, Failure> {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    Lock::acquire(&settings.data_dir).map_err(|error| Failure::failed(chain(&error)))
}

/// Opens everything in the data folder. Nothing is changed but what a first start creates.
pub(crate) fn open_layers(settings: &Settings, mut patience: Patience<'_>) -> Result<Opened, Failure> {
    acceptance::check(settings)?;
    let lock = take_folder(settings)?;
    let journal = settings.data_dir.join(JOURNAL_FOLDER);
    create_folder(&journal)?;
    let ledger = ledger::open(settings, &mut patience)?;
    let installation = block_on(ledger.installation()).map_err(Failure::unreachable)?;
    let storage = Disk::open(&journal).map_err(|error| Failure::failed(format!("{}: {error}", journal.display())))?;
    let mut options = Options {
        backlog_max: settings.queue.backlog_max,
        ..Options::default()
    };
    options.waits.retry_ms = Settle::wait_ms_max(super::node::millis(settings.queue.retry_wait_max));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let id = installation.id.unwrap_or_else(|| InstallationId(random_bytes()));
    let opened = open(storage, options, id, clock).map_err(|error| Failure::failed(chain(&error)))?;
    Ok(Opened {
        engine: opened.engine,
        ledger,
        sequencer: opened.sequencer,
        installation,
        journal_created: opened.created,
        answer_within: settings.store.answer_within,
        lock,
    })
}

impl Opened {
    /// How journal and database relate.
    pub(crate) fn pairing(&self) -> Pairing {
        let acknowledged = self.engine.acknowledged_batch();
        let pristine = acknowledged == 0 && self.sequencer.is_empty();
        match self.installation.id {
            None if pristine => Pairing::Fresh,
            None => Pairing::Gone("the database is new or empty, but its journal is not".to_owned()),
            Some(id) if id != self.engine.installation() => {
                Pairing::Bad("the database belongs to another journal".to_owned())
            }
            Some(_) if self.journal_created && 0 < self.installation.settled_batch => {
                Pairing::Bad("the journal is missing beside a database that has orders".to_owned())
            }
            Some(_) if self.installation.settled_batch < acknowledged => Pairing::Bad(format!(
                "the database is older than its journal: it knows {} settled batches, {acknowledged} were acknowledged",
                self.installation.settled_batch
            )),
            Some(_) => Pairing::Good,
        }
    }

    /// Refuses layers that don't belong together, ties new ones, and puts them to work.
    pub(crate) fn start(self) -> Result<Layers, Failure> {
        match self.pairing() {
            Pairing::Good => {}
            Pairing::Fresh => {
                block_on(self.ledger.set_installation(self.engine.installation(), 0)).map_err(Failure::failed)?;
            }
            Pairing::Bad(why) | Pairing::Gone(why) => return Err(refused(&why)),
        }
        let layers = self.run()?;
        match layers.apart()? {
            None => Ok(layers),
            Some(apart) => Err(refused(&apart)),
        }
    }

    /// Puts the layers to work, whatever their pairing.
    pub(crate) fn run(self) -> Result<Layers, Failure> {
        let sequencer = self.sequencer;
        let thread = std::thread::Builder::new()
            .name("sequencer".to_owned())
            .spawn(move || sequencer.run());
        let sequencer = Some(thread.map_err(|error| Failure::failed(format!("no thread for the store: {error}")))?);
        Ok(Layers {
            engine: self.engine.answering_within(self.answer_within),
            ledger: self.ledger,
            sequencer,
            _lock: self.lock,
        })
    }
}

fn refused(why: &impl std::fmt::Display) -> Failure {
    Failure::failed(format!(
        "{why}. Nothing was changed. `seckill recover` says what can be done about it"
    ))
}

impl Layers {
    /// What store and ledger know of each other's sales that can't be.
    pub(crate) fn apart(&self) -> Result<Option<Apart>, Failure> {
        block_on(apart(&self.engine, &*self.ledger)).map_err(|error| Failure::failed(chain(&error)))
    }
}

impl Drop for Layers {
    fn drop(&mut self) {
        self.engine.close();
        if let Some(sequencer) = self.sequencer.take()
            && sequencer.join().is_err()
        {
            tracing::error!("the store's thread had panicked");
        }
    }
}

fn create_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
}

fn random_bytes() -> [u8; 16] {
    let mut bytes = [0; 16];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

/// Runs a future that needs no timers to its end.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime needs descriptors only");
    runtime.block_on(future)
}
