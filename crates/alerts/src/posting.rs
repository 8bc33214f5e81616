//! One attempt to post a message.

use std::pin::pin;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use seckill_sale::Clock;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::Target;
use crate::message::Message;

/// Why an attempt failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("no answer in time")]
    TooSlow,
    #[error("no connection: {0}")]
    Connection(#[from] std::io::Error),
    #[error("no encrypted connection: {0}")]
    Tls(std::io::Error),
    #[error("nobody is trusted who could have signed his certificate")]
    Untrusted,
    #[error("the exchange broke off: {0}")]
    Exchange(#[from] hyper::Error),
    #[error("answered {0}")]
    Status(StatusCode),
    #[error("the request can't be made: {0}")]
    Request(#[from] http::Error),
}

impl Target {
    pub(crate) async fn post(&self, message: &Message, clock: &dyn Clock) -> Result<(), Trouble> {
        let timestamp = clock.now().0 / 1_000;
        let mut request = Request::post(self.endpoint.path.as_str())
            .header("host", self.endpoint.authority.as_str())
            .header("content-type", "application/json")
            .header("user-agent", concat!("seckill/", env!("CARGO_PKG_VERSION")))
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", timestamp);
        if let Some(key) = &self.key {
            request = request.header("webhook-signature", key.sign(&message.id, timestamp, &message.body));
        }
        let request = request.body(Full::new(message.body.clone()))?;
        let stream = TcpStream::connect(self.endpoint.address()).await?;
        if !self.endpoint.is_tls {
            return exchange(stream, request).await;
        }
        let tls = self.tls.as_ref().ok_or(Trouble::Untrusted)?;
        let stream = tls.over(stream, &self.endpoint).await.map_err(Trouble::Tls)?;
        exchange(stream, request).await
    }
}

/// Sends the request and looks at the status of its answer.
async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<(), Trouble>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    let mut answer = pin!(sender.send_request(request));
    // The body of the answer is not read: dropping both ends the connection. One that ends may have brought the answer.
    let answer = tokio::select! {
        answer = &mut answer => answer?,
        ended = connection => {
            ended?;
            answer.await?
        }
    };
    let status = answer.status();
    if status.is_success() {
        Ok(())
    } else {
        Err(Trouble::Status(status))
    }
}
