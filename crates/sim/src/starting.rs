//! The beginning of a life of the process, on a disk that may fail under it.

use seckill_engine_embedded::{OpenError, journal};

use crate::house::Process;
use crate::world::World;

/// Attempts to start the process while the disk fails under it.
const STARTS_MAX: u32 = 20;

impl World {
    /// Starts the process. The disk may fail meanwhile; then it is tried again later.
    pub(crate) fn start(&mut self) {
        if self.begin() {
            let detail = "the journal has acknowledged more than the ledger has settled".to_owned();
            self.auditor.borrow_mut().fail("the ledger is written first", detail);
        }
    }

    /// Starts the process, and says whether it notices that its database is older than its journal.
    pub(crate) fn begin(&mut self) -> bool {
        for _ in 0..STARTS_MAX {
            match Process::start(&self.ground, &self.scenario, &mut self.tasks) {
                Ok(process) => {
                    self.weather.note("the process starts");
                    let acknowledged = process.engine.acknowledged_batch();
                    self.process = Some(process);
                    self.look();
                    return self.auditor.borrow().books().settled_batch.unsigned_abs() < acknowledged;
                }
                Err(OpenError::Journal(error)) => self.not_started(&error),
            }
            if self.is_violated() {
                return false;
            }
        }
        self.auditor
            .borrow_mut()
            .fail("the process starts", "the journal cannot be opened".to_owned());
        false
    }

    fn not_started(&mut self, error: &journal::Error) {
        self.weather.note(&format!("the process does not start: {error}"));
        if matches!(error, journal::Error::Damaged { .. } | journal::Error::Replay { .. }) {
            let detail = format!("{error:?}");
            self.auditor
                .borrow_mut()
                .fail("a journal can be read as it was written", detail);
        }
        self.ground.disk.inner.clear_faults();
        self.ground.disk.inner.limit_space(u64::MAX);
        self.ground.disk.inner.restart();
    }
}
