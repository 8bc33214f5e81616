//! The switches in force at a gate: set from outside, and going back by themselves.

use std::sync::Arc;

use arc_swap::Guard;
use seckill_sale::EpochMs;

use crate::{Gate, Limits, Switches};

impl Gate {
    /// The switches in force, as last set or gone back: see [`Gate::go_back`].
    #[must_use]
    pub fn switches(&self) -> Arc<Switches> {
        self.switches.load_full()
    }

    /// The switches in force at `now`. Where nothing is to go back this costs a comparison.
    pub(crate) fn switches_at(&self, now: EpochMs) -> Guard<Arc<Switches>> {
        let switches = self.switches.load();
        if !switches.is_due(now) {
            return switches;
        }
        self.go_back(now);
        self.switches.load()
    }

    /// Puts in force what went back by `now`. Purchases see to it themselves; what else follows the switches needs somebody who asks for it.
    pub fn go_back(&self, now: EpochMs) {
        if !self.switches.load().is_due(now) {
            return;
        }
        let _held = self.switching.lock();
        let next = self.switches.load().at(now);
        self.put(next);
    }

    /// Takes `next` unless switches of the same or a later revision are in force; says whether it did.
    pub fn switch(&self, next: Switches) -> bool {
        let _held = self.switching.lock();
        if next.revision <= self.switches.load().revision {
            return false;
        }
        self.put(next);
        true
    }

    fn put(&self, next: Switches) {
        self.limiters.set(next.limits.over(self.limits));
        self.switches.store(Arc::new(next));
    }

    /// The limits of the settings, which hold where no switch says otherwise.
    #[must_use]
    pub const fn limits_of_settings(&self) -> Limits {
        self.limits
    }

    /// The limits in force.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.switches.load().limits.over(self.limits)
    }

    /// Share of purchases that this node lets in by itself, whatever the operator says; the lower one holds.
    #[must_use]
    pub fn auto_admit_ratio(&self) -> f64 {
        self.automatic.admit_ratio()
    }

    /// Sets it, from 0 to 1.
    pub fn set_auto_admit_ratio(&self, ratio: f64) {
        self.automatic.set_admit_ratio(ratio);
    }

    /// Whether this node admits nobody since too many tickets wait for their order, or one for too long.
    #[must_use]
    pub fn holds_back(&self) -> bool {
        self.automatic.holds_back()
    }

    /// Sets it; the store is to be told [`Gate::backlog_max`].
    pub fn set_holds_back(&self, holds_back: bool) {
        self.automatic.set_holds_back(holds_back);
    }

    /// Room for tickets that the store is to have: what the switch says, or next to none. Who holds a ticket, or comes to a sale without
    /// units, still hears just that, since the store decides it.
    #[must_use]
    pub fn backlog_max(&self) -> u64 {
        match self.holds_back() {
            true => 1,
            false => self.switches.load().backlog_max,
        }
    }
}
