//! The end of a run, in order: everything heals, the last losses are survived, and everything is compared.

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
}
