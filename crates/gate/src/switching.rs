//! The switches in force at a gate: set from outside, and going back by themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arc_swap::Guard;
use seckill_sale::{ActivityId, EpochMs};

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

    /// Share of the purchases of each sale that this node lets in by itself, whatever the operator says, where that is not all; the lower one
    /// holds.
    #[must_use]
    pub fn auto_admit_ratios(&self) -> Arc<BTreeMap<ActivityId, f64>> {
        self.automatic.admit_ratios()
    }

    /// The lowest of these shares; 1 where there is none.
    #[must_use]
    pub fn auto_admit_ratio(&self) -> f64 {
        self.automatic.lowest()
    }

    /// Sets them, each from 0 to 1.
    pub fn set_auto_admit_ratios(&self, ratios: BTreeMap<ActivityId, f64>) {
        self.automatic.set_admit_ratios(ratios);
    }

    /// Sales to which this node admits nobody since too many of their tickets wait for their order, or one for too long.
    #[must_use]
    pub fn held_back(&self) -> Arc<BTreeSet<ActivityId>> {
        self.automatic.held_back()
    }

    /// Sets them; the store is to be told, too. It decides it, so that who holds a ticket, or comes to a sale without units, still hears just
    /// that.
    pub fn set_held_back(&self, sales: BTreeSet<ActivityId>) {
        self.automatic.set_held_back(sales);
    }

    /// Somebody heard that the backlog is full.
    pub fn note_backlog_full(&self, activity: ActivityId) {
        self.automatic.note_full(activity);
    }

    /// Of which sales somebody heard so since this was asked last.
    #[must_use]
    pub fn take_backlog_full(&self) -> BTreeSet<ActivityId> {
        self.automatic.take_full()
    }
}
