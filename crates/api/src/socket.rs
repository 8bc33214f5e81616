//! `GET /api/seckill/ws/{activity_id}`: the result pushed over a WebSocket. One text message when it is final, then the close.
//!
//! A browser cannot set headers here, so its token comes as a subprotocol, `bearer.<token>` beside `seckill.v1`, or as the first message;
//! never in the URL. A page of a foreign origin is refused before anything is opened. What a client sends besides is bounded: small
//! messages, few of them, and an answer to each ping.

use std::time::Duration;

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocketUpgrade, close_code};
use axum::response::Response;
use http::HeaderMap;
use http::header::{ORIGIN, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION};
use http::request::Parts;
use seckill_gate::{Identity, Moment, Sender};
use seckill_metrics::StreamKind;
use seckill_sale::{ActivityId, Refusal};
use tokio::time::timeout;

use crate::call::Call;
use crate::cors::Caller;
use crate::count;
use crate::error::Error;
use crate::path;
use crate::talk::{ILL_FORMED, Talk};
use crate::watching::{Known, Watching};

const PROTOCOL: &str = "seckill.v1";
const BEARER: &str = "bearer.";
/// A token fits, and nothing else is expected.
const MESSAGE_BYTES_MAX: usize = 8 * 1024;
/// How long a client may take to name himself.
const FIRST_MESSAGE_WITHIN: Duration = Duration::from_secs(5);

/// Opens a WebSocket.
pub(crate) async fn socket(
    call: Call,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    head: Parts,
) -> Result<Response, Error> {
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
    let upgrade = upgrade.map_err(|_| Error::Malformed("this is the place of a WebSocket handshake".into()))?;
    let watching = match known {
        Some(known) => Some(begin(call.clone(), activity, known).await?),
        None => None,
    };
    let upgrade = upgrade
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .protocols([PROTOCOL]);
    let sender = call.shared().gate.sender(call.at_gate(&head.headers));
    Ok(upgrade.on_upgrade(move |socket| converse(Talk::new(socket), call, sender, activity, watching)))
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
            () = shutdown.cancelled() => return talk.close(close_code::AWAY, "come again").await,
        },
    };
    match watching {
        Ok(watching) => watch(talk, watching).await,
        Err(Reason { code, words }) => talk.close(code, &words).await,
    }
}

/// Why a socket is closed before anything is told.
struct Reason {
    code: u16,
    words: String,
}

impl Reason {
    fn policy(words: String) -> Self {
        Self {
            code: close_code::POLICY,
            words,
        }
    }
}

/// The first message is a token; else the reason of the close.
async fn introduced(talk: &mut Talk, call: Call, sender: Sender, activity: ActivityId) -> Result<Watching, Reason> {
    let token = match timeout(FIRST_MESSAGE_WITHIN, talk.socket.recv()).await {
        Ok(Some(Ok(Message::Text(token)))) => token,
        Ok(Some(Err(_))) => {
            return Err(Reason {
                code: close_code::SIZE,
                words: ILL_FORMED.to_owned(),
            });
        }
        _ => return Err(Reason::policy("the first message must be a token".to_owned())),
    };
    let words = |error: Error, call: &Call| Reason::policy(error.answer(call.moment.now).code().to_string());
    let moment = call.shared().moment();
    let identity = match named(&call, sender, &token, moment) {
        Ok(identity) => identity,
        Err(refusal) => return Err(words(refusal.into(), &call)),
    };
    let known = (identity.user, Some(identity.expires_at));
    begin(call.clone(), activity, known)
        .await
        .map_err(|error| words(error, &call))
}

/// Tells the result, and keeps the connection alive until then.
async fn watch(mut talk: Talk, mut watching: Watching) {
    if let Some(view) = watching.look().await {
        return talk.tell(&view, &watching.call).await;
    }
    loop {
        let turn = tokio::select! {
            news = watching.next() => talk.hear_news(news, &watching.call).await,
            message = talk.socket.recv() => talk.hear_client(message).await,
        };
        if turn.is_break() {
            return;
        }
    }
}
