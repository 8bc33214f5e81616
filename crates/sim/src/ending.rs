//! The end of a run, in order: everything heals, the last losses are survived, and everything is compared.

use seckill_ledger::Operations;

use crate::actions::{operator_context, read_switches};
use crate::world::{Death, World};

impl World {
    /// Heals everything and audits.
    pub(crate) fn end(&mut self) {
        self.heal();
        self.end_schedule();
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
        self.read_switches();
        self.compact();
        self.start();
        self.audit_all();
        self.read_switches();
        self.lose_journal();
        self.work_off();
        self.reconcile_all();
        self.audit_all();
    }

    /// No more rounds: the older copy of the database, which is brought back later, must know every sale.
    fn end_schedule(&mut self) {
        let Some(id) = self.schedule.filter(|_| !self.is_violated()) else {
            return;
        };
        let (database, context) = (self.ground.database.clone(), operator_context(self));
        self.errand(format!("schedule {id} ends"), async move {
            let ended = database.set_schedule_enabled(id, false, context).await;
            ended.expect("the ledger runs on this thread");
        });
        self.settle_down();
    }

    /// Which switches the store keeps; a crash or a compaction changes nothing of it.
    fn read_switches(&mut self) {
        if !self.is_violated() {
            read_switches(self);
            self.settle_down();
        }
    }
}
