//! Why a request of the operator is not carried out: one value for every such answer, and the answer it becomes.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use seckill_api::{Answer, Busy, Fault, Misread};
use seckill_ledger::written;
use seckill_sale::Code;
use serde_json::json;

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
    #[error("{field}: {why}")]
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
    /// Nothing is at this path.
    #[error("no such path")]
    UnknownPath,
    /// The path is there, the method is not.
    #[error("method not allowed")]
    MethodNotAllowed,
    /// A layer did not do it.
    #[error(transparent)]
    Layer(#[from] Fault),
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
        Fault::conflict(why).into()
    }

    /// A row that is not there.
    pub(crate) const fn not_found(what: &'static str) -> Self {
        Self::Layer(Fault::NotFound(what))
    }

    /// Something that can't be done now, and can be asked for again.
    pub(crate) const fn busy(why: &'static str) -> Self {
        Self::Layer(Fault::Busy(Busy::Other(why)))
    }

    /// A bug.
    pub(crate) const fn internal() -> Self {
        Self::Layer(Fault::Internal)
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
            Self::UnknownPath => Answer::error(Code::NotFound).detail("nothing is at this path".into()),
            Self::MethodNotAllowed => Answer::error(Code::MethodNotAllowed),
            // Whatever failed, and wherever: once the ledger has written something, nobody is told that nothing was done.
            Self::Layer(fault) if written::is_noted() => fault.after_a_write().answer(),
            Self::Layer(fault) => fault.answer(),
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        Reply(self.answer()).into_response()
    }
}

impl From<Misread> for Error {
    fn from(Misread { field, why }: Misread) -> Self {
        match field {
            Some(field) => Self::invalid(field, why),
            None => Self::Malformed(why.into()),
        }
    }
}

macro_rules! of_layers {
    ($($error:ty),*) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Fault::from(error).into()
            }
        }
    )*};
}

of_layers!(
    seckill_ledger::Conflict,
    seckill_ledger::Error,
    seckill_stock::Error,
    seckill_flow::Error
);
