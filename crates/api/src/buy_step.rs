//! What a purchase that the gate has seen goes on with: a claim, or a look at what was carried out before.

use seckill_flow::{Queued, Wish};
use seckill_gate::{Earlier, Moment, Suspect};
use seckill_metrics::ShedReason;
use seckill_sale::{ActivityId, Quantity, Refusal, RequestKey, UserId};
use seckill_stock::Glance;

use crate::buy::Outcome;
use crate::call::Call;
use crate::error::Error;
use crate::purchase_form::Asked;

/// What a purchase that the gate has seen goes on with.
pub(crate) enum Step {
    /// Memory alone has answered.
    Told(Outcome),
    /// It was admitted; who it is, where the store may refuse him for something that rules of abuse count.
    Purchase(Wish, Option<Suspect>),
    /// It was refused, and may be one that was carried out before.
    Replay(Again, Refusal),
}

/// A purchase that was asked for again.
pub(crate) struct Again {
    activity: ActivityId,
    user: UserId,
    key: RequestKey,
    quantity: Quantity,
}

/// What memory knows of this buyer.
pub(crate) fn earlier(call: &Call, user: &UserId, activity: ActivityId) -> Earlier {
    match call.shared().stock.glance(activity, user) {
        Glance::Holds(_) => Earlier::Ticket,
        Glance::SoldOut | Glance::Stranger => Earlier::None,
        Glance::Ask => Earlier::Unknown,
    }
}

/// What a refused purchase goes on with: a lost reply is cured by asking again with the same key, also when the sale is held or over by
/// then. Where only the store knows the buyer it is asked as often as he may ask to buy. Before the start nobody has bought, and the rush
/// ahead of it costs the store nothing.
pub(crate) fn replayable(
    call: &Call,
    user: UserId,
    asked: &Asked,
    activity: ActivityId,
    refusal: Refusal,
    moment: Moment,
) -> Result<Step, Error> {
    let held = matches!(refusal, Refusal::Paused { .. } | Refusal::Ended);
    let may_ask = || match earlier(call, &user, activity) {
        Earlier::Ticket => true,
        Earlier::None => false,
        Earlier::Unknown => call.shared().gate.may_ask_again(&user, activity, moment),
    };
    if let Some(key) = asked.key.filter(|_| held && may_ask()) {
        let quantity = asked.quantity;
        return Ok(Step::Replay(
            Again {
                activity,
                user,
                key,
                quantity,
            },
            refusal,
        ));
    }
    if refusal == Refusal::Busy {
        call.shared().metrics.shed.inc(call.core.index, ShedReason::AdmitRatio);
    }
    Err(refusal.into())
}

/// What memory answers.
pub(crate) fn at_once(call: &Call, wish: &Wish) -> Option<Outcome> {
    let answer = call.core.purchase.at_once(wish)?;
    Some(outcome(call, wish.activity, answer))
}

/// What only the store answers.
pub(crate) async fn carry_out(call: &Call, step: Step) -> Outcome {
    match step {
        Step::Told(outcome) => outcome,
        Step::Purchase(wish, suspect) => {
            let activity = wish.activity;
            let answer = call.core.purchase.claim(wish).await;
            if let (Some(suspect), Err(refusal)) = (suspect, &answer) {
                call.shared().gate.note_suspect(refusal, &suspect, call.moment);
            }
            outcome(call, activity, answer)
        }
        Step::Replay(again, refusal) => {
            let Again {
                activity,
                user,
                key,
                quantity,
            } = again;
            match call.core.purchase.replay(activity, &user, key, quantity).await {
                Some(queued) => Ok((activity, queued)),
                None => Err(refusal.into()),
            }
        }
    }
}

fn outcome(call: &Call, activity: ActivityId, answer: Result<Queued, Refusal>) -> Outcome {
    match answer {
        Ok(queued) => Ok((activity, queued)),
        Err(refusal) => Err(dated(call, activity, shed(call, refusal)).into()),
    }
}

/// A pause with the end that this node knows of, where the store names none: nobody is told to stay away for longer.
fn dated(call: &Call, activity: ActivityId, refusal: Refusal) -> Refusal {
    let Refusal::Paused { resumes_at: None } = refusal else {
        return refusal;
    };
    let known = call.shared().gate.catalogue().find(activity);
    Refusal::Paused {
        resumes_at: known.ok().and_then(|activity| activity.resumes_at),
    }
}

/// Counts what the store could not take.
fn shed(call: &Call, refusal: Refusal) -> Refusal {
    if matches!(refusal, Refusal::Busy | Refusal::Late) {
        let reason = if call.shared().shutdown.is_cancelled() {
            ShedReason::Draining
        } else if refusal == Refusal::Late {
            ShedReason::WaitedTooLong
        } else {
            ShedReason::PendingFull
        };
        call.shared().metrics.shed.inc(call.core.index, reason);
    }
    refusal
}
