//! States that this ledger never began: it was restored from an older copy, and the store is of a time that it has lost.
//!
//! Epochs are drawn from the ledger, so a state whose epoch the ledger has not reached yet is either of the same sale, as it went on after
//! the copy was made, or of another sale: one that the ledger has lost, and whose number it gave out again. An epoch alone does not tell
//! which. A state says when its sale was created, and the ledger's row does; those who have the same number and were created at another
//! moment are two sales.
//!
//! ```text
//! restored to before                  the state                        what is done
//! the sale was created, and another   another sale's                   every call of the store refuses it (50303); its tickets are told, the
//!   one has its number now                                             ledger's epoch is counted past it, it is dropped, this sale is
//!                                                                      preheated from its own row: as many units, none of its buyers
//! its preheat, a heal or a rebuild    its own, of a later epoch        fenced (40006), compared with the ledger: results that the ledger lost
//!                                                                      wait again and become the same orders, the units left may only fall;
//!                                                                      then the ledger's epoch is counted past it, and it goes on
//! later than all that                 its own, of the ledger's epoch   nothing by itself: the start of a process is refused, `recover`
//! ```
//! Nothing of it needs an epoch that only one of both uses: what a worker, or a node, still holds of the other sale names the moment, too, and
//! is refused by the ledger (`Conflict::AnotherSale`) and dropped. What a ledger that does not know the sale at all is told to settle waits.
//!
//! A state that an earlier version built does not say when its sale was created. It learns it from the first rules that the scheduler brings
//! after the upgrade; one that has not heard them when the ledger goes back is taken for the same sale. So is what is left of a state whose
//! meta was lost, but for tickets that are older than the sale itself, where the ledger had never begun a state of it.

use seckill_sale::{Activity, ActivityId, Epoch, Restored};
use seckill_stock::{Condition, Remedy};
use serde_json::json;

use crate::heal::Healed;
use crate::reconcile::LeftMay;
use crate::{Error, Operator};

/// Tickets that an audit row, or a line of the log, names at most.
const NAMES_MAX: usize = 100;

impl Operator {
    /// Takes a state of another sale that had this number away, past whose epoch the ledger is then; any other state stays.
    pub(crate) async fn take_away_another(&self, id: ActivityId) -> Result<(), Error> {
        if !matches!(self.layers.stock.condition(id).await?, Condition::Another { .. }) {
            return Ok(());
        }
        self.fenced.lock().insert(id);
        // What this process was told of the sale may be older than the row.
        let activity = self.layers.ledger.activity(id).await?;
        self.show(&activity).await;
        if let Condition::Another { epoch } = self.layers.stock.condition(id).await? {
            self.can_heal(&activity, Remedy::Build).await?;
            self.epoch_past(id, epoch).await?;
            let buyers = self.layers.stock.give_up_another(id).await?;
            self.tell_of_another(&activity, epoch, &buyers).await;
        }
        self.fenced.lock().remove(&id);
        Ok(())
    }

    /// A sound state of this sale whose epoch the ledger never drew: the ledger is told again what it has lost, and follows.
    pub(crate) async fn follow_unissued(&self, id: ActivityId, epoch: Epoch) -> Result<Healed, Error> {
        // Read behind the state: whoever has built it since the list was read has drawn its epoch first.
        let activity = self.layers.ledger.activity(id).await?;
        if Some(epoch) <= activity.epoch {
            self.is_issued(id);
            return Ok(Healed::Nothing);
        }
        tracing::error!(activity = %id, %epoch, newest = ?activity.epoch, "the database never began this state of a sale: it was restored from an older copy; what it has lost is told to it again");
        self.unissued.lock().insert(id);
        self.sync_terms(id).await?;
        while {
            let report = self.reconcile_with(id, LeftMay::Fall).await?;
            report.truncated && report.differences.iter().any(|difference| difference.fixed)
        } {}
        let row = self.epoch_past(id, epoch).await?;
        self.raise(id, row.epoch).await?;
        self.is_issued(id);
        self.sync_terms(id).await?;
        Ok(Healed::Nothing)
    }

    /// A state that was fenced for its epoch needs no fence any more, or is gone: the scheduler opens it next.
    pub(crate) fn is_issued(&self, id: ActivityId) {
        if self.unissued.lock().remove(&id) {
            self.fenced.lock().insert(id);
        }
    }

    /// Says whose tickets went with the state of another sale.
    async fn tell_of_another(&self, activity: &Activity, epoch: Epoch, buyers: &[Restored]) {
        let id = activity.id;
        let name = |buyer: &Restored| {
            let ticket = crate::renew::ticket_of(id, buyer);
            format!("{ticket} of {}", buyer.user)
        };
        let names: Vec<_> = buyers.iter().map(name).collect();
        tracing::error!(
            activity = %id, %epoch, tickets = names.len(),
            "the store had the state of another sale that had this number; the database has lost that one, and it was dropped"
        );
        for lost in names.chunks(NAMES_MAX) {
            tracing::error!(activity = %id, ?lost, "tickets of the sale that was lost");
        }
        let after = json!({
            "epoch": epoch, "lost": names.iter().take(NAMES_MAX).collect::<Vec<_>>(), "lost_count": names.len(),
        });
        let (action, subject) = ("store.drop_another".to_owned(), format!("activity {id}"));
        let context = self.own_context();
        let row = self
            .layers
            .ledger
            .add_audit_row(action, subject, String::new(), after.to_string(), context);
        if let Err(error) = row.await {
            tracing::error!(activity = %id, %error, "the tickets of another sale could not be written down; they stand in this log");
        }
    }
}

/// What is left of a state that was lost, less tickets of another sale that had the number. Only where the ledger had never begun a state of
/// the sale can there be any: else the clock may have gone back.
pub(crate) fn of_this_sale(activity: &Activity, remains: Vec<Restored>) -> Vec<Restored> {
    let is_own = |buyer: &Restored| activity.epoch.is_some() || activity.created_at <= buyer.accepted_at;
    let (own, others): (Vec<_>, Vec<_>) = remains.into_iter().partition(is_own);
    for buyer in others {
        let ticket = crate::renew::ticket_of(activity.id, &buyer);
        tracing::error!(%ticket, user = buyer.user.as_str(), "a ticket that is older than its sale is of another one that had this number; it is void");
    }
    own
}
