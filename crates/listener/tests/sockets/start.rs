//! A listener with a service that can do what the tests need, and starting it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use seckill_listener::{
    BACKLOG_DEFAULT, Body, ErrorAnswers, Limits, Listener, Peer, Server, ServerHandle, is_body_timeout,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::client::STUCK;

pub(crate) type AnyBody = UnsyncBoxBody<Bytes, Infallible>;

/// A running listener, shut down when dropped.
pub(crate) struct Running {
    pub(crate) handle: Option<ServerHandle>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) address: SocketAddr,
    /// Requests of `/held` that have reached the service.
    pub(crate) reached: Arc<Semaphore>,
    /// Lets requests of `/held` go on.
    pub(crate) release: Arc<Semaphore>,
}

impl Running {
    pub(crate) fn handle(&self) -> &ServerHandle {
        self.handle.as_ref().expect("not joined yet")
    }

    /// Begins the shutdown and waits for its end.
    pub(crate) fn stop(&mut self) {
        self.shutdown.cancel();
        self.join();
    }

    pub(crate) fn join(&mut self) {
        if let Some(handle) = self.handle.take() {
            join(handle);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.release.close();
        self.shutdown.cancel();
        if !std::thread::panicking() {
            self.join();
        }
    }
}

/// Waits for the end of a listener, as long as no sound one takes.
pub(crate) fn join(handle: ServerHandle) {
    let (ended, end) = sync_channel(1);
    std::thread::spawn(move || ended.send(handle.join()));
    let outcome = end.recv_timeout(STUCK).expect("the shutdown ends");
    outcome.expect("no thread panicked");
}

/// Limits under which nothing ends a test by accident.
pub(crate) fn patient() -> Limits {
    Limits {
        shutdown_grace: Duration::from_secs(20),
        ..Limits::default()
    }
}

pub(crate) const SHORT: Duration = Duration::from_millis(50);

pub(crate) fn start(limits: Limits) -> Running {
    start_on(2, limits)
}

pub(crate) fn start_on(cores: usize, limits: Limits) -> Running {
    let reached = Arc::new(Semaphore::new(0));
    let release = Arc::new(Semaphore::new(0));
    let held = (Arc::clone(&reached), Arc::clone(&release));
    let shutdown = CancellationToken::new();
    let handle = server(cores, limits, &shutdown)
        .serve(move |_index| {
            let held = held.clone();
            move |peer| {
                let held = held.clone();
                tower::service_fn(move |request| answer(request, peer, held.clone()))
            }
        })
        .expect("loopback can be served");
    Running {
        address: handle.local_addr(),
        handle: Some(handle),
        shutdown,
        reached,
        release,
    }
}

pub(crate) fn server(cores: usize, limits: Limits, shutdown: &CancellationToken) -> Server {
    Server {
        listener: Listener::bind("127.0.0.1:0".parse().expect("an address"), BACKLOG_DEFAULT).expect("a free port"),
        cores,
        limits,
        error_answers: worded(),
        shutdown: shutdown.clone(),
    }
}

/// Error answers in the manner of the product.
fn worded() -> ErrorAnswers {
    Arc::new(|status| {
        Response::builder()
            .status(status)
            .header("content-type", "application/problem+json")
            .header("server-time", "1700000000000")
            .body(Bytes::from(format!("{{\"status\":{}}}", status.as_u16())))
            .expect("a valid answer")
    })
}

async fn answer(
    request: Request<Body>,
    peer: Peer,
    (reached, release): (Arc<Semaphore>, Arc<Semaphore>),
) -> Result<Response<AnyBody>, Infallible> {
    let path = request.uri().path().to_owned();
    Ok(match path.as_str() {
        "/core" => text(StatusCode::OK, peer.core.to_string()),
        "/peer" => text(StatusCode::OK, peer.address.to_string()),
        "/bare" => text(StatusCode::BAD_REQUEST, String::new()),
        "/unread" => text(StatusCode::UNAUTHORIZED, "no".into()),
        "/endless" => Response::new(endless()),
        "/held" => {
            reached.add_permits(1);
            let _ = release.acquire().await;
            text(StatusCode::OK, "held".into())
        }
        _ => match request.into_body().collect().await {
            Ok(body) => {
                let body = body.to_bytes();
                text(StatusCode::OK, format!("got {}", String::from_utf8_lossy(&body)))
            }
            Err(error) if is_body_timeout(error.as_ref()) => text(StatusCode::REQUEST_TIMEOUT, "slow body".into()),
            Err(_) => text(StatusCode::BAD_REQUEST, "broken body".into()),
        },
    })
}

fn text(status: StatusCode, text: String) -> Response<AnyBody> {
    let mut response = Response::new(Full::from(text).boxed_unsync());
    *response.status_mut() = status;
    response
}

/// A body without an end: a stream that its reader may not read.
fn endless() -> AnyBody {
    StreamBody::new(Forever).boxed_unsync()
}

struct Forever;

impl futures_util::Stream for Forever {
    type Item = Result<Frame<Bytes>, Infallible>;

    fn poll_next(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'x'; 8 * 1024])))))
    }
}
