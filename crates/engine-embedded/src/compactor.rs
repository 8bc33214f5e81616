//! Decides when the journal is compacted, and does it on a thread of its own: what a restart would do with the sealed segments,
//! done ahead of time, and its outcome written down as a snapshot. The owner of the live state is not disturbed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::codec::{Record, decode_all, encode};
use crate::journal::{Compacted, Compaction, Error, Journal, ReplayError};
use crate::sequencer::Sequencer;
use crate::state::State;
use crate::storage::Storage;

/// When and where to compact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionOptions {
    /// Bytes of sealed segments from which on a compaction pays.
    pub sealed_bytes_min: u64,
    /// Whether a thread does it; otherwise only [`compact`] does, when called.
    pub in_background: bool,
}

impl Default for CompactionOptions {
    fn default() -> Self {
        Self {
            sealed_bytes_min: 64 << 20,
            in_background: true,
        }
    }
}

pub(crate) struct Compactor {
    options: CompactionOptions,
    running: Arc<AtomicBool>,
}

impl Compactor {
    pub(crate) fn new(options: CompactionOptions) -> Self {
        Self {
            options,
            running: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Starts a compaction where it pays and none runs.
    pub(crate) fn consider<S: Storage>(&self, journal: &Journal<S>) {
        let stats = journal.stats();
        let pays = self.options.sealed_bytes_min.max(stats.snapshot_bytes / 2) <= stats.sealed_bytes;
        if !self.options.in_background || !pays || self.running.swap(true, Ordering::SeqCst) {
            return;
        }
        let Some(compaction) = journal.compaction() else {
            self.running.store(false, Ordering::SeqCst);
            return;
        };
        let running = self.running.clone();
        let work = move || {
            match compact(compaction) {
                Ok(done) => tracing::info!(?done, "the journal was compacted"),
                Err(error) => tracing::warn!(%error, "the journal could not be compacted; it is tried again later"),
            }
            running.store(false, Ordering::SeqCst);
        };
        if let Err(error) = thread::Builder::new().name("compaction".to_owned()).spawn(work) {
            tracing::warn!(%error, "no thread for a compaction");
            self.running.store(false, Ordering::SeqCst);
        }
    }
}

impl<S: Storage> Sequencer<S> {
    /// Begins a compaction of all that was committed so far; none where nothing was, or where one runs. It borrows nothing: frames go on
    /// until [`compact`] carries it out, and meanwhile. For simulators, which have no thread for it.
    ///
    /// # Errors
    /// The live segment could not be sealed.
    pub fn begin_compaction(&mut self) -> Result<Option<Compaction<S>>, Error> {
        let sealed = self.journal.seal();
        self.tell_if_broken();
        sealed?;
        Ok(self.journal.compaction())
    }
}

/// Payloads of a snapshot are about this long, in bytes.
const PAYLOAD_BYTES: usize = 256 << 10;

/// Reads what the compaction covers and writes its state as a snapshot.
///
/// # Errors
/// As the journal's; the old files stay in force.
pub fn compact<S: Storage>(compaction: Compaction<S>) -> Result<Compacted, Error> {
    let mut state = State::default();
    let mut writer = compaction.replay(&mut |_, payload| replay_into(&mut state, payload))?;
    let mut payload = Vec::with_capacity(PAYLOAD_BYTES + 1024);
    let mut outcome = Ok(());
    state.snapshot(|record| {
        encode(&mut payload, record);
        if PAYLOAD_BYTES <= payload.len() && outcome.is_ok() {
            outcome = writer.write(&payload);
            payload.clear();
        }
    });
    outcome?;
    if !payload.is_empty() {
        writer.write(&payload)?;
    }
    writer.finish()
}

/// Applies a payload of the journal.
pub(crate) fn replay_into(state: &mut State, payload: &[u8]) -> Result<(), ReplayError> {
    decode_all(payload, |record: Record| state.apply(&record)).map_err(Into::into)
}
