//! Why a request is not answered with what it asked for: one value for every such answer, and the answer it becomes.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use seckill_gate::retry_after_ms;
use seckill_sale::{Code, EpochMs, NOT_ELIGIBLE, Quota, Refusal, Scope};
use serde::Serialize;
use serde_json::json;

use crate::answer::Answer;
use crate::fault::Fault;
use crate::misread::Misread;
use crate::pending::Pending;
use crate::rate_limit;
use crate::result_view;
use crate::timestamp::rfc3339;

/// Why a request is not answered with what it asked for.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Error {
    /// Gate or store refuse.
    #[error("refused with code {}", .0.code().number())]
    Refused(Refusal),
    /// Body, path, query or header of the wrong form.
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
    /// No ticket, no such order of this user.
    #[error("not found")]
    NotFound,
    /// Nothing is at this path.
    #[error("no such path")]
    UnknownPath,
    /// The path is there, the method is not.
    #[error("method not allowed")]
    MethodNotAllowed,
    /// A page of a foreign origin asks.
    #[error("foreign origin")]
    ForeignOrigin,
    /// The state does not allow it.
    #[error("conflict: {0}")]
    Conflict(Cow<'static, str>),
    /// A signature is missing or wrong.
    #[error("bad signature: {0}")]
    BadSignature(&'static str),
    /// Every stream is taken.
    #[error("too many streams")]
    TooManyStreams,
    /// The answer to a challenge is wrong, or its challenge is used.
    #[error("not solved, {tries_left} tries left")]
    Unsolved {
        /// Answers to the same challenge that are still looked at.
        tries_left: u32,
    },
    /// A bug.
    #[error("internal error")]
    Internal,
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// What buyers hear: less than the operator. Who asks for what is not his hears the same as for what is not there.
impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::UnknownActivity | Fault::NotFound(_) => Self::NotFound,
            Fault::Conflict { why, .. } => Self::Conflict(why.into()),
            Fault::KeyReused => Self::Refused(Refusal::KeyReused),
            Fault::Busy(_) => Self::Refused(Refusal::Busy),
            Fault::OutcomeUnknown => Self::Refused(Refusal::OutcomeUnknown),
            Fault::NotReady(reason) => Self::Refused(Refusal::NotReady(reason)),
            Fault::Internal => Self::Internal,
        }
    }
}

impl From<Misread> for Error {
    fn from(Misread { field, why }: Misread) -> Self {
        Self::Malformed(match field {
            Some(field) => format!("{field}: {why}").into(),
            None => why.into(),
        })
    }
}

impl From<seckill_ledger::Error> for Error {
    fn from(error: seckill_ledger::Error) -> Self {
        Fault::from(error).into()
    }
}

impl From<seckill_flow::Error> for Error {
    fn from(error: seckill_flow::Error) -> Self {
        Fault::from(error).into()
    }
}

impl Error {
    /// The answer at `now`, which the wait of a `Retry-After` begins at.
    pub(crate) fn answer(self, now: EpochMs) -> Answer {
        match self {
            // Who is asked to sign in is told how, as RFC 9110 wants it.
            Self::Refused(Refusal::Unauthenticated) => refused(Refusal::Unauthenticated, now)
                .header(http::header::WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer")),
            Self::Refused(refusal) => refused(refusal, now),
            Self::Malformed(why) => Answer::error(Code::Malformed).detail(why),
            Self::MediaType(why) => Answer::error(Code::Malformed)
                .status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
                .detail(why.into()),
            Self::TooLarge => Answer::error(Code::Malformed)
                .status(StatusCode::PAYLOAD_TOO_LARGE)
                .detail("the body is too large".into()),
            Self::Timeout => Answer::error(Code::RequestTimeout),
            Self::NotFound => Answer::error(Code::NotFound).detail("this user has no such ticket or order".into()),
            Self::UnknownPath => Answer::error(Code::NotFound).detail("nothing is at this path".into()),
            Self::MethodNotAllowed => Answer::error(Code::MethodNotAllowed),
            Self::ForeignOrigin => Answer::error(Code::ForeignOrigin),
            Self::Conflict(why) => Answer::error(Code::Conflict).detail(why),
            Self::BadSignature(why) => Answer::error(Code::Unauthenticated).detail(why.into()),
            Self::TooManyStreams => Answer::error(Code::TooManyStreams).retry_after_ms(STREAM_RETRY_MS),
            Self::Unsolved { tries_left } => {
                Answer::error(Code::ChallengeFailed).data(&json!({ "tries_left": tries_left }))
            }
            Self::Internal => Answer::error(Code::Internal),
        }
    }
}

/// What tells a buyer whom the sale is not for from one who is blocked: both hear 40300.
pub(crate) const NOT_ELIGIBLE_REASON: &str = "not_eligible";

/// A page that is refused a stream polls meanwhile; streams come free as results come.
const STREAM_RETRY_MS: u64 = 5_000;

#[derive(Serialize)]
struct StartsAt {
    starts_at: String,
    starts_at_ms: i64,
}

fn refused(refusal: Refusal, now: EpochMs) -> Answer {
    let mut answer = Answer::error(refusal.code());
    if let Some(wait_ms) = retry_after_ms(&refusal, now) {
        answer = answer.retry_after_ms(wait_ms);
    }
    match refusal {
        Refusal::Malformed { detail } => answer.detail(detail.into()),
        Refusal::QuantityAboveLimit => answer.detail("the quantity is above the limit of one buyer".into()),
        Refusal::LimitedByIp { retry_after_ms, quota } => limited(answer, Scope::Ip, quota, retry_after_ms),
        Refusal::Limited {
            scope,
            retry_after_ms,
            quota,
        } => limited(answer, scope, quota, retry_after_ms),
        Refusal::NotStarted { starts_at } => answer.data(&StartsAt {
            starts_at: rfc3339(starts_at),
            starts_at_ms: starts_at.0,
        }),
        Refusal::Paused { resumes_at: Some(at) } => {
            answer.data(&json!({"resumes_at": rfc3339(at), "resumes_at_ms": at.0}))
        }
        Refusal::AlreadyTook(buyer) => answer.data(&result_view::of_buyer(&buyer)),
        Refusal::Blocked => answer.data(&json!({"reason": "blocked"})),
        Refusal::NotEligible => answer
            .message(&NOT_ELIGIBLE)
            .data(&json!({"reason": NOT_ELIGIBLE_REASON})),
        Refusal::NotReady(reason) => answer.data(&json!({"reason": reason.as_str()})),
        _ => answer,
    }
}

fn limited(answer: Answer, scope: Scope, quota: Quota, retry_after_ms: u64) -> Answer {
    let answer = answer.data(&json!({"scope": scope.as_str()}));
    rate_limit::told(answer, scope, quota, retry_after_ms)
}

/// For handlers behind the router; worded when the answer leaves.
impl IntoResponse for Error {
    fn into_response(self) -> Response {
        Pending::Error(self).into_response()
    }
}
