//! `GET /admin/api/live`: what happens now, on all nodes, as a server-sent event each second.
//!
//! Each node says once a second what it did within the last one; whoever is asked adds it up. So a figure is at most two seconds old. Where
//! the store does not answer, the node shows its own figures and that the store is down. An event each second is its own sign of life.

mod asked;
mod figures;
mod node;
mod picture;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use http::{HeaderValue, StatusCode, Uri};
use seckill_api::{Answer, Fault};
use seckill_sale::{ActivityId, Code};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Interval, MissedTickBehavior, interval};

pub(crate) use asked::Asked;
pub(crate) use figures::Figures;
pub use node::Live;

use crate::call::Call;
use crate::error::Error;
use crate::outer::{Reply, Streamed};
use crate::state::Console;
use crate::{input, list};

/// Streams that may be open at the same time.
pub(crate) const STREAMS_MAX: usize = 32;
/// How often an event comes.
const EVERY: Duration = Duration::from_secs(1);
/// First piece of a stream: how long a browser waits before it comes again.
const HELLO: &str = ": live\nretry: 2000\n\n";
const GOODBYE: &str = ": the server is stopping, come again\n\n";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Narrowed {
    activity: Option<String>,
}

/// Opens a stream.
pub(crate) async fn live(call: Call, uri: Uri) -> Result<Response, Error> {
    let narrowed: Narrowed = list::query(&uri)?;
    let only = narrowed
        .activity
        .as_deref()
        .map(|text| known(&call, text))
        .transpose()?;
    let Ok(place) = call.console.live_places.clone().try_acquire_owned() else {
        return Ok(Reply(Answer::error(Code::TooManyStreams).retry_after_ms(2_000)).into_response());
    };
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let watching = Watching {
        console: call.console,
        only,
        ticks,
        phase: Phase::Hello,
        _place: place,
    };
    let answer = Answer::ready(StatusCode::OK, Bytes::new())
        .header(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"))
        .header(CACHE_CONTROL, HeaderValue::from_static("no-store"))
        // Or nginx keeps the events until there are enough of them.
        .header(
            HeaderName::from_static("x-accel-buffering"),
            HeaderValue::from_static("no"),
        );
    let mut response = Reply(answer).into_response();
    response.extensions_mut().insert(Streamed);
    *response.body_mut() = Body::from_stream(events(watching));
    Ok(response)
}

fn known(call: &Call, text: &str) -> Result<ActivityId, Error> {
    let number = input::digits(text).and_then(|digits| digits.parse().ok());
    let number: u64 = number.ok_or_else(|| Error::invalid("activity", "must be the id of an activity"))?;
    let id = ActivityId::new(number).map_err(|_| Fault::UnknownActivity)?;
    let is_known = call.console.gate.catalogue().all().contains_key(&id);
    if is_known {
        Ok(id)
    } else {
        Err(Fault::UnknownActivity.into())
    }
}

/// One who watches.
struct Watching {
    console: Arc<Console>,
    only: Option<ActivityId>,
    ticks: Interval,
    phase: Phase,
    _place: OwnedSemaphorePermit,
}

enum Phase {
    Hello,
    Watching,
    Over,
}

fn events(watching: Watching) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
    unfold(watching, |mut watching| async move {
        let piece = watching.next().await?;
        Some((Ok(piece), watching))
    })
}

impl Watching {
    /// The next piece; none at the end.
    async fn next(&mut self) -> Option<Bytes> {
        match self.phase {
            Phase::Hello => {
                self.phase = Phase::Watching;
                return Some(Bytes::from_static(HELLO.as_bytes()));
            }
            Phase::Watching => {}
            Phase::Over => return None,
        }
        let shutdown = self.console.live.shutdown.clone();
        tokio::select! {
            biased;
            () = shutdown.cancelled() => {
                self.phase = Phase::Over;
                Some(Bytes::from_static(GOODBYE.as_bytes()))
            }
            event = self.event() => Some(event),
        }
    }

    async fn event(&mut self) -> Bytes {
        self.ticks.tick().await;
        let nodes = self.console.asked.nodes(&self.console).await;
        let data = picture::picture(&self.console, &nodes, self.only);
        format!("event: live\ndata: {data}\n\n").into()
    }
}
