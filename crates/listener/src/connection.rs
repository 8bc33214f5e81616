//! One connection from its first byte to its close: hyper drives HTTP, the watch may end it, and
//! the farewell sends what is still owed.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body::Body as HttpBody;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tower::Service;

use crate::admission::Permit;
use crate::answer::{Answer, ErrorAnswers, encode};
use crate::body::Body;
use crate::io::Io;
use crate::limits::Limits;
use crate::own_error::is_own_status;
use crate::phase::Verdict;
use crate::request_check;
use crate::watch::Watch;

/// How long a closing connection waits for its client to read the last answer. Closing with unread
/// bytes in the socket makes the kernel reset it, and the client would lose that answer.
const LINGER_MAX: Duration = Duration::from_secs(1);
/// How many unread bytes a closing connection throws away meanwhile.
const LINGER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes thrown away at a time.
const LINGER_READ_BYTES: usize = 16 * 1024;

/// What the connections of a core have in common.
pub(crate) struct Rules {
    http: http1::Builder,
    error_answers: ErrorAnswers,
    headers_max: usize,
}

impl Rules {
    pub(crate) fn new(limits: &Limits, error_answers: ErrorAnswers) -> Self {
        let mut http = http1::Builder::new();
        // Deadlines are the sweep's. hyper's would cost an allocation and a timer per request, and
        // it doesn't tell an idle connection from a head that has begun.
        http.header_read_timeout(None)
            .max_header_size(limits.header_bytes_max)
            .max_buf_size(limits.header_bytes_max)
            .keep_alive(true)
            // Answers are small: one copy is cheaper than a vectored write.
            .writev(false);
        // `pipeline_flush` stays off: it withholds an answer for as long as the client has sent
        // any byte of its next request, a stray line end included.
        Self {
            http,
            error_answers,
            headers_max: limits.headers_max,
        }
    }
}

/// Serves one connection until it closes or is upgraded.
pub(crate) async fn serve<S, B>(stream: TcpStream, permit: Permit, service: S, watch: Arc<Watch>, rules: Rc<Rules>)
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible> + Clone + 'static,
    B: HttpBody<Data = Bytes> + Unpin + 'static,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let io = TokioIo::new(Io::new(stream, Arc::clone(&watch), permit));
    let of_requests = {
        let (watch, rules) = (Arc::clone(&watch), Rc::clone(&rules));
        service_fn(move |request| answer(request, service.clone(), Arc::clone(&watch), Rc::clone(&rules)))
    };
    let mut connection = rules.http.serve_connection(io, of_requests).with_upgrades();
    let mut known_to_watch = false;
    let mut unreadable = false;
    let verdict = poll_fn(|context| {
        if let Some(verdict) = watch.verdict() {
            return Poll::Ready(Some(verdict));
        }
        if !known_to_watch {
            watch.driven_by(context);
            known_to_watch = true;
        }
        Pin::new(&mut connection).poll(context).map(|ended| {
            if let Err(error) = ended {
                tracing::debug!(%error, "connection failed");
                unreadable = error.is_parse();
            }
            None
        })
    })
    .await;
    let Some(parts) = connection.into_parts() else {
        watch.upgrade();
        return;
    };
    let (stream, owed, _permit) = parts.io.into_inner().into_parts();
    drop(parts.service);
    watch.leave();
    let last_words = match verdict {
        Some(Verdict::Silent) => return,
        Some(Verdict::SlowHead) if !watch.write_is_stalled() => Some(StatusCode::REQUEST_TIMEOUT),
        Some(Verdict::SlowHead | Verdict::Stalled) => return reset(stream),
        // hyper says nothing to the preface of HTTP/2.
        None if unreadable => owed.or(Some(StatusCode::BAD_REQUEST)),
        None => owed,
    };
    if last_words.is_some() || watch.leaves_unread.load(Relaxed) {
        let bytes = last_words.map(|status| encode(&(rules.error_answers)(status)));
        // Past the deadline there is nobody left to tell.
        let _ = tokio::time::timeout(LINGER_MAX, take_leave(stream, bytes.unwrap_or_default())).await;
    }
}

/// One request: checked, answered by the service, and the connection's future decided.
async fn answer<S, B>(
    request: Request<Incoming>,
    mut service: S,
    watch: Arc<Watch>,
    rules: Rc<Rules>,
) -> Result<Response<Answer<B>>, Infallible>
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
    B: HttpBody<Data = Bytes>,
{
    watch.begin_request();
    let has_body = !request.body().is_end_stream();
    let checked = request_check::check(&request, &mut watch.tape.lock(), rules.headers_max);
    if let Err(status) = checked {
        let mut response = (rules.error_answers)(status);
        response.headers_mut().insert(header::CONNECTION, CLOSE);
        watch.leaves_unread.store(true, Relaxed);
        return Ok(response.map(|bytes| Answer::own(bytes, watch)));
    }
    poll_fn(|context| service.poll_ready(context)).await?;
    let mut response = service.call(request.map(|body| Body::new(body, &watch))).await?;
    let status = response.status();
    if status != StatusCode::SWITCHING_PROTOCOLS {
        let unread = has_body && watch.tape.lock().awaits_body();
        if unread {
            watch.leaves_unread.store(true, Relaxed);
        }
        if unread || watch.core.draining.load(Relaxed) {
            response.headers_mut().insert(header::CONNECTION, CLOSE);
        }
    }
    if is_own_status(status) && response.body().is_end_stream() {
        watch.answers_barely.store(true, Relaxed);
    }
    Ok(response.map(|body| Answer::of_service(body, watch)))
}

const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// Sends `bytes`, says that nothing follows, and reads until the client closes too.
async fn take_leave(mut stream: TcpStream, bytes: Vec<u8>) -> std::io::Result<()> {
    stream.write_all(&bytes).await?;
    stream.shutdown().await?;
    let mut unread = vec![0; LINGER_READ_BYTES];
    let mut discarded = 0;
    while discarded < LINGER_BYTES_MAX {
        match stream.read(&mut unread).await? {
            0 => break,
            read => discarded += read,
        }
    }
    Ok(())
}

/// Closes at once and lets the kernel forget what wasn't sent: a client that doesn't read would
/// otherwise keep that memory for minutes.
fn reset(stream: TcpStream) {
    if let Err(error) = SockRef::from(&stream).set_linger(Some(Duration::ZERO)) {
        tracing::debug!(%error, "cannot reset a connection");
    }
    drop(stream);
}
