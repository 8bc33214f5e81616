//! `GET /api/seckill/events/{activity_id}`: the result pushed as a server-sent event. One event when it is final, then the end.
//!
//! Until then a comment now and again keeps proxies from closing. A stream ends by itself when the process stops, when its token
//! expires, and after [`AGE_MAX`]; each time it says when to come again, which a browser does by itself. A reader who stalls is closed by
//! the listener's write deadline: what stands here is not even asked then.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderName, HeaderValue};
use seckill_flow::Subscription;
use seckill_sale::{ActivityId, UserId};
use tokio::time::{Instant, sleep_until};

use crate::call::Call;
use crate::error::Error;
use crate::path;
use crate::result;
use crate::result_view::ResultView;
use crate::streams::Place;
use crate::wording::said_bytes;

/// Longest life of a stream.
const AGE_MAX: Duration = Duration::from_secs(15 * 60);
/// Milliseconds until a browser comes again, and by how many they are spread.
const RETRY_MS: u64 = 2_000;
const RETRY_SPREAD_MS: u64 = 2_000;

/// One stream.
struct Watching {
    call: Call,
    activity: ActivityId,
    user: UserId,
    subscription: Subscription,
    ends_at: Instant,
    next_beat: Instant,
    phase: Phase,
    _place: Place,
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
    let user = reader.into_user();
    let shared = call.shared();
    let place = shared.streams.enter(&user, call.core.index)?;
    // Before the first look, so that no change falls between the two.
    let subscription = shared.results.subscribe(activity, user.clone());
    result::view(&call, activity, &user).await?;
    let left_ms = expires_at.map_or(u64::MAX, |at| u64::try_from(at.since(call.moment.now)).unwrap_or(0));
    let now = Instant::now();
    let watching = Watching {
        ends_at: now + AGE_MAX.min(Duration::from_millis(left_ms)),
        next_beat: now + shared.settings.streams.heartbeat,
        call,
        activity,
        user,
        subscription,
        phase: Phase::First,
        _place: place,
    };
    Ok(response(Body::from_stream(stream(watching))))
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

fn stream(watching: Watching) -> impl Stream<Item = Result<Bytes, Error>> + Send {
    unfold(watching, |mut watching| async move {
        let piece = watching.next().await?;
        Some((Ok(piece), watching))
    })
}

impl Watching {
    /// The next piece of the stream; none at its end.
    async fn next(&mut self) -> Option<Bytes> {
        match self.phase {
            Phase::First => {
                self.phase = Phase::Waiting;
                let opening = self.look().await.unwrap_or_else(|| retry(": queued\n"));
                return Some(opening);
            }
            Phase::Waiting => {}
            Phase::Done => return None,
        }
        let shutdown = self.call.shared().shutdown.clone();
        loop {
            tokio::select! {
                () = self.subscription.changed() => {
                    if let Some(event) = self.look().await {
                        return Some(event);
                    }
                }
                () = sleep_until(self.next_beat) => {
                    self.next_beat += self.call.shared().settings.streams.heartbeat;
                    // A wake that was lost, wherever, costs one heartbeat.
                    return Some(self.look().await.unwrap_or_else(|| Bytes::from_static(b": still queued\n\n")));
                }
                () = sleep_until(self.ends_at) => return Some(self.goodbye()),
                () = shutdown.cancelled() => return Some(self.goodbye()),
            }
        }
    }

    /// The event, where the result is final.
    async fn look(&mut self) -> Option<Bytes> {
        let view = result::view(&self.call, self.activity, &self.user).await.ok()?;
        if !view.is_final() {
            return None;
        }
        self.phase = Phase::Done;
        Some(event(&view, &self.call))
    }

    fn goodbye(&mut self) -> Bytes {
        self.phase = Phase::Done;
        retry(": come again\n")
    }
}

/// A comment with the time after which a browser comes again.
fn retry(comment: &str) -> Bytes {
    let wait_ms = RETRY_MS + rand::random::<u64>() % RETRY_SPREAD_MS;
    format!("{comment}retry: {wait_ms}\n\n").into()
}

fn event(view: &ResultView, call: &Call) -> Bytes {
    let body = said_bytes(view.code(), view.message(), call.language, view, &call.request_id);
    let mut event = b"event: result\ndata: ".to_vec();
    event.extend_from_slice(&body);
    event.extend_from_slice(b"\n\n");
    event.into()
}
