//! All sales of the process, as the fold of the journal's records. No IO, no clock.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use seckill_queue::{Taken, Turns};
use seckill_sale::{ActivityId, EpochMs, Event, Sale, WaitsMax};

use crate::codec::Record;
use crate::permits::Permits;

/// Every sale that has a state, and those that are being built.
#[derive(Debug, Default)]
pub(crate) struct State {
    sales: HashMap<ActivityId, Sale>,
    /// States whose `Built` record has not come yet. A crash before it leaves them here, and so nowhere.
    building: HashMap<ActivityId, Sale>,
    queued_tickets: u64,
    acknowledged: u64,
    switches: String,
    permits: Permits,
    /// Whose tickets are taken next; like a lease it does not outlive the process.
    turns: Turns,
}

impl State {
    /// Does what a record says.
    pub(crate) fn apply(&mut self, record: &Record) {
        match record {
            Record::Event(activity, event) => self.apply_event(*activity, event),
            Record::Built(activity) => self.built(*activity),
            Record::Forgotten(activity) => {
                if let Some(sale) = self.sales.remove(activity) {
                    self.queued_tickets -= sale.queued_tickets() as u64;
                }
            }
            Record::Acknowledged(batch) => self.acknowledged = self.acknowledged.max(*batch),
            Record::Switched(switches) => self.switches.clone_from(switches),
            Record::Permitted(permitted) => self.permits.apply(permitted),
        }
    }

    /// Does what an event says; an event of a sale without a state changes nothing.
    pub(crate) fn apply_event(&mut self, activity: ActivityId, event: &Event) {
        if let Event::Opened(opened) = event {
            self.building.insert(activity, Sale::open(opened));
            return;
        }
        if let Some(sale) = self.building.get_mut(&activity) {
            sale.apply(event);
            return;
        }
        let Some(sale) = self.sales.get_mut(&activity) else {
            return;
        };
        let before = sale.queued_tickets() as u64;
        sale.apply(event);
        self.queued_tickets = self.queued_tickets + sale.queued_tickets() as u64 - before;
    }

    fn built(&mut self, activity: ActivityId) {
        let Some(sale) = self.building.remove(&activity) else {
            return;
        };
        self.queued_tickets += sale.queued_tickets() as u64;
        if let Some(old) = self.sales.insert(activity, sale) {
            self.queued_tickets -= old.queued_tickets() as u64;
        }
    }

    /// Forgets states whose building was interrupted; to be called once after a replay.
    pub(crate) fn drop_unbuilt(&mut self) {
        self.building.clear();
    }

    /// A sale that has a state.
    #[must_use]
    pub(crate) fn sale(&self, activity: ActivityId) -> Option<&Sale> {
        self.sales.get(&activity)
    }

    /// A sale to give tickets back to; that is not an event, a lease does not outlive the process.
    pub(crate) fn sale_mut(&mut self, activity: ActivityId) -> Option<&mut Sale> {
        self.sales.get_mut(&activity)
    }

    /// Takes at most `count` tickets of the sale whose turn it is, but of none of `others`. No event either.
    pub(crate) fn take(&mut self, now: EpochMs, waits: WaitsMax, count: usize, others: &BTreeSet<ActivityId>) -> Taken {
        let own = self.sales().filter(|(activity, _)| !others.contains(activity));
        let takable = own.filter(|(_, sale)| sale.is_takable(now, waits));
        let next = takable.min_by_key(|(activity, sale)| {
            let since = sale.takable_since(now, waits).unwrap_or(now);
            self.turns.rank(*activity, since)
        });
        let next = next.map(|(activity, _)| activity);
        let Some(sale) = next.and_then(|activity| self.sales.get_mut(&activity)) else {
            return Taken::default();
        };
        self.turns.serve(sale.terms().activity);
        Taken {
            tickets: sale.take(now, waits, count),
            epoch: None,
            created_at: sale.terms().created_at,
        }
    }

    /// All sales, in no order.
    pub(crate) fn sales(&self) -> impl Iterator<Item = (ActivityId, &Sale)> + Clone {
        self.sales.iter().map(|(&activity, sale)| (activity, sale))
    }

    /// Tickets that wait, over all sales.
    #[must_use]
    pub(crate) const fn queued_tickets(&self) -> u64 {
        self.queued_tickets
    }

    /// Number of the newest acknowledged settlement batch.
    #[must_use]
    pub(crate) const fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Switches that the ledger may not have yet; empty where it has them.
    #[must_use]
    pub(crate) fn switches(&self) -> &str {
        &self.switches
    }

    /// The same, or none.
    #[must_use]
    pub(crate) fn kept_switches(&self) -> Option<String> {
        Some(self.switches.clone()).filter(|switches| !switches.is_empty())
    }

    /// Permits that were taken.
    #[must_use]
    pub(crate) const fn permits(&self) -> &Permits {
        &self.permits
    }

    /// Forgets permits whose moment is over; that is no event.
    pub(crate) fn forget_permits(&mut self, now: EpochMs) {
        self.permits.forget(now);
    }

    /// The shortest sequence of records that rebuilds this state.
    pub(crate) fn snapshot(&self, mut visit: impl FnMut(&Record)) {
        visit(&Record::Acknowledged(self.acknowledged));
        if !self.switches.is_empty() {
            visit(&Record::Switched(self.switches.clone()));
        }
        for permitted in self.permits.all() {
            visit(&Record::Permitted(permitted));
        }
        for (activity, sale) in self.sales() {
            sale.snapshot(|event| visit(&Record::Event(activity, event)));
            visit(&Record::Built(activity));
        }
    }
}
