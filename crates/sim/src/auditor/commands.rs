//! What operators and payers asked for and were told. It bounds what the sale may do between asking and telling.

use super::Auditor;
use super::history::{Given, Span, Status};

/// A command that is kept because of what it may do meanwhile.
#[derive(Debug)]
pub(super) struct Command {
    /// Its sale.
    activity: i64,
    span: Span,
}

impl Command {
    /// A reconciliation may hold a sale for a moment, and one that was broken off until the scheduler takes the fence down.
    pub(super) const fn may_fence(&self, activity: i64, _from: u64, to: u64) -> bool {
        self.activity == activity && self.span.began <= to
    }
}

/// A change of a rule: which sale, and which of its changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    activity: i64,
    place: usize,
}

impl Auditor {
    pub(crate) fn status_asked(&mut self, activity: i64, status: Status) -> Change {
        let step = self.weather.step();
        let statuses = &mut self.sale(activity).statuses;
        statuses.push(Given {
            value: status,
            span: Span::from(step),
            sure: false,
        });
        let place = statuses.len() - 1;
        Change { activity, place }
    }

    pub(crate) fn status_told(&mut self, change: Change, sure: bool) {
        let step = self.weather.step();
        let given = &mut self.sale(change.activity).statuses[change.place];
        given.span.ended = Some(step);
        given.sure = sure;
    }

    pub(crate) fn end_asked(&mut self, activity: i64, ends_at: i64) -> Change {
        let step = self.weather.step();
        let ends = &mut self.sale(activity).ends;
        ends.push(Given {
            value: ends_at,
            span: Span::from(step),
            sure: false,
        });
        let place = ends.len() - 1;
        Change { activity, place }
    }

    pub(crate) fn end_told(&mut self, change: Change, sure: bool) {
        let step = self.weather.step();
        let given = &mut self.sale(change.activity).ends[change.place];
        given.span.ended = Some(step);
        given.sure = sure;
    }

    pub(crate) fn units_asked(&mut self, activity: i64, key: &str, units: i64) {
        self.sale(activity)
            .added
            .entry(key.to_owned())
            .or_insert((units, false));
    }

    pub(crate) fn units_told(&mut self, activity: i64, key: &str) {
        if let Some(added) = self.sale(activity).added.get_mut(key) {
            added.1 = true;
        }
    }

    /// A reconciliation that may write begins.
    pub(crate) fn fence_asked(&mut self, activity: i64) {
        let span = Span::from(self.weather.step());
        self.commands.push(Command { activity, span });
    }

    /// A dead letter may go back to the queue: those behind it have more ahead of them then.
    pub(crate) const fn revival_asked(&mut self) {
        self.revived = true;
    }

    /// Somebody was told what his payment did.
    pub(crate) fn payment_told(&mut self, id: &str, paid: bool) {
        let before = *self.payments.entry(id.to_owned()).or_insert(paid);
        self.check(before == paid, "the same payment has the same outcome", || {
            format!("{id}: {before}, then {paid}")
        });
    }

    fn sale(&mut self, activity: i64) -> &mut super::Sale {
        self.sales.get_mut(&activity).expect("a sale that was made known")
    }
}
