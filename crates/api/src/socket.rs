//! `GET /api/seckill/ws/{activity_id}`: the result pushed over a WebSocket. One text message when it is final, then the close.
//!
//! A browser cannot set headers here, so its token comes as a subprotocol, `bearer.<token>` beside `seckill.v1`, or as the first message;
//! never in the URL. A page of a foreign origin is refused before anything is opened. What a client sends besides is bounded: small
//! messages, few of them and of their parts, and an answer to each ping.

use std::time::Duration;

use axum::response::Response;
use http::HeaderMap;
use http::header::{ORIGIN, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION};
use http::request::Parts;
use seckill_gate::{Identity, Moment, Sender};
use seckill_metrics::StreamKind;
use seckill_sale::{ActivityId, Refusal};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use crate::call::Call;
use crate::cors::Caller;
use crate::count;
use crate::error::Error;
use crate::handshake::Handshake;
use crate::path;
use crate::talk::{Close, Talk};
use crate::watching::{Known, Watching};

const PROTOCOL: &str = "seckill.v1";
const BEARER: &str = "bearer.";
/// How long a client may take to name himself.
const FIRST_MESSAGE_WITHIN: Duration = Duration::from_secs(5);

/// Opens a WebSocket.
pub(crate) async fn socket(call: Call, mut head: Parts) -> Result<Response, Error> {
    // A browser names one origin; of two, nobody knows which one counts.
    let origins = head.headers.get_all(ORIGIN).iter().count();
    if 1 < origins || call.shared().origins.caller(head.headers.get(ORIGIN), &head.headers) == Caller::Foreign {
        return Err(Error::ForeignOrigin);
    }
    // Of two lines, nobody knows which one a proxy has looked at.
    for name in [SEC_WEBSOCKET_VERSION, SEC_WEBSOCKET_KEY] {
        if 1 < head.headers.get_all(&name).iter().count() {
            return Err(Error::Malformed(format!("{name} must be sent once").into()));
        }
    }
    let activity = path::activity_id(path::last_segment(head.uri.path()))?;
    let known = known(&call, &head.headers)?;
    let activity = call.visible_activity(activity)?.id;
    let handshake = Handshake::of(&mut head, PROTOCOL)?;
    let watching = match known {
        Some(known) => Some(begin(call.clone(), activity, known).await?),
        None => None,
    };
    let sender = call.shared().gate.sender(call.at_gate(&head.headers));
    Ok(handshake.accept(move |socket| converse(Talk::new(socket), call, sender, activity, watching)))
}

/// Who asks, where the handshake says so; none: the first message will.
fn known(call: &Call, headers: &HeaderMap) -> Result<Option<Known>, Refusal> {
    let gate = &call.shared().gate;
    gate.admit_socket(call.at_gate(headers), token_of_protocols(headers), call.moment)
        .inspect_err(|refusal| count::read_limited(call, refusal))
}

/// Who has this token.
fn named(call: &Call, sender: Sender, token: &str, moment: Moment) -> Result<Identity, Refusal> {
    let admitted = call.shared().gate.admit_read_with_token(sender, token, moment);
    admitted.inspect_err(|refusal| count::read_limited(call, refusal))
}

fn token_of_protocols(headers: &HeaderMap) -> Option<&str> {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let mut protocols = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','));
    protocols.find_map(|protocol| protocol.trim().strip_prefix(BEARER))
}

async fn begin(call: Call, activity: ActivityId, known: Known) -> Result<Watching, Error> {
    Watching::begin(call, activity, known, StreamKind::WebSocket).await
}

/// From the handshake to the close.
async fn converse(mut talk: Talk, call: Call, sender: Sender, activity: ActivityId, watching: Option<Watching>) {
    let shutdown = call.shared().shutdown.clone();
    let watching = match watching {
        Some(watching) => Ok(watching),
        None => tokio::select! {
            known = introduced(&mut talk, call, sender, activity) => known,
            () = shutdown.cancelled() => return talk.close(Close::away()).await,
        },
    };
    match watching {
        Ok(watching) => watch(talk, watching).await,
        Err(Some(close)) => talk.close(close).await,
        Err(None) => {}
    }
}

/// The first message is a token; else with what the socket is closed, where somebody is there to hear it.
async fn introduced(
    talk: &mut Talk,
    call: Call,
    sender: Sender,
    activity: ActivityId,
) -> Result<Watching, Option<Close>> {
    let token = match timeout(FIRST_MESSAGE_WITHIN, talk.next()).await {
        Ok(Some(Ok(Message::Text(token)))) => token,
        Ok(Some(Err(error))) => return Err(Close::of(&error)),
        _ => return Err(Some(Close::policy("the first message must be a token"))),
    };
    let refused = |error: Error, call: &Call| Some(Close::policy(error.answer(call.moment.now).code().to_string()));
    let moment = call.shared().moment();
    let identity = match named(&call, sender, &token, moment) {
        Ok(identity) => identity,
        Err(refusal) => return Err(refused(refusal.into(), &call)),
    };
    let known = (identity.user, Some(identity.expires_at));
    begin(call.clone(), activity, known)
        .await
        .map_err(|error| refused(error, &call))
}

/// Tells the result, and keeps the connection alive until then.
async fn watch(mut talk: Talk, mut watching: Watching) {
    if let Some(view) = watching.look().await {
        return talk.tell(&view, &watching.call).await;
    }
    loop {
        let turn = tokio::select! {
            news = watching.next() => talk.hear_news(news, &watching.call).await,
            message = talk.next() => talk.hear_client(message).await,
        };
        if turn.is_break() {
            return;
        }
    }
}
