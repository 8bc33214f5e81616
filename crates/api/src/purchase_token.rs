//! `POST /api/seckill/{activity_id}/token`: a purchase token; where the sale asks for it, a challenge first and the token for its answer.

use axum::extract::Request;
use http::HeaderValue;
use seckill_gate::{
    ANSWER_LENGTH_MAX, CHALLENGE_TRIES_MAX, DEVICE_HEADER, Exercise, Identified, Posed, PurchaseToken, Random,
    TokenStep, TokenWish,
};
use seckill_sale::{ActivityId, Refusal};
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::call::Call;
use crate::challenge_answer;
use crate::count;
use crate::error::Error;
use crate::extract;
use crate::in_flight::UnderWay;
use crate::path;
use crate::timestamp::rfc3339;

/// Empty, or the answer to a challenge.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TokenBody {
    challenge: Option<String>,
    answer: Option<String>,
}

impl TokenBody {
    /// Id and answer; none where nothing is answered.
    fn answered(self) -> Result<Option<(String, String)>, Error> {
        match (self.challenge, self.answer) {
            (None, None) => Ok(None),
            (Some(_), Some(answer)) if ANSWER_LENGTH_MAX < answer.chars().count() => {
                Err(Error::Malformed("answer: at most 64 characters".into()))
            }
            (Some(challenge), Some(answer)) => Ok(Some((challenge, answer))),
            _ => Err(Error::Malformed("challenge and answer come together".into())),
        }
    }
}

#[derive(Serialize)]
struct TokenView {
    token: String,
    expires_at: String,
    expires_at_ms: i64,
}

#[derive(Serialize)]
struct PosedView {
    challenge: ChallengeView,
}

#[derive(Serialize)]
struct ChallengeView {
    id: String,
    #[serde(flatten)]
    exercise: ExerciseView,
    tries: u32,
    expires_at: String,
    expires_at_ms: i64,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum ExerciseView {
    Captcha { image: String },
    Pow { prefix: String, bits: u8 },
}

/// What is given out.
#[derive(Serialize)]
#[serde(untagged)]
enum Given {
    Token(TokenView),
    Challenge(PosedView),
}

#[derive(Serialize)]
struct View<'a> {
    #[serde(flatten)]
    given: Given,
    /// What the client is to send in `X-Device-Id` from now on, where it has nothing that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    device_id: Option<&'a str>,
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
    let body: TokenBody = extract::optional_json(call, &head.headers, body).await?;
    let answered = body.answered()?;
    let activity = activity.ok_or(Refusal::UnknownActivity)?;
    let random = Random {
        token: rand::random(),
        challenge: rand::random(),
    };
    let device = gate.new_device(&identified, rand::random());
    let identified = match &device {
        Some(name) => identified.on_device(name),
        None => identified,
    };
    let given = step(call, &identified, activity, answered, random).await?;
    let view = View {
        given,
        device_id: device.as_deref(),
    };
    let answer = Answer::fine(&view);
    Ok(
        match device.as_ref().and_then(|name| HeaderValue::from_str(name).ok()) {
            Some(name) => answer.header(DEVICE_HEADER, name),
            None => answer,
        },
    )
}

async fn step(
    call: &Call,
    identified: &Identified<'_>,
    activity: ActivityId,
    answered: Option<(String, String)>,
    random: Random,
) -> Result<Given, Error> {
    let gate = &call.shared().gate;
    let wish = TokenWish {
        activity,
        answered: answered.as_ref().map(|(id, _)| &**id),
        random,
    };
    match gate.admit_token(identified, wish, call.shared().moment())? {
        TokenStep::Issued(token) => Ok(issued(token)),
        TokenStep::Posed(challenge) => Ok(posed(challenge)),
        TokenStep::Answered(attempt) => {
            // One answer may be several steps of the store in a row.
            let under_way = UnderWay::begin(call.clone(), Some(activity));
            under_way.check()?;
            let answer = answered.map(|(_, answer)| answer).unwrap_or_default();
            let solved = challenge_answer::solve(&*call.shared().stock, &attempt, &answer).await;
            if let Err(Error::Unsolved { .. }) = &solved {
                gate.note_refused(&Refusal::ChallengeFailed, identified, call.moment);
            }
            let solved = solved?;
            // The store took its time.
            let moment = call.shared().moment();
            Ok(issued(gate.solved_token(identified, activity, solved, random, moment)))
        }
    }
}

fn issued(token: PurchaseToken) -> Given {
    Given::Token(TokenView {
        token: token.text,
        expires_at: rfc3339(token.expires_at),
        expires_at_ms: token.expires_at.0,
    })
}

fn posed(challenge: Posed) -> Given {
    let exercise = match challenge.exercise {
        Exercise::Captcha { image } => ExerciseView::Captcha { image },
        Exercise::Pow { prefix, bits } => ExerciseView::Pow { prefix, bits },
    };
    let view = ChallengeView {
        id: challenge.id,
        exercise,
        tries: CHALLENGE_TRIES_MAX,
        expires_at: rfc3339(challenge.expires_at),
        expires_at_ms: challenge.expires_at.0,
    };
    Given::Challenge(PosedView { challenge: view })
}
