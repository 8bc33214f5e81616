//! A node whose own way to the ledger is cut off, while others have theirs: it follows pauses and their ends by the store, which decides
//! about purchases anyway.

use std::sync::Arc;
use std::time::Duration;

use seckill_sale::{Activity, ActivityId, Status};

use crate::Operator;

impl Operator {
    /// Looks how the store holds each sale, so that a pause that it loses, or brings back, is known; and where the ledger's list is older than
    /// `list_age_max`, shows the gate each sale as the store says: a younger list goes before, since the store may not have the ledger's last
    /// word yet. Costs no IO.
    pub fn follow_store(&self, list_age_max: Duration) {
        let listed_at = self.listed_at.lock();
        let is_old = listed_at.is_some_and(|at| list_age_max < at.elapsed());
        for (&id, activity) in &*self.layers.catalogue.all() {
            let held = self.held(id);
            let status = self.layers.stock.standing(id).and_then(|state| state.status);
            let status = if held.is_some() { Some(Status::Paused) } else { status };
            if let Some(status) = status.filter(|status| is_old && differs(activity.status, *status)) {
                self.show_as(id, activity, status);
            }
        }
        drop(listed_at);
    }

    fn show_as(&self, id: ActivityId, known: &Activity, status: Status) {
        tracing::info!(activity = %id, ?status, "the list of the ledger is old; the sale is shown as the store has it");
        let resumes_at = self.held(id).and_then(|hold| hold.resumes_at);
        self.layers.catalogue.put(&Arc::new(Activity {
            status,
            resumes_at: resumes_at.or(known.resumes_at),
            ..known.clone()
        }));
    }
}

/// Whether a sale is paused by one and running by the other: the store knows no more than that of those that are neither.
fn differs(shown: Status, by_store: Status) -> bool {
    matches!(
        (shown, by_store),
        (Status::Running, Status::Paused) | (Status::Paused, Status::Running)
    )
}
