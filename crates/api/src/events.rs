//! `GET /api/seckill/events/{activity_id}`: the result pushed as a server-sent event. One event when it is final, then the end.
//!
//! Until then a comment now and again keeps proxies from closing. A stream that ends without an event says when to come again, which a
//! browser does by itself. A reader who stalls is closed by the listener's write deadline: what stands here is not even asked then.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderName, HeaderValue};
use seckill_metrics::StreamKind;

use crate::call::Call;
use crate::error::Error;
use crate::path;
use crate::result_view::ResultView;
use crate::watching::{News, Watching};

/// Milliseconds until a browser comes again, and by how many they are spread.
const RETRY_MS: u64 = 2_000;
const RETRY_SPREAD_MS: u64 = 2_000;

/// One stream.
struct Events {
    watching: Watching,
    phase: Phase,
}

enum Phase {
    /// Says what is so now.
    First,
    Waiting,
    Done,
}

/// Opens a stream.
pub(crate) async fn events(call: Call, head: Parts) -> Result<Response, Error> {
    let reader = call.reader(&head.headers)?;
    let activity = path::activity_id(path::last_segment(head.uri.path()))?;
    let activity = call.visible_activity(activity)?.id;
    let expires_at = reader.expires_at();
    let known = (reader.into_user(), expires_at);
    let watching = Watching::begin(call, activity, known, StreamKind::Sse).await?;
    let events = Events {
        watching,
        phase: Phase::First,
    };
    Ok(response(Body::from_stream(stream(events))))
}

fn response(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Or nginx keeps the events until there are enough of them.
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

fn stream(events: Events) -> impl Stream<Item = Result<Bytes, Error>> + Send {
    unfold(events, |mut events| async move {
        let piece = events.next().await?;
        Some((Ok(piece), events))
    })
}

impl Events {
    /// The next piece of the stream; none at its end.
    async fn next(&mut self) -> Option<Bytes> {
        let news = match self.phase {
            Phase::First => match self.watching.look().await {
                Some(view) => News::Final(view),
                None => {
                    self.phase = Phase::Waiting;
                    return Some(retry(": queued\n"));
                }
            },
            Phase::Waiting => self.watching.next().await,
            Phase::Done => return None,
        };
        Some(match news {
            News::Beat => Bytes::from_static(b": still queued\n\n"),
            News::Final(view) => {
                self.phase = Phase::Done;
                event(&view, &self.watching.call)
            }
            News::Over => {
                self.phase = Phase::Done;
                retry(": come again\n")
            }
        })
    }
}

/// A comment with the time after which a browser comes again.
fn retry(comment: &str) -> Bytes {
    let wait_ms = RETRY_MS + rand::random::<u64>() % RETRY_SPREAD_MS;
    format!("{comment}retry: {wait_ms}\n\n").into()
}

fn event(view: &ResultView, call: &Call) -> Bytes {
    let mut event = b"event: result\ndata: ".to_vec();
    event.extend_from_slice(&view.worded(call));
    event.extend_from_slice(b"\n\n");
    event.into()
}
