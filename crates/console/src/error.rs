//! Why a request of the operator is not carried out: one value for every such answer, and the answer it becomes.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use seckill_api::Answer;
use seckill_ledger::Conflict;
use seckill_sale::{Code, NotReady};
use serde_json::{Value, json};

use crate::outer::Reply;

/// Why a request is not carried out.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Error {
    /// No token, or another one.
    #[error("not the operator")]
    Unauthenticated,
    /// Too many wrong tokens.
    #[error("too many wrong tokens")]
    TooOften { wait_ms: u64 },
    /// A page of a foreign origin would write.
    #[error("foreign origin")]
    ForeignOrigin,
    /// One member of body or query is of the wrong form or out of range.
    #[error("{field} {why}")]
    Invalid {
        field: Cow<'static, str>,
        why: Cow<'static, str>,
    },
    /// The body as a whole is of the wrong form.
    #[error("malformed: {0}")]
    Malformed(Cow<'static, str>),
    /// The body is not JSON by its headers.
    #[error("unsupported media type: {0}")]
    MediaType(&'static str),
    /// The body is too large.
    #[error("body too large")]
    TooLarge,
    /// The body came too slowly.
    #[error("body too slow")]
    Timeout,
    /// No such activity.
    #[error("no such activity")]
    UnknownActivity,
    /// No such row of another kind.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// Nothing is at this path.
    #[error("no such path")]
    UnknownPath,
    /// The path is there, the method is not.
    #[error("method not allowed")]
    MethodNotAllowed,
    /// The state does not allow it; with what a program may want to know.
    #[error("conflict: {why}")]
    Conflict { why: String, data: Value },
    /// The idempotency key was used with another request.
    #[error("idempotency key reused")]
    KeyReused,
    /// A layer can't be reached; nothing was changed that asking again would do twice.
    #[error("busy: {0}")]
    Busy(&'static str),
    /// It may or may not have been done; asking again is harmless.
    #[error("outcome unknown")]
    OutcomeUnknown,
    /// The store can't do it now.
    #[error("the store is not ready: {}", .0.as_str())]
    NotReady(NotReady),
    /// A bug.
    #[error("internal error")]
    Internal,
}

impl Error {
    /// A member that is not taken.
    pub(crate) fn invalid(field: impl Into<Cow<'static, str>>, why: impl Into<Cow<'static, str>>) -> Self {
        Self::Invalid {
            field: field.into(),
            why: why.into(),
        }
    }

    /// A state that stands in the way, in words alone.
    pub(crate) fn conflict(why: impl Into<String>) -> Self {
        Self::Conflict {
            why: why.into(),
            data: Value::Null,
        }
    }

    fn answer(self) -> Answer {
        match self {
            Self::Unauthenticated => Answer::error(Code::Unauthenticated)
                .header(http::header::WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer")),
            Self::TooOften { wait_ms } => Answer::error(Code::TooOften)
                .retry_after_ms(wait_ms)
                .data(&json!({"scope": "ip"})),
            Self::ForeignOrigin => Answer::error(Code::ForeignOrigin),
            Self::Invalid { field, why } => Answer::error(Code::Malformed)
                .detail(format!("{field}: {why}").into())
                .data(&json!({"field": field})),
            Self::Malformed(why) => Answer::error(Code::Malformed).detail(why),
            Self::MediaType(why) => Answer::error(Code::Malformed)
                .status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
                .detail(why.into()),
            Self::TooLarge => Answer::error(Code::Malformed)
                .status(StatusCode::PAYLOAD_TOO_LARGE)
                .detail("the body is too large".into()),
            Self::Timeout => Answer::error(Code::RequestTimeout),
            Self::UnknownActivity => Answer::error(Code::UnknownActivity),
            Self::NotFound(what) => Answer::error(Code::NotFound).detail(format!("there is no such {what}").into()),
            Self::UnknownPath => Answer::error(Code::NotFound).detail("nothing is at this path".into()),
            Self::MethodNotAllowed => Answer::error(Code::MethodNotAllowed),
            Self::Conflict { why, data } => Answer::error(Code::Conflict).detail(why.into()).data(&data),
            Self::KeyReused => Answer::error(Code::KeyReused),
            Self::Busy(what) => Answer::error(Code::Busy).detail(what.into()),
            Self::OutcomeUnknown => {
                Answer::error(Code::OutcomeUnknown).detail("it may have been done; asking again is harmless".into())
            }
            Self::NotReady(reason) => Answer::error(Code::StoreNotReady).data(&json!({"reason": reason.as_str()})),
            Self::Internal => Answer::error(Code::Internal),
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        Reply(self.answer()).into_response()
    }
}

impl From<Conflict> for Error {
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

impl From<seckill_ledger::Error> for Error {
    fn from(error: seckill_ledger::Error) -> Self {
        use seckill_ledger::Error as Ledger;
        match error {
            Ledger::NotFound("activity") => Self::UnknownActivity,
            Ledger::NotFound(what) => Self::NotFound(what),
            Ledger::Conflict(conflict) => conflict.into(),
            Ledger::KeyReused => Self::KeyReused,
            Ledger::Outage(reason) => {
                tracing::warn!(reason, "the ledger could not be used");
                Self::Busy("the database cannot be used now")
            }
            Ledger::Rejected(reason) => {
                tracing::error!(reason, "the ledger rejected what the console had checked");
                Self::Internal
            }
        }
    }
}

impl From<seckill_stock::Error> for Error {
    fn from(error: seckill_stock::Error) -> Self {
        use seckill_stock::Error as Stock;
        match error {
            Stock::Unavailable => Self::Busy("the store is busy or cannot be reached"),
            Stock::OutcomeUnknown => Self::OutcomeUnknown,
            Stock::NotReady(reason) => Self::NotReady(reason),
        }
    }
}

impl From<seckill_queue::Error> for Error {
    fn from(error: seckill_queue::Error) -> Self {
        match error {
            seckill_queue::Error::Unavailable => Self::Busy("the queue cannot be reached"),
            seckill_queue::Error::OutcomeUnknown => Self::OutcomeUnknown,
        }
    }
}

impl From<seckill_flow::Error> for Error {
    fn from(error: seckill_flow::Error) -> Self {
        use seckill_flow::Error as Flow;
        match error {
            Flow::Ledger(error) => error.into(),
            Flow::Stock(error) => error.into(),
            Flow::Queue(error) => error.into(),
            Flow::Ended | Flow::NoState => Self::conflict(error.to_string()),
            Flow::Unstable => Self::Busy("the activity changed while it was read; ask again"),
        }
    }
}
