//! What an error of a layer means to whoever asked over HTTP: one table for both ports. It knows nothing of requests; what is wrong with
//! those is in each port's own errors.

use seckill_ledger::Conflict;
use seckill_sale::{Code, NotReady};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::busy::{Busy, MAYBE_DONE, STORE_NOT_READY};

/// Why a layer did not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Fault {
    /// No such activity.
    #[error("no such activity")]
    UnknownActivity,
    /// No such row of another kind.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// The state does not allow it.
    #[error("conflict: {why}")]
    Conflict {
        /// What stands in the way, for people.
        why: String,
        /// The same for programs; null where there is nothing to say.
        data: Value,
    },
    /// The idempotency key was used with another request.
    #[error("idempotency key reused")]
    KeyReused,
    /// A layer can't be reached; nothing was changed that asking again would do twice.
    #[error("busy: {0}")]
    Busy(Busy),
    /// It may or may not have been done; asking again with the same idempotency key is harmless.
    #[error("outcome unknown")]
    OutcomeUnknown,
    /// The store can't do it now.
    #[error("the store is not ready: {}", .0.as_str())]
    NotReady(NotReady),
    /// A bug.
    #[error("internal error")]
    Internal,
}

impl Fault {
    /// A state that stands in the way, in words alone.
    pub fn conflict(why: impl Into<String>) -> Self {
        Self::Conflict {
            why: why.into(),
            data: Value::Null,
        }
    }

    /// What it means to whoever asked for something of which a part was written before it: that nothing was done would be a lie.
    #[must_use]
    pub fn after_a_write(self) -> Self {
        match self {
            Self::Busy(Busy::Database | Busy::Store | Busy::Queue) => Self::OutcomeUnknown,
            other => other,
        }
    }

    /// The answer for somebody who may know what there is: the operator.
    #[must_use]
    pub fn answer(self) -> Answer {
        match self {
            Self::UnknownActivity => Answer::error(Code::UnknownActivity),
            Self::NotFound(what) => Answer::error(Code::NotFound).detail(format!("there is no such {what}").into()),
            Self::Conflict { why, data } => Answer::error(Code::Conflict).detail(why.into()).data(&data),
            Self::KeyReused => Answer::error(Code::KeyReused),
            Self::Busy(busy) => {
                let answer = Answer::error(Code::Busy).message(busy.message());
                match busy.layer() {
                    Some(layer) => answer.data(&json!({ "layer": layer })),
                    None => answer.detail(busy.to_string().into()),
                }
            }
            Self::OutcomeUnknown => Answer::error(Code::OutcomeUnknown).message(&MAYBE_DONE),
            Self::NotReady(reason) => Answer::error(Code::StoreNotReady)
                .message(&STORE_NOT_READY)
                .detail(format!("the store cannot take this now: {}", reason.as_str()).into())
                .data(&json!({"reason": reason.as_str()})),
            Self::Internal => Answer::error(Code::Internal),
        }
    }
}

impl From<Conflict> for Fault {
    fn from(conflict: Conflict) -> Self {
        let data = match conflict {
            Conflict::ProductShort { available, wanted } => json!({"available": available, "wanted": wanted}),
            Conflict::Fixed(field) => json!({"field": field}),
            Conflict::OrderState(state) => json!({"state": state}),
            _ => Value::Null,
        };
        Self::Conflict {
            why: conflict.to_string(),
            data,
        }
    }
}

impl From<seckill_ledger::Error> for Fault {
    fn from(error: seckill_ledger::Error) -> Self {
        use seckill_ledger::Error as Ledger;
        match error {
            Ledger::NotFound("activity") => Self::UnknownActivity,
            Ledger::NotFound(what) => Self::NotFound(what),
            Ledger::Conflict(conflict) => conflict.into(),
            Ledger::KeyReused => Self::KeyReused,
            Ledger::Outage(reason) => {
                // The ledger tells of an outage itself, once.
                tracing::debug!(reason, "the ledger could not be used");
                Self::Busy(Busy::Database)
            }
            Ledger::OutcomeUnknown(reason) => {
                tracing::debug!(reason, "the ledger's answer was lost");
                Self::OutcomeUnknown
            }
            Ledger::Rejected(reason) => {
                tracing::error!(reason, "the ledger rejected what had been checked");
                Self::Internal
            }
        }
    }
}

impl From<seckill_stock::Error> for Fault {
    fn from(error: seckill_stock::Error) -> Self {
        use seckill_stock::Error as Stock;
        match error {
            Stock::Unavailable => Self::Busy(Busy::Store),
            Stock::OutcomeUnknown => Self::OutcomeUnknown,
            Stock::NotReady(reason) => Self::NotReady(reason),
        }
    }
}

impl From<seckill_queue::Error> for Fault {
    fn from(error: seckill_queue::Error) -> Self {
        match error {
            seckill_queue::Error::Unavailable => Self::Busy(Busy::Queue),
            seckill_queue::Error::OutcomeUnknown => Self::OutcomeUnknown,
        }
    }
}

impl From<seckill_flow::Error> for Fault {
    fn from(error: seckill_flow::Error) -> Self {
        use seckill_flow::Error as Flow;
        match error {
            Flow::Ledger(error) => error.into(),
            Flow::Stock(error) => error.into(),
            Flow::Queue(error) => error.into(),
            Flow::Ended | Flow::NoState => Self::conflict(error.to_string()),
            Flow::Unstable => Self::Busy(Busy::Other("the activity changed while it was read; ask again")),
        }
    }
}

#[cfg(test)]
mod tests {
    use seckill_flow::Error as Flow;
    use seckill_ledger::Error as Ledger;
    use seckill_queue::Error as Queue;
    use seckill_stock::Error as Stock;

    use super::*;

    fn check(error: impl Into<Fault>, expect: &str) {
        let fault = error.into();
        assert_eq!(format!("{fault:?}"), expect);
    }

    #[test]
    fn every_error_of_a_layer_means_the_same_on_both_ports() {
        check(Ledger::NotFound("activity"), "UnknownActivity");
        check(Ledger::NotFound("block"), "NotFound(\"block\")");
        check(Ledger::KeyReused, "KeyReused");
        check(Ledger::Outage("locked".to_owned()), "Busy(Database)");
        check(Ledger::OutcomeUnknown("cut off".to_owned()), "OutcomeUnknown");
        check(Ledger::Rejected("bad row".to_owned()), "Internal");
        check(Stock::OutcomeUnknown, "OutcomeUnknown");
        check(Stock::NotReady(NotReady::StoreFull), "NotReady(StoreFull)");
        check(Queue::OutcomeUnknown, "OutcomeUnknown");
        check(Flow::Queue(Queue::Unavailable), "Busy(Queue)");
        check(Flow::Stock(Stock::Unavailable), "Busy(Store)");
        check(
            Flow::Unstable,
            "Busy(Other(\"the activity changed while it was read; ask again\"))",
        );
    }

    #[test]
    fn conflicts_say_to_programs_what_stands_in_the_way() {
        let data = |error: Fault| match error {
            Fault::Conflict { data, .. } => data,
            other => panic!("{other:?} is no conflict"),
        };
        let short = Conflict::ProductShort {
            available: 1,
            wanted: 2,
        };
        assert_eq!(data(short.into()), json!({"available": 1, "wanted": 2}));
        assert_eq!(data(Conflict::Fixed("starts_at").into()), json!({"field": "starts_at"}));
        assert_eq!(
            data(Ledger::Conflict(Conflict::OrderState("paid")).into()),
            json!({"state": "paid"})
        );
        assert_eq!(data(Flow::Ended.into()), Value::Null);
    }
}
