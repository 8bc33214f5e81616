//! Compactions of the journal: while the process is down, and beside it, with frames between its beginning and its end.

use seckill_engine_embedded::compact;
use seckill_engine_embedded::journal::Journal;
use seckill_engine_embedded::storage::simulated::Fault as DiskFault;

use crate::house::{INSTALLATION, journal_options};
use crate::world::{Death, World};

impl World {
    /// The process compacts its own journal: what one call begins the next carries out, and whatever the store does in between comes on
    /// top of it. It reads and writes at one go; the power may fail in the middle.
    pub(crate) fn compact_live(&mut self) {
        let process = self.process.as_mut().expect("the process runs");
        match process.compaction.take() {
            None => match process.sequencer.begin_compaction() {
                Ok(begun) => {
                    self.weather.note(&format!("a compaction begins: {}", begun.is_some()));
                    process.compaction = begun;
                }
                Err(error) => self.weather.note(&format!("a compaction does not begin: {error}")),
            },
            Some(begun) => {
                self.weather.set_compacting(true);
                let done = compact(begun);
                self.weather.set_compacting(false);
                self.weather.note(&format!("compacted beside the process: {done:?}"));
            }
        }
        if !self.ground.disk.inner.has_power() {
            self.weather.note("the power failed in the middle of it");
            self.die(Death::PowerLoss);
        }
    }

    /// While the process is down, its journal is compacted; perhaps the power fails in the middle.
    pub(crate) fn compact(&mut self) {
        self.die(Death::Killed);
        if self.random.chance(500) {
            let disk = &self.ground.disk.inner;
            disk.fail(disk.operations() + self.random.below(60), DiskFault::PowerLoss);
        }
        let opened = Journal::create_or_open(
            self.ground.disk.clone(),
            journal_options(),
            INSTALLATION.0,
            &mut |_, _| Ok(()),
        );
        let done = opened.and_then(|opened| {
            let mut journal = opened.journal;
            journal.seal()?;
            journal.compaction().map(compact).transpose()
        });
        self.weather.note(&format!("compacted: {done:?}"));
        if !self.ground.disk.inner.has_power() {
            self.ground.disk.inner.restart();
        }
        self.ground.disk.inner.clear_faults();
        self.ground.disk.inner.restart();
    }
}
