//! Counts how purchases end, in the words of the metrics.

use seckill_metrics::{LimitScope, Outcome as Word};
use seckill_sale::{ActivityId, Refusal, Scope};

use crate::buy::Outcome;
use crate::call::Call;
use crate::error::Error;

/// Counts how a purchase request ended, by the words of the metrics, for the activity that it was for where that is known.
pub(crate) fn purchase(call: &Call, activity: Option<ActivityId>, outcome: &Outcome) {
    let word = match outcome {
        Ok((_, queued)) if queued.replayed => {
            call.shared().metrics.replays.inc(call.core.index);
            Word::Replayed
        }
        Ok(_) => Word::Accepted,
        Err(error) => return purchase_refused(call, activity, error),
    };
    ended(call, activity, word);
}

/// The same of one that came to nothing.
pub(crate) fn purchase_refused(call: &Call, activity: Option<ActivityId>, error: &Error) {
    let word = match error {
        Error::Refused(refusal) => {
            limited(call, refusal);
            if let (Refusal::BacklogFull, Some(activity)) = (refusal, activity) {
                call.shared().gate.note_backlog_full(activity);
            }
            word_of(refusal)
        }
        Error::ForeignOrigin => Word::ForeignOrigin,
        Error::Internal => Word::Error,
        _ => Word::Malformed,
    };
    ended(call, activity, word);
}

fn ended(call: &Call, activity: Option<ActivityId>, word: Word) {
    let activity = activity.map_or(0, ActivityId::get);
    call.shared().metrics.purchases.inc(call.core.index, activity, word);
}

/// Counts a refusal by a limit.
pub(crate) fn limited(call: &Call, refusal: &Refusal) {
    let scope = match refusal {
        Refusal::LimitedByIp { .. } => LimitScope::Ip,
        Refusal::Limited { scope, .. } => match scope {
            Scope::Ip => LimitScope::Ip,
            Scope::User => LimitScope::User,
            Scope::Device => LimitScope::Device,
            Scope::Activity => LimitScope::Activity,
            Scope::Node => LimitScope::Node,
        },
        _ => return,
    };
    call.shared().metrics.limited.inc(call.core.index, scope);
}

/// Counts a poll or a page that came too soon.
pub(crate) fn read_limited(call: &Call, refusal: &Refusal) {
    if matches!(refusal, Refusal::LimitedByIp { .. } | Refusal::Limited { .. }) {
        call.shared().metrics.limited.inc(call.core.index, LimitScope::Read);
    }
}

const fn word_of(refusal: &Refusal) -> Word {
    match refusal {
        Refusal::LimitedByIp { .. } | Refusal::Limited { .. } => Word::Limited,
        Refusal::Unauthenticated => Word::Unauthenticated,
        Refusal::Malformed { .. } | Refusal::QuantityAboveLimit => Word::Malformed,
        Refusal::UnknownActivity => Word::UnknownActivity,
        Refusal::Blocked | Refusal::NotEligible => Word::Blocked,
        Refusal::Paused { .. } => Word::Paused,
        Refusal::NotStarted { .. } => Word::NotStarted,
        Refusal::Ended => Word::Ended,
        Refusal::ChallengeFailed => Word::ChallengeFailed,
        Refusal::KeyReused => Word::KeyReused,
        Refusal::AlreadyTook(_) => Word::AlreadyTook,
        Refusal::SoldOut => Word::SoldOut,
        Refusal::BacklogFull => Word::BacklogFull,
        Refusal::NotReady(_) => Word::NotReady,
        Refusal::Busy | Refusal::Late => Word::Busy,
        Refusal::OutcomeUnknown => Word::OutcomeUnknown,
    }
}
