//! The two sides of an open WebSocket, and the bounds of what it takes.

use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};

use crate::call::Call;
use crate::frames::TooManyFrames;
use crate::handshake::Socket;
use crate::result_view::ResultView;
use crate::watching::News;

/// How long one of our messages may take to leave.
const SEND_WITHIN: Duration = Duration::from_secs(10);
/// Messages, pings and pongs of a client between two heartbeats.
const MESSAGES_MAX: u32 = 16;
/// Frames of a client between two heartbeats: all those, and the parts of messages. Nobody cuts what is expected here.
pub(crate) const FRAMES_MAX: u32 = 4 * MESSAGES_MAX;
/// A token fits, and nothing else is expected.
const MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// What the library bounds by itself. It reads no further ahead than one message.
pub(crate) fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(MESSAGE_BYTES_MAX)
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX))
}

/// With what a socket is closed.
pub(crate) struct Close {
    code: CloseCode,
    reason: Cow<'static, str>,
}

impl Close {
    const fn new(code: CloseCode, reason: &'static str) -> Self {
        Self {
            code,
            reason: Cow::Borrowed(reason),
        }
    }

    /// The client may come again.
    pub(crate) const fn away() -> Self {
        Self::new(CloseCode::Away, "come again")
    }

    /// The client is refused.
    pub(crate) fn policy(reason: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code: CloseCode::Policy,
            reason: reason.into(),
        }
    }

    /// What is told to a client that can't be read any further, in the codes of RFC 6455 (7.4.1); none where he is gone.
    pub(crate) fn of(error: &Error) -> Option<Self> {
        match error {
            Error::Capacity(_) => Some(Self::new(CloseCode::Size, "a message was too large")),
            Error::Utf8(_) => Some(Self::new(CloseCode::Invalid, "a text was not UTF-8")),
            Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
            Error::Protocol(_) => Some(Self::new(CloseCode::Protocol, "a frame was ill-formed")),
            Error::Io(error) => is_too_many(error).then(|| Self::policy("too many frames")),
            _ => None,
        }
    }
}

fn is_too_many(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<TooManyFrames>())
}

/// The socket, with the bounds of what it may take.
pub(crate) struct Talk {
    socket: Socket,
    /// Messages since the last heartbeat.
    messages: u32,
    /// Whether the last ping was answered.
    ponged: bool,
}

impl Talk {
    pub(crate) const fn new(socket: Socket) -> Self {
        Self {
            socket,
            messages: 0,
            ponged: true,
        }
    }

    /// The client's next message; none where he is gone. May be dropped while it waits.
    pub(crate) async fn next(&mut self) -> Option<Result<Message, Error>> {
        self.socket.next().await
    }

    pub(crate) async fn hear_news(&mut self, news: News, call: &Call) -> ControlFlow<()> {
        match news {
            News::Final(view) => self.tell(&view, call).await,
            News::Over => self.close(Close::away()).await,
            News::Beat if !self.ponged => self.close(Close::policy("a ping was not answered")).await,
            News::Beat => {
                (self.messages, self.ponged) = (0, false);
                self.socket.get_mut().start_again();
                if self.send(Message::Ping(Bytes::new())).await {
                    return ControlFlow::Continue(());
                }
            }
        }
        ControlFlow::Break(())
    }

    pub(crate) async fn hear_client(&mut self, message: Option<Result<Message, Error>>) -> ControlFlow<()> {
        self.messages += 1;
        match message {
            None | Some(Ok(Message::Close(_))) => return ControlFlow::Break(()),
            Some(Err(error)) => {
                if let Some(close) = Close::of(&error) {
                    self.close(close).await;
                }
                return ControlFlow::Break(());
            }
            Some(Ok(Message::Pong(_))) => self.ponged = true,
            Some(Ok(_)) => {}
        }
        if MESSAGES_MAX < self.messages {
            self.close(Close::policy("too many messages")).await;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    pub(crate) async fn tell(&mut self, view: &ResultView, call: &Call) {
        let text = String::from_utf8(view.worded(call).into()).expect("JSON is UTF-8");
        if self.send(Message::text(text)).await {
            self.close(Close::new(CloseCode::Normal, "")).await;
        }
    }

    pub(crate) async fn close(&mut self, Close { code, reason }: Close) {
        let frame = CloseFrame {
            code,
            reason: reason.into_owned().into(),
        };
        self.send(Message::Close(Some(frame))).await;
    }

    /// Whether the message left in time.
    async fn send(&mut self, message: Message) -> bool {
        matches!(timeout(SEND_WITHIN, self.socket.send(message)).await, Ok(Ok(())))
    }
}
