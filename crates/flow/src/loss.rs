//! What the loss of a state cost: who had a ticket and no unit fails, and what is known of the rest is said in the log and in an audit row.

use seckill_ledger::SettleBatch;
use seckill_sale::{ActivityId, Delivery, Epoch, Figures, RequestId, Restored};
use serde_json::json;

use crate::renew::{TakenOver, Why, ticket_of};
use crate::{Error, Operator, Preheated};

/// Tickets that an audit row names at most.
const NAMES_MAX: usize = 100;

impl Operator {
    /// Writes into the ledger that tickets without a unit have failed; gives their names.
    pub(crate) async fn fail_without_unit(
        &self,
        id: ActivityId,
        epoch: Epoch,
        taken: &TakenOver,
    ) -> Result<Vec<String>, Error> {
        let without = taken.lost.iter().filter(|(_, why)| *why == Why::NoUnit);
        let tickets: Vec<_> = without.map(|(buyer, _)| delivery(id, buyer)).collect();
        if tickets.is_empty() {
            return Ok(Vec::new());
        }
        let name = |delivery: &Delivery| format!("{} of {}", delivery.ticket, delivery.user);
        let names = tickets.iter().map(name).collect();
        for delivery in &tickets {
            tracing::error!(ticket = %delivery.ticket, user = delivery.user.as_str(), "no unit is left for a ticket of a lost state; it fails");
        }
        let batch = SettleBatch {
            created_at: None,
            activity: id,
            tickets,
            now: self.layers.stock.now(),
            pay_within_ms: 0,
        };
        self.layers.ledger.fail_of(epoch, batch).await?;
        Ok(names)
    }

    /// Says what is known to be lost. Tickets that a worker holds are adopted later; whose the others were nobody knows.
    pub(crate) async fn tell_of_loss(
        &self,
        id: ActivityId,
        preheated: Preheated,
        taken: &TakenOver,
        (failed, accepted): (&[String], u64),
        seen: Option<Figures>,
    ) {
        let names = taken.lost_names(id);
        let missing = seen.map(|seen| seen.accepted.saturating_sub(accepted));
        tracing::warn!(
            activity = %id, epoch = %preheated.epoch, left = preheated.left, waiting = taken.kept.len(), lost = ?names, ?failed,
            missing_units = missing, "a store's state was healed"
        );
        let after = json!({
            "epoch": preheated.epoch, "left": preheated.left, "accepted": accepted, "waiting_again": taken.kept.len(),
            "lost": names.iter().take(NAMES_MAX).collect::<Vec<_>>(), "lost_count": names.len(),
            "failed": failed.iter().take(NAMES_MAX).collect::<Vec<_>>(), "failed_count": failed.len(),
            // None: this process had not read the state before it was lost.
            "accepted_before": seen.map(|seen| seen.accepted), "missing_units": missing,
        });
        let action = "store.heal".to_owned();
        let subject = format!("activity {id}");
        let written = self
            .layers
            .ledger
            .add_audit_row(action, subject, String::new(), after.to_string(), self.own_context())
            .await;
        if let Err(error) = written {
            tracing::error!(activity = %id, %error, "what a loss cost could not be written down; it stands in this log");
        }
    }
}

fn delivery(activity: ActivityId, buyer: &Restored) -> Delivery {
    let request_id = buyer.request_id.clone();
    Delivery {
        ticket: ticket_of(activity, buyer),
        user: buyer.user.clone(),
        quantity: buyer.quantity,
        key: buyer.key,
        accepted_at: buyer.accepted_at,
        request_id: request_id.unwrap_or_else(|| RequestId::from_bits(buyer.sequence)),
        attempts: buyer.attempts,
        deliveries: 1,
    }
}
