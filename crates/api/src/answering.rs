//! An answer on its way: the handler's work, then the wording, the count, and the answer to a panic.

use std::any::Any;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use axum::response::Response as RouterResponse;
use axum::routing::future::RouteFuture;
use http::{HeaderMap, Method, Response};
use seckill_sale::EpochMs;

use crate::answer::Answer;
use crate::body::Body;
use crate::call::Call;
use crate::cors::{self, Caller};
use crate::dress::stamp;
use crate::error::Error;
use crate::pending::Pending;
use crate::router::Named;

pub(crate) type Outcome = Result<Answer, Error>;

/// The work of a handler.
pub(crate) enum Work {
    Done(Option<Outcome>),
    Hot(Pin<Box<dyn Future<Output = Outcome> + Send>>),
    /// Boxed, so that hot answers are not moved about with room for it.
    Cold(Box<RouteFuture<Infallible>>),
    /// What becomes work once something else was awaited.
    Later(Pin<Box<dyn Future<Output = Done> + Send>>),
}

pub(crate) enum Done {
    Answered(Outcome),
    Routed(RouterResponse),
}

impl Work {
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Done> {
        match self {
            Self::Done(outcome) => Poll::Ready(Done::Answered(outcome.take().unwrap_or(Err(Error::Internal)))),
            Self::Hot(handler) => handler.as_mut().poll(context).map(Done::Answered),
            Self::Later(work) => work.as_mut().poll(context),
            Self::Cold(route) => Pin::new(&mut **route)
                .poll(context)
                .map(|Ok(response)| Done::Routed(response)),
        }
    }
}

/// An answer on its way.
pub struct Answering {
    call: Call,
    caller: Caller,
    method: Method,
    route: usize,
    started: Instant,
    work: Work,
}

impl Answering {
    /// To be made before the work: it counts the time. `work` is called at once.
    pub(crate) fn begin(
        call: Call,
        caller: Caller,
        method: Method,
        route: usize,
        work: impl FnOnce(&Call, &Caller) -> Work,
    ) -> Self {
        call.shared().metrics.in_flight.inc(call.core.index);
        let started = Instant::now();
        let work = catch_unwind(AssertUnwindSafe(|| work(&call, &caller)))
            .unwrap_or_else(|panic| Work::Done(Some(panicked(&call, &method, &*panic))));
        Self {
            call,
            caller,
            method,
            route,
            started,
            work,
        }
    }

    fn finish(&mut self, done: Done) -> Response<Body> {
        let now = match self.work {
            Work::Done(_) => self.call.moment.now,
            Work::Hot(_) | Work::Cold(_) | Work::Later(_) => self.call.shared().stock.now(),
        };
        let mut response = match done {
            Done::Answered(outcome) => self.render(outcome, now, HeaderMap::new()),
            Done::Routed(response) => self.routed(response, now),
        };
        cors::open(response.headers_mut(), std::mem::replace(&mut self.caller, Caller::Own));
        let status = response.status().as_u16();
        let metrics = &self.call.shared().metrics;
        metrics.answered(
            self.call.core.index,
            self.route,
            self.method.as_str(),
            status,
            self.started.elapsed(),
        );
        tracing::debug!(request_id = %self.call.request_id, method = %self.method, status, "answered");
        response
    }

    fn render(&self, outcome: Outcome, now: EpochMs, others: HeaderMap) -> Response<Body> {
        let answer = outcome.unwrap_or_else(|error| error.answer(now));
        answer.render(&self.call.request_id, self.call.language, now, others)
    }

    fn routed(&mut self, mut response: RouterResponse, now: EpochMs) -> Response<Body> {
        if let Some(Named(name)) = response.extensions().get() {
            self.route = self.call.shared().metrics.http_requests.route(name);
        }
        let pending = response.extensions_mut().remove::<Pending>();
        let (head, body) = response.into_parts();
        if let Some(pending) = pending {
            return self.render(Ok(pending.answer(now)), now, head.headers);
        }
        let mut response = Response::from_parts(head, Body::stream(body));
        stamp(response.headers_mut(), &self.call.request_id, now);
        response
    }
}

/// Says that a handler panicked; what its client hears.
pub(crate) fn panicked(call: &Call, method: &Method, panic: &(dyn Any + Send)) -> Outcome {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let what = text
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no text");
    tracing::error!(request_id = %call.request_id, %method, panic = what, "a handler panicked");
    call.shared().panics.inc(call.core.index);
    Err(Error::Internal)
}

impl Future for Answering {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        // A handler that panicked is dropped with this future and never polled again.
        let polled = catch_unwind(AssertUnwindSafe(|| this.work.poll(context)));
        let done = match polled {
            Ok(poll) => ready!(poll),
            Err(panic) => Done::Answered(panicked(&this.call, &this.method, &*panic)),
        };
        Poll::Ready(Ok(this.finish(done)))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.call.shared().metrics.in_flight.dec(self.call.core.index);
    }
}
