//! Store, queue and ledger: opened in an order that loses nothing, and checked to belong together.

mod tying;

use std::sync::Arc;

use rand::Rng;
use rustix::fs::Mode;
use seckill_engine_embedded::lock::Lock;
use seckill_flow::{Apart, apart, older};
use seckill_ledger::{Installation, Ledger};
use seckill_sale::InstallationId;
use seckill_settings::Settings;

use super::store::{self, Standing, Store};
use super::{Patience, acceptance, ledger};
use crate::exit::{Failure, chain};
use tying::Retied;

/// The opened layers. Dropping them closes the store and the database, in this order.
pub(crate) struct Layers {
    pub(crate) store: Store,
    pub(crate) ledger: Arc<dyn Ledger>,
    /// What names the database; none where it was given no name yet.
    pub(crate) installation: Option<InstallationId>,
    retied: Option<Retied>,
    /// One owner per data folder; released last.
    _lock: Lock,
}

/// Layers that are open but do nothing yet, before it is known whether they belong together.
pub(crate) struct Opened {
    pub(crate) store: Store,
    pub(crate) ledger: Arc<dyn Ledger>,
    /// What the database says of itself.
    pub(crate) installation: Installation,
    standing: Standing,
    retied: Option<Retied>,
    lock: Lock,
}

/// How store and database relate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// They belong together.
    Good,
    /// Both are new, or the first start was interrupted: the database is to be given the store's id, or a new one.
    Fresh,
    /// They don't; what is wrong, in a sentence.
    Bad(String),
    /// There is no database to speak of, but a store that knows more; in a sentence. Only a copy of the database helps.
    Gone(String),
}

/// Takes the data folder, which is made where it is missing. From here on this process makes files that only its user can read: they
/// hold personal data. What is there already stays as it is.
pub(crate) fn take_folder(settings: &Settings) -> Result<Lock, Failure> {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    Lock::acquire(&settings.data_dir).map_err(|error| Failure::failed(chain(&error)))
}

/// Opens everything of the settings. Nothing is changed but what a first start creates.
pub(crate) fn open_layers(settings: &Settings, patience: &mut Patience<'_>) -> Result<Opened, Failure> {
    acceptance::check(settings)?;
    let lock = take_folder(settings)?;
    let ledger = ledger::open(settings, patience)?;
    let installation = patience.ask(seckill_ledger::Error::is_outage, || block_on(ledger.installation()))?;
    let store = store::open(settings, installation.id, patience)?;
    let standing = store.standing(patience)?;
    // Read again behind the store's: other processes settle meanwhile, and the ledger is always first.
    let installation = patience.ask(seckill_ledger::Error::is_outage, || block_on(ledger.installation()))?;
    Ok(Opened {
        store,
        ledger,
        installation,
        standing,
        retied: None,
        lock,
    })
}

/// How a store and a database that say this of themselves relate.
fn pair(store: Standing, database: &Installation) -> Pairing {
    let what = if store.is_own { "journal" } else { "store" };
    match (database.id, store.id) {
        (None, _) if store.is_empty && store.acknowledged == 0 => Pairing::Fresh,
        (None, _) => Pairing::Gone(format!("the database is new or empty, but its {what} is not")),
        (Some(_), None) => Pairing::Good,
        (Some(id), Some(its)) if id != its => Pairing::Bad(format!("the database belongs to another {what}")),
        _ if store.is_own && store.is_created && 0 < database.settled_batch => {
            Pairing::Bad("the journal is missing beside a database that has orders".to_owned())
        }
        _ if database.settled_batch < store.acknowledged => Pairing::Bad(format!(
            "the database is older than its {what}: it knows {} settled batches, {} were acknowledged",
            database.settled_batch, store.acknowledged
        )),
        _ => Pairing::Good,
    }
}

impl Opened {
    /// What the store says of itself.
    pub(crate) const fn standing(&self) -> Standing {
        self.standing
    }

    /// How store and database relate.
    pub(crate) fn pairing(&self) -> Pairing {
        pair(self.standing, &self.installation)
    }

    /// Refuses layers that don't belong together, ties new ones, and puts them to work.
    pub(crate) fn start(mut self, patience: &mut Patience<'_>) -> Result<Layers, Failure> {
        match self.pairing() {
            Pairing::Good | Pairing::Fresh => self.installation.id = Some(self.tie(patience)?),
            Pairing::Bad(why) | Pairing::Gone(why) => return Err(refused(&why)),
        }
        let is_own = self.standing.is_own;
        let layers = self.run()?;
        let found = patience.ask(is_passing, || layers.look_apart())?;
        match found {
            None => Ok(layers),
            // What a store on a server has lost is rebuilt while it serves.
            Some(Apart::Behind { .. } | Apart::Lost { .. }) if !is_own => Ok(layers),
            Some(apart) => {
                layers.untie(patience);
                Err(refused(&apart))
            }
        }
    }

    /// Puts the layers to work, whatever their pairing.
    pub(crate) fn run(self) -> Result<Layers, Failure> {
        let mut store = self.store;
        store.run()?;
        Ok(Layers {
            store,
            ledger: self.ledger,
            installation: self.installation.id,
            retied: self.retied,
            _lock: self.lock,
        })
    }
}

/// Whether a procedure may succeed if it is asked for again.
pub(super) const fn is_passing(error: &seckill_flow::Error) -> bool {
    match error {
        seckill_flow::Error::Ledger(error) => error.is_outage(),
        seckill_flow::Error::Stock(error) => !matches!(error, seckill_stock::Error::NotReady(_)),
        _ => false,
    }
}

fn refused(why: &impl std::fmt::Display) -> Failure {
    Failure::failed(format!(
        "{why}. Nothing was changed. `seckill recover` says what can be done about it"
    ))
}

impl Layers {
    /// A start is refused: a store that was given another name by it has its own again.
    pub(crate) fn untie(&self, patience: &mut Patience<'_>) {
        if let Some(retied) = self.retied {
            retied.undo(&self.store, patience);
        }
    }

    /// What store and ledger know of each other's sales that can't be.
    pub(crate) fn apart(&self) -> Result<Option<Apart>, Failure> {
        self.look_apart().map_err(|error| Failure::failed(chain(&error)))
    }

    fn look_apart(&self) -> Result<Option<Apart>, seckill_flow::Error> {
        let stock = self.store.stock();
        block_on(async {
            let found = apart(&*stock, &*self.ledger).await?;
            match (&self.store, found) {
                (Store::OnRedis(_), None | Some(Apart::Behind { .. } | Apart::Lost { .. })) => {
                    Ok(older(&*stock, &*self.ledger).await?.or(found))
                }
                (_, found) => Ok(found),
            }
        })
    }
}

pub(crate) fn random_bytes() -> [u8; 16] {
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
