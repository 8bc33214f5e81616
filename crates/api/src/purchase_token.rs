//! `POST /api/seckill/{activity_id}/token`: a purchase token, where the sale asks for one.

use axum::extract::Request;
use seckill_sale::Refusal;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::call::Call;
use crate::count;
use crate::error::Error;
use crate::extract;
use crate::path;
use crate::timestamp::rfc3339;

/// Nothing is asked yet; captcha and proof of work will answer here.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenBody {}

#[derive(Serialize)]
struct TokenView {
    token: String,
    expires_at: String,
    expires_at_ms: i64,
}

/// Gives out a token.
pub(crate) async fn token(call: Call, request: Request) -> Result<Answer, Error> {
    let outcome = issue(&call, request).await;
    if let Err(Error::Refused(refusal)) = &outcome {
        count::limited(&call, refusal);
    }
    outcome
}

async fn issue(call: &Call, request: Request) -> Result<Answer, Error> {
    let (head, body) = request.into_parts();
    let gate = &call.shared().gate;
    let arrived = gate.arrive(call.at_gate(&head.headers), call.moment)?;
    let identified = gate.identify(arrived, call.moment)?;
    let activity = path::activity_id(path::segment(head.uri.path(), 2))?;
    let TokenBody {} = extract::optional_json(call, &head.headers, body).await?;
    let activity = activity.ok_or(Refusal::UnknownActivity)?;
    let token = gate.admit_token(&identified, activity, rand::random(), call.shared().moment())?;
    Ok(Answer::fine(&TokenView {
        token: token.text,
        expires_at: rfc3339(token.expires_at),
        expires_at_ms: token.expires_at.0,
    }))
}
