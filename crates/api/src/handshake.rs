//! The opening handshake of a WebSocket (RFC 6455, 4.2), and the connection that it leaves behind.

use axum::body::Body;
use axum::response::Response;
use http::header::{
    CONNECTION, HeaderName, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
    UPGRADE,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::error::Error;
use crate::frames::CountedFrames;
use crate::talk::{FRAMES_MAX, config};

/// A client's side of an open one.
pub(crate) type Socket = WebSocketStream<CountedFrames<TokioIo<Upgraded>>>;

/// The version of the protocol, of which there is one.
const VERSION: &str = "13";

/// A handshake that may be accepted.
pub(crate) struct Handshake {
    on_upgrade: OnUpgrade,
    accept: HeaderValue,
    protocol: Option<&'static str>,
}

impl Handshake {
    /// Takes the connection out of the request's extensions. `protocol` is the one that is spoken here, where the client offers it.
    ///
    /// # Errors
    /// [`Error::Malformed`] where it is no handshake.
    pub(crate) fn of(head: &mut Parts, protocol: &'static str) -> Result<Self, Error> {
        let headers = &head.headers;
        let asks = head.method == Method::GET
            && lists(headers, &CONNECTION, "upgrade")
            && lists(headers, &UPGRADE, "websocket")
            && headers
                .get(SEC_WEBSOCKET_VERSION)
                .is_some_and(|version| version == VERSION);
        let key = headers.get(SEC_WEBSOCKET_KEY).filter(|_| asks);
        let accept = key.and_then(|key| HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok());
        let offered = headers
            .get_all(SEC_WEBSOCKET_PROTOCOL)
            .iter()
            .any(|line| names(line, protocol));
        let on_upgrade = head.extensions.remove::<OnUpgrade>();
        match (accept, on_upgrade) {
            (Some(accept), Some(on_upgrade)) => Ok(Self {
                on_upgrade,
                accept,
                protocol: offered.then_some(protocol),
            }),
            _ => Err(Error::Malformed("this is the place of a WebSocket handshake".into())),
        }
    }

    /// Accepts it: what the client hears. Once he has heard it, `talk` goes on with the connection.
    pub(crate) fn accept<F: Future<Output = ()> + Send>(
        self,
        talk: impl FnOnce(Socket) -> F + Send + 'static,
    ) -> Response {
        let on_upgrade = self.on_upgrade;
        tokio::spawn(async move {
            // He is gone.
            let Ok(upgraded) = on_upgrade.await else { return };
            let frames = CountedFrames::new(TokioIo::new(upgraded), FRAMES_MAX);
            talk(WebSocketStream::from_raw_socket(frames, Role::Server, Some(config())).await).await;
        });
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, self.accept);
        if let Some(protocol) = self.protocol {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
        }
        response
    }
}

/// Whether one of the lines of this name has the word, in whatever case.
fn lists(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let mut lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.any(|line| line.split(',').any(|part| part.trim().eq_ignore_ascii_case(word)))
}

/// Whether a line has the name, in its case.
fn names(line: &HeaderValue, name: &str) -> bool {
    let mut parts = line.as_bytes().split(|byte| *byte == b',');
    parts.any(|part| part.trim_ascii() == name.as_bytes())
}
