//! A node whose own way to the ledger is cut off, while others have theirs: it follows pauses and their ends by the store, which decides
//! about purchases anyway.

use std::sync::Arc;

use seckill_sale::{Activity, Hold, Status};

use crate::Operator;

impl Operator {
    /// Looks how the store holds each sale, so that a pause that it loses, or brings back, is known; and where `is_cut_off` from the ledger,
    /// shows the gate each sale as the store says: else the ledger goes before, whose last word the store may not have yet. Costs no IO.
    pub fn follow_store(&self, is_cut_off: bool) {
        for (&id, activity) in &*self.layers.catalogue.all() {
            let held = self.held(id);
            if !is_cut_off {
                continue;
            }
            let by_store = || self.layers.stock.standing(id)?.status;
            let status = held.map(|_| Status::Paused).or_else(by_store);
            if let Some(status) = status.filter(|status| differs(activity.status, *status)) {
                self.show_as(activity, status, held);
            }
        }
    }

    fn show_as(&self, known: &Activity, status: Status, held: Option<Hold>) {
        tracing::info!(activity = %known.id, ?status, "the ledger can't be read; the sale is shown as the store has it");
        self.layers.catalogue.put(&Arc::new(Activity {
            status,
            resumes_at: held.and_then(|hold| hold.resumes_at),
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
