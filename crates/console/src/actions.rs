//! What is done to a sale by one word: preheat, pause, resume, close, add stock. When the answer goes out it has taken effect on this node.

use seckill_api::Answer;
use seckill_sale::{Activity, EpochMs, Status, Stock};
use serde::{Deserialize, Serialize};

use crate::activities::{shown, view};
use crate::call::{Call, InPath};
use crate::error::Error;
use crate::input;
use crate::outer::Reply;
use crate::views::{ActivityView, MovementView};
use crate::write::{Nothing, Write};

/// An activity, and what the command did besides.
#[derive(Serialize)]
struct Done<T> {
    #[serde(flatten)]
    activity: ActivityView,
    #[serde(flatten)]
    more: T,
}

#[derive(Serialize)]
struct Preheating {
    /// Whether the store's state is new; otherwise it was there and nothing changed.
    created: bool,
}

/// Puts the sale into the store. Idempotent.
pub(crate) async fn preheat(InPath(id): InPath, write: Write<Nothing>) -> Result<Reply, Error> {
    let Write { call, context, .. } = write;
    let preheated = call.console.operator.preheat(id, context).await?;
    // Preheated, it is known here also where the ledger can't be read any more.
    let activity = match call.console.ledger().activity(id).await {
        Ok(activity) => activity,
        Err(error) => {
            let known = call.console.gate.catalogue().find(id);
            Activity::clone(&*known.map_err(|_unknown| error)?)
        }
    };
    let more = Preheating {
        created: preheated.created,
    };
    let activity = view(&call, &activity);
    Ok(Reply(Answer::fine(&Done { activity, more })))
}

/// A pause or its end, now or later.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct When {
    /// When the sale goes on.
    #[serde(default)]
    at: Option<String>,
}

impl When {
    fn moment(self, call: &Call) -> Result<Option<EpochMs>, Error> {
        let at = self.at.map(|at| input::moment("at", &at)).transpose()?;
        if at.is_some_and(|at| at <= call.now) {
            return Err(Error::invalid("at", "must lie in the future"));
        }
        Ok(at)
    }
}

/// Lets nobody in, until resumed or until `at`. In force also where the ledger can't be written: the answer says `ledger_pending` then.
pub(crate) async fn pause(InPath(id): InPath, Write { call, body, context }: Write<When>) -> Result<Reply, Error> {
    let resumes_at = body.moment(&call)?;
    let activity = call.console.operator.pause(id, resumes_at, context).await?;
    Ok(shown(&call, &activity))
}

/// Goes on selling, now or (while it is paused) at `at`.
pub(crate) async fn resume(InPath(id): InPath, Write { call, body, context }: Write<When>) -> Result<Reply, Error> {
    let operator = &call.console.operator;
    let activity = match body.moment(&call)? {
        None => operator.resume(id, context).await?,
        Some(at) => {
            let present = operator.in_force(call.console.ledger().activity(id).await?);
            if present.status != Status::Paused {
                return Err(Error::conflict("the activity is not paused"));
            }
            operator.resume_at(id, at, context).await?
        }
    };
    Ok(shown(&call, &activity))
}

/// Ends the sale for good.
pub(crate) async fn close(InPath(id): InPath, write: Write<Nothing>) -> Result<Reply, Error> {
    let Write { call, context, .. } = write;
    let activity = call.console.operator.close(id, context).await?;
    Ok(shown(&call, &activity))
}

/// Units for a sale.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Units {
    quantity: u64,
}

#[derive(Serialize)]
struct Added {
    movement: MovementView,
}

/// Takes units from the product and adds them to the sale.
pub(crate) async fn add_stock(InPath(id): InPath, Write { call, body, context }: Write<Units>) -> Result<Reply, Error> {
    let units = input::number("quantity", body.quantity, Stock::new)?;
    let (movement, activity) = call.console.operator.add_stock(id, units, context).await?;
    let more = Added {
        movement: MovementView::from(&movement),
    };
    let activity = view(&call, &activity);
    Ok(Reply(Answer::fine(&Done { activity, more })))
}
