//! Whether store and ledger can be the two halves of one house: asked before anything sells, and by recovery.
//!
//! The ledger never has a ticket before the journal has it, so a store that did not issue one of the ledger's tickets has lost what it
//! knew: its journal was cut, or is an older copy. A crash between the ledger's commit and the store's acknowledgement looks otherwise:
//! the ticket is in the journal, and waits.

use std::collections::BTreeMap;
use std::fmt;

use seckill_ledger::Ledger;
use seckill_sale::{Activity, ActivityId, Status, Ticket};
use seckill_stock::{Condition, Stock};

use crate::{Error, live_activities};

/// What of store and ledger does not belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Apart {
    /// The ledger has a ticket that the store's state never issued: it would give its number to somebody else.
    Behind {
        /// The sale.
        activity: ActivityId,
        /// The ledger's newest ticket.
        newest: Ticket,
    },
    /// The ledger has tickets of a sale that still needs a state; the store has none.
    Lost {
        /// The sale.
        activity: ActivityId,
        /// The ledger's newest ticket.
        newest: Ticket,
    },
    /// The ledger lacks final results that the store has: it was restored from an older copy.
    Older {
        /// The sale.
        activity: ActivityId,
        /// Units of them.
        units: u64,
    },
    /// The store has a state of a sale that the ledger does not know: the next sale with this number would take it over.
    Foreign {
        /// The sale.
        activity: ActivityId,
    },
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Behind { activity, newest } => write!(
                f,
                "the journal is behind the database: of activity {activity} it never issued {newest}, which the database has"
            ),
            Self::Lost { activity, newest } => write!(
                f,
                "the journal is behind the database: it has nothing of activity {activity}, of which the database has {newest}"
            ),
            Self::Older { activity, units } => write!(
                f,
                "the database is older than its store: of activity {activity} it lacks results of {units} units, which the store has"
            ),
            Self::Foreign { activity } => {
                write!(f, "the journal knows activity {activity}, the database does not")
            }
        }
    }
}

/// The first thing that does not belong together; none where all does. Only reads.
///
/// # Errors
/// A layer that can't be reached.
pub async fn apart(stock: &dyn Stock, ledger: &dyn Ledger) -> Result<Option<Apart>, Error> {
    let mut with_state = stock.activities().await?;
    with_state.sort_unstable();
    tell_when_created(stock, ledger, &with_state).await?;
    for &activity in &with_state {
        if let Err(seckill_ledger::Error::NotFound(_)) = ledger.activity(activity).await {
            return Ok(Some(Apart::Foreign { activity }));
        }
        // One that can't be used is healed, and tells nothing until it is.
        let condition = stock.condition(activity).await?;
        let is_usable = matches!(condition, Condition::Sound { .. } | Condition::Absent { .. });
        if is_usable && let Some(newest) = never_issued(stock, ledger, activity).await? {
            return Ok(Some(Apart::Behind { activity, newest }));
        }
    }
    for activity in live_activities(ledger, stock.now()).await? {
        let id = activity.id;
        let condition = stock.condition(id).await?;
        if !with_state.contains(&id)
            && condition == (Condition::Absent { may_be_lost: false })
            && needs_state(stock, ledger, &activity).await?
            && let Some(newest) = ledger.newest_ticket(id).await?
        {
            return Ok(Some(Apart::Lost { activity: id, newest }));
        }
    }
    Ok(None)
}

/// A sale of which the ledger knows fewer final results than a store that keeps no count of batches; none where there is none. The store is
/// read first: what is settled meanwhile is in the ledger alone, and no result is concluded before the ledger has it. Only reads.
///
/// # Errors
/// A layer that can't be reached.
pub async fn older(stock: &dyn Stock, ledger: &dyn Ledger) -> Result<Option<Apart>, Error> {
    let mut with_state = stock.activities().await?;
    with_state.sort_unstable();
    tell_when_created(stock, ledger, &with_state).await?;
    for activity in with_state {
        let figures = match stock.figures(activity).await {
            Ok(Some(figures)) => figures,
            // One that can't be used is healed from the ledger.
            Ok(None) | Err(seckill_stock::Error::NotReady(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        let tally = match ledger.tally(activity).await {
            Ok(tally) => tally,
            Err(seckill_ledger::Error::NotFound(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        let concluded = figures.accepted.saturating_sub(figures.queued + figures.dead);
        let units = concluded.saturating_sub(tally.succeeded + tally.failed);
        if units != 0 {
            return Ok(Some(Apart::Older { activity, units }));
        }
    }
    Ok(None)
}

/// The state of another sale that had a number of the ledger's tells nothing of this one: the store is told when each was created.
pub(crate) async fn tell_when_created(
    stock: &dyn Stock,
    ledger: &dyn Ledger,
    with_state: &[ActivityId],
) -> Result<(), Error> {
    let live = live_activities(ledger, stock.now()).await?;
    let mut created: BTreeMap<_, _> = live.iter().map(|row| (row.id, row.created_at)).collect();
    for &id in with_state {
        match ledger.activity(id).await {
            Ok(row) => _ = created.insert(id, row.created_at),
            Err(seckill_ledger::Error::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    stock.set_created(created);
    Ok(())
}

/// The ledger's newest ticket where the store's state did not issue it. The ledger is read first: what is sold meanwhile is no ticket of
/// its, and so no alarm.
pub(crate) async fn never_issued(
    stock: &dyn Stock,
    ledger: &dyn Ledger,
    activity: ActivityId,
) -> Result<Option<Ticket>, Error> {
    let Some(newest) = ledger.newest_ticket(activity).await? else {
        return Ok(None);
    };
    let figures = stock.figures(activity).await?;
    Ok(figures.and_then(|figures| (figures.next_sequence <= newest.sequence).then_some(newest)))
}

/// Whether a sale without a state needs one: it was preheated and sells or will sell, or dead letters of it may be retried.
pub(crate) async fn needs_state(stock: &dyn Stock, ledger: &dyn Ledger, activity: &Activity) -> Result<bool, Error> {
    if activity.status == Status::Closed || activity.status == Status::Draft {
        return Ok(false);
    }
    if stock.now() < activity.window.ends_at {
        return Ok(activity.epoch.is_some());
    }
    Ok(ledger.tally(activity.id).await?.dead != 0)
}
