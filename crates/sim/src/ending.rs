//! The end of a run, in order: everything heals, the last losses are survived, and everything is compared.

use seckill_engine_embedded::journal::Journal;
use seckill_engine_embedded::storage::simulated::Fault as DiskFault;

use crate::house::{INSTALLATION, journal_options};
use crate::world::{Death, World};

impl World {
    /// Heals everything and audits.
    pub(crate) fn end(&mut self) {
        self.heal();
        self.tick_now();
        self.settle_what_can();
        let kept = self.copy_database();
        self.sell_rest();
        self.settle_what_can();
        self.lose_database(&kept);
        self.work_off();
        self.reconcile_all();
        self.audit_all();
        self.weather.note("the last loss of power");
        self.die(Death::PowerLoss);
        self.start();
        self.audit_all();
        self.compact();
        self.start();
        self.audit_all();
        self.lose_journal();
        self.work_off();
        self.reconcile_all();
        self.audit_all();
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
            journal.compaction().map(seckill_engine_embedded::compact).transpose()
        });
        self.weather.note(&format!("compacted: {done:?}"));
        if !self.ground.disk.inner.has_power() {
            self.ground.disk.inner.restart();
        }
        self.ground.disk.inner.clear_faults();
        self.ground.disk.inner.restart();
    }
}
