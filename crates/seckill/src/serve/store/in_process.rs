//! The embedded store: an engine, the thread that owns its state, and the journal in the data folder.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use seckill_engine_embedded::storage::Disk;
use seckill_engine_embedded::{Embedded, Options, Sequencer, open};
use seckill_flow::Settle;
use seckill_sale::{Clock, InstallationId, SystemClock};
use seckill_settings::Settings;

use super::Standing;
use crate::exit::{Failure, chain};
use crate::serve::layers::random_bytes;
use crate::serve::node::millis;

/// Folder of the journal within the data folder.
pub(crate) const JOURNAL_FOLDER: &str = "journal";

/// The engine of this process. Dropping it closes the journal.
pub(crate) struct InProcess {
    engine: Embedded,
    /// Until it runs.
    sequencer: Mutex<Option<Sequencer<Disk>>>,
    is_created: bool,
    thread: Option<JoinHandle<()>>,
}

impl InProcess {
    /// Opens the journal, and makes one for `id` where there is none. Nothing is done before [`InProcess::run`].
    pub(super) fn open(settings: &Settings, id: Option<InstallationId>) -> Result<Self, Failure> {
        let journal = settings.data_dir.join(JOURNAL_FOLDER);
        create_folder(&journal)?;
        let storage =
            Disk::open(&journal).map_err(|error| Failure::failed(format!("{}: {error}", journal.display())))?;
        let mut options = Options {
            backlog_max: settings.queue.backlog_max,
            ..Options::default()
        };
        options.waits.retry_ms = Settle::wait_ms_max(millis(settings.queue.retry_wait_max));
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let id = id.unwrap_or_else(|| InstallationId(random_bytes()));
        let opened = open(storage, options, id, clock).map_err(|error| Failure::failed(chain(&error)))?;
        Ok(Self {
            engine: opened.engine.answering_within(settings.store.answer_within),
            sequencer: Mutex::new(Some(opened.sequencer)),
            is_created: opened.created,
            thread: None,
        })
    }

    pub(crate) const fn engine(&self) -> &Embedded {
        &self.engine
    }

    /// Tells `observer` how long each step of the store took, from when it runs.
    pub(crate) fn observe(&self, observer: impl Fn(Duration) + Send + 'static) {
        if let Some(sequencer) = &mut *self.sequencer.lock() {
            sequencer.observe(observer);
        }
    }

    pub(super) fn standing(&self) -> Standing {
        let is_empty = self.sequencer.lock().as_ref().is_none_or(Sequencer::is_empty);
        Standing {
            id: Some(self.engine.installation()),
            acknowledged: self.engine.acknowledged_batch(),
            is_empty,
            is_own: true,
            is_created: self.is_created,
        }
    }

    pub(super) fn run(&mut self) -> Result<(), Failure> {
        let Some(sequencer) = self.sequencer.lock().take() else {
            return Ok(());
        };
        let thread = std::thread::Builder::new()
            .name("sequencer".to_owned())
            .spawn(move || sequencer.run());
        self.thread = Some(thread.map_err(|error| Failure::failed(format!("no thread for the store: {error}")))?);
        Ok(())
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.engine.close();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's thread had panicked");
        }
    }
}

fn create_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
}
