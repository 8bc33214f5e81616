//! The two sides of an open WebSocket, and the bounds of what it takes.

use std::ops::ControlFlow;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use tokio::time::timeout;

use crate::call::Call;
use crate::result_view::ResultView;
use crate::watching::News;

/// How long one of our messages may take to leave.
const SEND_WITHIN: Duration = Duration::from_secs(10);
/// Messages, pings and pongs of a client between two heartbeats.
const MESSAGES_MAX: u32 = 16;

/// Why a socket is closed whose client sent no message that can be read.
pub(crate) const ILL_FORMED: &str = "a message was too large or ill-formed";

/// The socket, with the bounds of what it may take.
pub(crate) struct Talk {
    pub(crate) socket: WebSocket,
    /// Messages since the last heartbeat.
    messages: u32,
    /// Whether the last ping was answered.
    ponged: bool,
}

impl Talk {
    pub(crate) const fn new(socket: WebSocket) -> Self {
        Self {
            socket,
            messages: 0,
            ponged: true,
        }
    }

    pub(crate) async fn hear_news(&mut self, news: News, call: &Call) -> ControlFlow<()> {
        match news {
            News::Final(view) => self.tell(&view, call).await,
            News::Over => self.close(close_code::AWAY, "come again").await,
            News::Beat if !self.ponged => self.close(close_code::POLICY, "a ping was not answered").await,
            News::Beat => {
                (self.messages, self.ponged) = (0, false);
                if self.send(Message::Ping(bytes::Bytes::new())).await {
                    return ControlFlow::Continue(());
                }
            }
        }
        ControlFlow::Break(())
    }

    pub(crate) async fn hear_client(&mut self, message: Option<Result<Message, axum::Error>>) -> ControlFlow<()> {
        self.messages += 1;
        match message {
            None | Some(Ok(Message::Close(_))) => return ControlFlow::Break(()),
            Some(Err(_)) => {
                self.close(close_code::SIZE, ILL_FORMED).await;
                return ControlFlow::Break(());
            }
            Some(Ok(Message::Pong(_))) => self.ponged = true,
            Some(Ok(_)) => {}
        }
        if MESSAGES_MAX < self.messages {
            self.close(close_code::POLICY, "too many messages").await;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    pub(crate) async fn tell(&mut self, view: &ResultView, call: &Call) {
        let text = String::from_utf8(view.worded(call).into()).expect("JSON is UTF-8");
        if self.send(Message::Text(text.into())).await {
            self.close(close_code::NORMAL, "").await;
        }
    }

    pub(crate) async fn close(&mut self, code: u16, reason: &str) {
        let frame = CloseFrame {
            code,
            reason: reason.into(),
        };
        self.send(Message::Close(Some(frame))).await;
    }

    /// Whether the message left in time.
    async fn send(&mut self, message: Message) -> bool {
        matches!(timeout(SEND_WITHIN, self.socket.send(message)).await, Ok(Ok(())))
    }
}
