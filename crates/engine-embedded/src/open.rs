//! Starting the engine: one owner per folder, the journal replayed, the views published.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use seckill_sale::{Clock, InstallationId, WaitsMax};

use crate::ahead::Ahead;
use crate::compactor::{CompactionOptions, Compactor, replay_into};
use crate::embedded::Embedded;
use crate::inbox::Inbox;
use crate::journal::{self, Journal};
use crate::sequencer::Sequencer;
use crate::shared::Shared;
use crate::state::State;
use crate::storage::Storage;

/// How the engine is run.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The journal's sizes.
    pub journal: journal::Options,
    /// When the journal is compacted.
    pub compaction: CompactionOptions,
    /// Tickets that may wait, over all sales, until [`seckill_stock::Stock::set_backlog_max`] says otherwise.
    pub backlog_max: u64,
    /// How long tickets may wait: for the verdict of the worker that took them, and for another attempt.
    pub waits: WaitsMax,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            journal: journal::Options::default(),
            compaction: CompactionOptions::default(),
            backlog_max: 200_000,
            waits: WaitsMax {
                lease_ms: 30_000,
                retry_ms: 60_000,
            },
        }
    }
}

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The journal.
    #[error(transparent)]
    Journal(#[from] journal::Error),
}

/// A started engine.
pub struct Opened<S: Storage> {
    /// The handle for everybody.
    pub engine: Embedded,
    /// The owner; nothing is done unless it runs.
    pub sequencer: Sequencer<S>,
    /// Whether there was no journal before.
    pub created: bool,
}

/// Opens or creates the engine's state in `storage`. Whoever calls it holds the folder's lock.
///
/// # Errors
/// [`OpenError::Journal`] where the journal cannot be read as it was written.
pub fn open<S: Storage>(
    storage: S,
    options: Options,
    new_installation: InstallationId,
    clock: Arc<dyn Clock>,
) -> Result<Opened<S>, OpenError> {
    let began = Instant::now();
    let mut state = State::default();
    let opened = Journal::create_or_open(storage, options.journal, new_installation.0, &mut |_, payload| {
        replay_into(&mut state, payload)
    })?;
    state.drop_unbuilt();
    let shared = Arc::new(Shared::new(clock, options.backlog_max));
    let inbox = Arc::new(Inbox::default());
    let engine = Embedded {
        shared: shared.clone(),
        inbox: inbox.clone(),
        answer_within: None,
        installation: InstallationId(opened.installation),
    };
    let sequencer = Sequencer {
        shared,
        inbox,
        state,
        journal: opened.journal,
        compactor: Compactor::new(options.compaction),
        frame_bytes_max: options.journal.frame_bytes_max as usize,
        waits: options.waits,
        frame: Vec::new(),
        newest_accepted_at: None,
        observer: None,
        ahead: Ahead::default(),
    };
    sequencer.publish();
    sequencer.publish_views();
    tracing::info!(
        created = opened.created,
        frames = opened.frames,
        sales = sequencer.state.sales().count(),
        queued_tickets = sequencer.shared.depth().tickets,
        acknowledged_batch = sequencer.shared.written.acknowledged.load(Ordering::Relaxed),
        elapsed_ms = began.elapsed().as_millis(),
        "the store's state was read"
    );
    Ok(Opened {
        engine,
        sequencer,
        created: opened.created,
    })
}
